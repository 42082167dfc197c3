"""The page of FSEVAL: share of sets above random features, for published methods and for ours."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from research.fseval.bench import FILES
from research.fseval.published import METHODS, METRICS, REFERENCE, broken_sets, read_curves
from research.ledger import Ledger, Row
from research.pages import Table, replace_parts

PAGE = Path(__file__).parents[2] / "docs" / "fseval.md"
CONTROL = {"variance": "Variance"}
"""A method of ours and the published one that must score the same."""

Means = dict[str, float]
"""Mean over sizes and repeats, per set."""


def write_page(results: Path, page: Path = PAGE) -> Path:
    """Write the made parts of the page; TAMIS_DATA must name the folder with the published rows."""
    own = own_means([row for path in sorted(results.glob("*.jsonl")) for row in Ledger(path).rows()])
    return replace_parts(page, {"shares": shares_table(own).markdown(), "control": control_sentence(own)})


def own_means(rows: list[Row]) -> dict[str, dict[str, Means]]:
    """Return the means of our rows per method and metric; a set counts once it has rows of that metric."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for row in rows:
        trial = row["trial"]
        for metric in METRICS:
            if metric in row:
                by_set = found.setdefault(trial["method"], {}).setdefault(metric, {})
                by_set.setdefault(trial["set"], []).append(float(np.mean(row[metric])))
    return {
        method: {
            metric: {name: float(np.mean(values)) for name, values in sets.items()} for metric, sets in one.items()
        }
        for method, one in found.items()
    }


def published_means(method: str, metric: str) -> Means:
    """Return the means of a published method, without the sets whose rows are broken."""
    broken = broken_sets(method)
    curves = read_curves(method, metric)
    return {name: float(rows.mean()) for name, rows in curves.items() if name not in broken}


def shares_table(own: Mapping[str, Mapping[str, Means]]) -> Table:
    """Make the table of shares above published random features, on the common sets and on all published ones."""
    headings = ["method"]
    for where in ("common sets", "all sets"):
        headings += [f"{label}, {where}" for label in METRICS.values()] + [f"number of {where}"]
    rows = []
    for method in METHODS:
        if method != REFERENCE:
            means = {metric: published_means(method, metric) for metric in METRICS}
            rows.append([f"{method} (published)", *_cells(means, set(FILES)), *_cells(means, None)])
    for method, found in own.items():
        rows.append([f"`{method}` (ours)", *_cells(found, set(FILES)), *["–"] * (len(METRICS) + 1)])
    return Table("fseval", "Share of sets above random", headings, rows)


def _cells(means: Mapping[str, Means], among: set[str] | None) -> list[str]:
    cells, counted = [], []
    for metric in METRICS:
        scored = {name for name in means.get(metric, {}) if among is None or name in among}
        counted.append(len(scored))
        above = _above(means.get(metric, {}), published_means(REFERENCE, metric), scored)
        cells.append(f"{above.mean():.2f}" if scored else "–")
    numbers = dict.fromkeys(str(count) for count in counted)
    return [*cells, " and ".join(numbers)]


def _above(means: Means, reference: Means, scored: set[str]) -> NDArray[np.bool_]:
    return np.array([means[name] > reference[name] for name in sorted(scored)])


def control_sentence(own: Mapping[str, Mapping[str, Means]]) -> str:
    """Say how far our run of a published method is from its published rows."""
    sentences = []
    for ours, theirs in CONTROL.items():
        for metric, label in METRICS.items():
            found, printed = own.get(ours, {}).get(metric, {}), published_means(theirs, metric)
            differences = [abs(found[name] - printed[name]) for name in found if name in printed]
            if differences:
                sentences.append(
                    f"`{ours}` run here differs from the published {theirs} rows by at most {max(differences):.4f} in "
                    f"mean {label} on {len(differences)} sets."
                )
    return " ".join(sentences) or "No control has been run yet."
