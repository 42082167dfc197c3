"""Table of the data sets: shapes, classes, and the accuracy of k-means on all features."""

from typing import Any

import numpy as np

from research.ledger import Row, Trial
from research.pages import Rows, Table
from research.paper.datasets import checksum, dataset, load, locate
from research.paper.experiment import Experiment
from research.paper.fits import WAYS, scores_of_all_ways
from research.paper.printed import printed
from research.paper.sources import DATASETS, STAND_INS
from research.paper.stand_ins import QUICK_TABLES, quick_table


def trials(quick: bool) -> list[Trial]:
    """Return one trial a data set."""
    if quick:
        return [{"data": name, "quick": True} for name in QUICK_TABLES]
    return [{"data": one.name} for one in DATASETS if one.name != "MNIST"]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Cluster on all features."""
    name = trial["data"]
    if trial.get("quick"):
        X, y = quick_table(name)
        return {**_shape(X, y), **scores_of_all_ways(X, y, n_runs=3)}
    X, y = load(name)
    return {**_shape(X, y), **scores_of_all_ways(X, y), "sha256": [checksum(path) for path in locate(dataset(name))]}


def _shape(X: Any, y: Any) -> Row:
    return {"samples": X.shape[0], "features": X.shape[1], "classes": len(np.unique(y))}


def printed_name(name: str) -> str | None:
    """Return the paper's name of a data set, if it has one."""
    return None if name in QUICK_TABLES else dataset(name).printed


def described_name(name: str) -> str:
    """Return a data set's name for a table: the paper's, or what it stands in for."""
    if name in STAND_INS:
        return f"{name} (for {STAND_INS[name]})"
    return printed_name(name) or name


def tables(rows: Rows) -> list[Table]:
    """Lay our shapes and accuracies beside the printed ones."""
    headings = ["data set", "samples", "features", "classes", *WAYS.values(), "printed", "printed shape"]
    lines = []
    for row in rows:
        known = printed()["statistics"].get(printed_name(row["trial"]["data"]))
        shape = f"{known['samples']} × {known['features']} × {known['classes']}" if known else "–"
        lines.append(
            [described_name(row["trial"]["data"]), *(str(row[name]) for name in ("samples", "features", "classes"))]
            + [f"{100 * row[name]:.1f} ± {100 * row[f'{name}_sd']:.1f}" for name in WAYS]
            + [f"{known['accuracy']:.1f}" if known else "–", shape]
        )
    title = "Accuracy of k-means on all features, in percent: mean ± standard deviation of 20 runs"
    return [Table("table-stats", title, headings, lines)]


def verdict(rows: Rows) -> str:
    """Tell which way is nearest to the printed accuracies, and how far it is from them."""
    known = [row for row in rows if printed_name(row["trial"]["data"]) in printed()["statistics"]]
    if not known:
        return "None of the paper's sets is among these rows, so there is nothing to compare."
    gaps = {
        label: float(np.mean([abs(100 * row[name] - _printed_accuracy(row)) for row in known]))
        for name, label in WAYS.items()
    }
    near = min(gaps, key=lambda label: gaps[label])
    far = max(known, key=lambda row: abs(100 * row[_score_of(near)] - _printed_accuracy(row)))
    name = printed_name(far["trial"]["data"])
    return (
        f"On the {len(known)} sets of the paper that were at hand, the printed accuracies are nearest to k-means on "
        f"features {near} (mean distance {gaps[near]:.1f} points; the farthest way has {max(gaps.values()):.1f}). The "
        f"largest difference is then on {name}: {100 * far[_score_of(near)]:.1f} here, {_printed_accuracy(far):.1f} in "
        "the paper; features with one value only are left out of our counts of features."
    )


def _printed_accuracy(row: Row) -> float:
    return float(printed()["statistics"][printed_name(row["trial"]["data"])]["accuracy"])


def _score_of(label: str) -> str:
    return next(name for name, start in WAYS.items() if start == label)


EXPERIMENT = Experiment(
    id="table-stats",
    title="Data sets, and the accuracy of all features",
    question=(
        "Every data set is clustered on all its features, into as many clusters as it has classes, 20 times with each "
        "kind of start of k-means, on z-scored features and on features as they are. Counts are replaced by log(1 + x)."
    ),
    trials=trials,
    work=work,
    verdict=verdict,
    tables=tables,
)
