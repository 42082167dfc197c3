"""From rows to numbers: means over seeds, ranks, shares above random, and who is ahead of a method."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from research.ledger import Row
from research.quality.bench import KS
from research.quality.scores import SCORES

REFERENCE = "random"


@dataclass(frozen=True)
class Summary:
    """Scores of methods on some sets.

    Attributes
    ----------
    methods, sets : list of str
        The axes of ``values``; only methods with a row for every set and size.
    values : ndarray of shape (n_scores, n_methods, n_sets, n_sizes)
        Means over seeds; NaN where a fit was left out as too slow.
    seconds : ndarray of shape (n_methods,)
        Median of the fits.
    incomplete : dict
        Methods that lack rows, and on how many of the sets they have all.
    """

    methods: list[str]
    sets: list[str]
    values: NDArray[np.float64]
    seconds: NDArray[np.float64]
    incomplete: dict[str, int]

    def means(self) -> NDArray[np.float64]:
        """Return the mean per score and method over the sets and sizes that were fitted; NaN if none was."""
        fitted = ~np.isnan(self.values)
        sums = np.where(fitted, self.values, 0).sum(axis=(2, 3))
        counts = fitted.sum(axis=(2, 3))
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    def mean_ranks(self) -> NDArray[np.float64]:
        """Return the mean rank per score and method, 1 for the best; ties share ranks, left-out fits are last."""
        filled = np.where(np.isnan(self.values), -np.inf, self.values)
        return rankdata(-filled, axis=1).mean(axis=(2, 3))

    def by_set(self) -> NDArray[np.float64]:
        """Return the means over sizes, per score, method and set."""
        return self.values.mean(axis=3)

    def above_reference(self) -> NDArray[np.float64]:
        """Return the share of sets on which a method's mean over sizes exceeds that of random features."""
        scores = self.by_set()
        reference = scores[:, [self.methods.index(REFERENCE)]]
        return (scores > reference).mean(axis=2)

    def ahead_of(self, method: str) -> dict[str, dict[str, list[tuple[str, float]]]]:
        """Return, per set and score, the methods that lead over this one and by how much, the largest lead first."""
        scores = self.by_set()
        leads = scores - scores[:, [self.methods.index(method)]]
        return {
            name: {
                score: sorted(
                    ((self.methods[m], float(lead)) for m, lead in enumerate(leads[s, :, t]) if lead > 0),
                    key=lambda entry: -entry[1],
                )
                for s, score in enumerate(SCORES)
            }
            for t, name in enumerate(self.sets)
        }


def summarise(rows: Sequence[Row], sets: Sequence[str], ks: Sequence[int] = KS) -> Summary:
    """Collect the rows of some sets."""
    cells: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        trial = row["trial"]
        cells.setdefault((trial["method"], trial["set"], trial["k"]), []).append(row)
    found = dict.fromkeys(method for method, _, _ in cells)
    complete = {method: sum(all((method, name, k) in cells for k in ks) for name in sets) for method in found}
    methods = [method for method in found if complete[method] == len(sets) > 0]
    values = np.array([[[_scores(cells[m, name, k]) for k in ks] for name in sets] for m in methods])
    values = values.reshape(len(methods), len(sets), len(ks), len(SCORES))
    seconds = np.array([_median_seconds(rows, method, sets) for method in methods])
    incomplete = {method: count for method, count in complete.items() if 0 < count < len(sets)}
    return Summary(methods, list(sets), np.moveaxis(values, 3, 0), seconds, incomplete)


def _scores(rows: Sequence[Row]) -> list[float]:
    scored = [[row[name] for name in SCORES] for row in rows if "skipped" not in row]
    return np.mean(scored, axis=0).tolist() if scored else [np.nan] * len(SCORES)


def _median_seconds(rows: Sequence[Row], method: str, sets: Sequence[str]) -> float:
    seconds = [
        row["fit_seconds"]
        for row in rows
        if row["trial"]["method"] == method and row["trial"]["set"] in sets and "fit_seconds" in row
    ]
    return float(np.median(seconds)) if seconds else np.nan
