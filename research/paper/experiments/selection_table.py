"""The big table: clustering accuracy on the features that each method selects, on every data set."""

from functools import lru_cache
from itertools import product
from typing import Any

from research.ledger import Row, Trial
from research.methods import NESTED
from research.paper.datasets import load, z_scores
from research.paper.experiment import Experiment
from research.paper.experiments import selection_summary as summary
from research.paper.fits import fit, is_seeded, scores_of_all_ways
from research.paper.formats import Labelled
from research.paper.printed import METHODS
from research.paper.sources import DATASETS
from research.paper.stand_ins import QUICK_TABLES, quick_table
from tamis.selectors import SELECTORS

SIZES = (50, 100, 150, 200, 250, 300)
QUICK_SIZES = (3, 6)
SEEDS = 3
UNSCALED = ("variance",)
"""Methods that mean nothing on z-scores."""


def trials(quick: bool) -> list[Trial]:
    """Return all trials: small sets first, the paper's methods first, a panel before its beginnings."""
    data, sizes = (QUICK_TABLES, QUICK_SIZES) if quick else ([one.name for one in _by_size()], SIZES)
    seeds, mark = (1, {"quick": True}) if quick else (SEEDS, {})
    methods = [*METHODS.values(), *(name for name in SELECTORS if name not in METHODS.values())]
    return [
        {"data": name, "method": method, "k": k, "seed": seed, **mark}
        for name, method, seed, k in product(data, methods, range(seeds), sorted(sizes, reverse=True))
        if seed == 0 or is_seeded(method)
    ]


def _by_size() -> list[Any]:
    last = ("goolam", "rcv1_subset", "FAN", "GISETTE", "RCV1")
    known = [one for one in DATASETS if one.name != "MNIST"]
    return sorted(known, key=lambda one: last.index(one.name) if one.name in last else -1)


def parent(trial: Trial) -> Trial | None:
    """Fit a method that ranks without regard to k once, for the largest panel."""
    largest = max(QUICK_SIZES if trial.get("quick") else SIZES)
    return None if trial["method"] not in NESTED or trial["k"] == largest else trial | {"k": largest}


def work(trial: Trial, parent: Row | None) -> Row:
    """Fit, or take the beginning of the larger panel, and cluster on it; ``selected`` counts varied features only."""
    quick = trial.get("quick", False)
    X, y = quick_table(trial["data"]) if quick else load(trial["data"])
    if parent is not None:
        found: Row = {"begins": parent["trial"]["k"], "fit_seconds": 0.0}
        selected = parent["selected"][: trial["k"]]
    else:
        table = X if trial["method"] in UNSCALED else _scaled(trial["data"], quick)
        found = fit(trial["method"], table, trial["k"], trial["seed"], quick=quick)[1]
        selected = found["selected"]
    return {**found, **scores_of_all_ways(X[:, selected], y, n_runs=3 if quick else 20)}


@lru_cache(maxsize=1)
def _scaled(name: str, quick: bool) -> Any:
    """Return z-scores; a sparse table too large to be made dense is left to the selectors, which scale it."""
    table: Labelled = quick_table(name) if quick else load(name)
    too_large = table.X.shape[0] * table.X.shape[1] > 10**8
    return table.X if too_large else z_scores(table.X)


EXPERIMENT = Experiment(
    id="table-results",
    title="Clustering on the selected features",
    question=(
        "Each method selects 50, 100, ..., 300 features of each data set; k-means, with as many clusters as there are "
        "classes, runs 20 times on them. Features that a seeded method selects are those of up to three seeds, and "
        "accuracies are means over them. One configuration, the defaults, serves all data sets."
    ),
    trials=trials,
    work=work,
    verdict=summary.verdict,
    draw=summary.draw,
    tables=summary.tables,
    parent=parent,
)
