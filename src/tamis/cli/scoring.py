"""The work of ``evaluate``, ``curve`` and ``compare``: lists of features against random lists."""

import csv
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.cli.fitting import Bar, Interruption, fit, make_selector
from tamis.cli.options import UsageError, split
from tamis.cli.output import unguarded
from tamis.cli.whole_features import original_names
from tamis.metrics import Sample, dense_sample, random_columns, score_columns, stability

if TYPE_CHECKING:
    from tamis.io.readers import Table

LESS_IS_BETTER = ("J", "redundancy", "seconds")


def listed_features(entry: str) -> tuple[tuple[str, ...], Any]:
    """Read a list of features: a saved selector, a file with one a line or a column "feature", or ``a,b,c``.

    Returns
    -------
    names : tuple of str
        The features.
    selector : FeatureSelector or None
        The saved selector, if it was one.
    """
    path = Path(entry)
    if not path.is_file():
        if path.suffix in (".tamis", ".txt", ".csv"):
            raise UsageError(f"{entry}: there is no such file.")
        return split([entry]), None
    if path.suffix == ".tamis":
        import tamis

        selector = tamis.load(path)
        names = getattr(selector, "feature_names_in_", [f"feature_{i}" for i in range(selector.n_features_in_)])
        return tuple(str(names[column]) for column in selector.selected_), selector
    return _from_text(path), None


def _from_text(path: Path) -> tuple[str, ...]:
    try:
        lines = [row for row in csv.reader(path.read_text(encoding="utf-8-sig").splitlines()) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: is not a list of features, one a line ({error}).") from error
    column = lines[0].index("feature") if lines and "feature" in lines[0] else None
    names = [
        row[0] if column is None else row[column] for row in lines[column is not None :] if len(row) > (column or 0)
    ]
    if not names:
        raise UsageError(f"{path}: lists no features.")
    return tuple(dict.fromkeys(names if column is None else map(unguarded, names)))


@dataclass(frozen=True)
class Evaluation:
    """Scores of one list, their spread over halves of the samples, and scores of random lists of the same size."""

    scores: dict[str, float]
    spread: dict[str, float]
    random: dict[str, list[float]]
    wins: float
    refits: float | None = None

    def document(self) -> dict[str, Any]:
        """Return everything for JSON."""
        return {
            "scores": self.scores,
            "spread_over_resamples": self.spread,
            "random_lists": {name: _summary(values) for name, values in self.random.items()},
            "stability": {"resamples_better_than_random": self.wins, "overlap_of_refits": self.refits},
        }

    def rows(self) -> list[list[str]]:
        """Return the lines of the printed table."""
        found = []
        for name, value in self.scores.items():
            others = np.array(self.random[name])
            better = (value < others if name in LESS_IS_BETTER else value > others).sum()
            spread, usual = (
                f"± {self.spread[name]:.3f}",
                f"{others.mean():.3f} ({others.min():.3f} to {others.max():.3f})",
            )
            found.append([name, f"{value:.3f}", spread, usual, f"{better} of {len(others)}"])
        return found


def _summary(values: list[float]) -> dict[str, float]:
    return {"mean": float(np.mean(values)), "min": min(values), "max": max(values), "lists": len(values)}


def evaluate(
    table: "Table", columns: Any, bar: Bar, *, n_random: int, n_resamples: int, seed: int, selector: Any = None,
    refits: int = 0,
) -> Evaluation:  # fmt: skip
    """Score a list of columns."""
    bar.stage("Scoring")
    sample = dense_sample(table.X, random_state=seed)
    scores = score_columns(sample, columns, table.y, random_state=seed)
    lists = random_columns(sample, len(columns), n_random, seed)
    others = []
    for done, drawn in enumerate(lists, start=1):
        others.append(score_columns(sample, drawn, table.y, random_state=seed))
        bar.move(done, n_random + n_resamples)
    halves, wins = _over_halves(sample, columns, lists, table.y, n_resamples, seed)
    return Evaluation(
        scores,
        {name: float(np.std([half[name] for half in halves])) for name in scores},
        {name: [other[name] for other in others] for name in scores},
        wins,
        _overlap_of_refits(table, selector, refits, bar, seed) if selector is not None and refits else None,
    )


def _over_halves(
    sample: Sample, columns: Any, lists: list[Any], labels: Any, n_resamples: int, seed: int
) -> tuple[list[dict[str, float]], float]:
    """Score the list and a random one on halves of the samples; give the scores and how often the list won."""
    rng = np.random.default_rng(seed)
    scores, wins = [], 0
    for i in range(n_resamples):
        rows = np.sort(rng.permutation(len(sample.Z))[: max(3, len(sample.Z) // 2)])
        half = Sample(sample.Z[rows], sample.rows[rows])
        scores.append(score_columns(half, columns, labels, random_state=seed))
        other = score_columns(half, lists[i % len(lists)], None, random_state=seed)
        wins += scores[-1]["explained"] > other["explained"]
    return scores, wins / n_resamples


def _overlap_of_refits(table: "Table", selector: Any, refits: int, bar: Bar, seed: int) -> float:
    """Fit the saved selector's method anew on halves of the samples, and compare what is chosen."""
    from dataclasses import replace

    from sklearn.base import clone

    rng = np.random.default_rng(seed)
    chosen = []
    for number in range(refits):
        rows = np.sort(rng.permutation(table.shape[0])[: max(3, table.shape[0] // 2)])
        half = replace(table, X=table.X[rows], y=None, sample_names=None)
        size = len(original_names(table, selector.selected_))
        fitted = fit(clone(selector), half, bar, Interruption(), f"Refit {number + 1} of {refits}", size)
        chosen.append(fitted.selected_)
    return stability(chosen, table.shape[1])


@dataclass(frozen=True)
class Entry:
    """One selection of several: what it is called, what was chosen, its scores and those of random lists."""

    name: str
    selected: np.ndarray
    scores: dict[str, float]
    random: dict[str, float]
    seconds: float


def try_all(tasks: list[tuple[Any, ...]], bar: Bar, state: Interruption, jobs: int) -> Iterator[Entry]:
    """Yield the entries of all tasks in their order: one after the other here, or several at a time by joblib."""
    if jobs == 1:
        yield from (try_one(bar, state, *task) for task in tasks)
        return
    from joblib import Parallel, delayed

    bar.stage("Fitting")
    entries = Parallel(n_jobs=jobs, return_as="generator")(delayed(_try_unseen)(*task) for task in tasks)
    for done, entry in enumerate(entries, start=1):
        bar.move(done, len(tasks), entry.name)
        yield entry


def _try_unseen(*task: Any) -> Entry:
    with Bar(quiet=True) as bar:
        return try_one(bar, Interruption(), *task)


def try_one(
    bar: Bar, state: Interruption, name: str, method: str, k: int, table: "Table", sample: Sample, seed: int,
    n_init: int | None, settings: dict[str, Any],
) -> Entry:  # fmt: skip
    """Fit one method for one k and score it."""
    begun = time.monotonic()
    unfitted = make_selector(method, k, table, seed, n_init=n_init, settings=settings)
    selector = fit(unfitted, table, bar, state, name, k)
    seconds = time.monotonic() - begun
    bar.stage(f"Scoring {name}")
    lists = random_columns(sample, len(selector.selected_), 3, seed)
    usual = [score_columns(sample, drawn, table.y, random_state=seed) for drawn in lists]
    scores = score_columns(sample, selector.selected_, table.y, random_state=seed)
    means = {score: float(np.mean([entry[score] for entry in usual])) for score in scores}
    return Entry(name, selector.selected_, scores, means, seconds)


def overlaps(entries: list[Entry]) -> np.ndarray:
    """Return the share of features that each pair of selections has in common."""
    sets = [set(entry.selected.tolist()) for entry in entries]
    return np.array([[len(a & b) / max(1, min(len(a), len(b))) for b in sets] for a in sets])
