"""How many of five informative features every classical selector finds among noise, with its defaults.

``python -m research.planted.toy run`` does what is missing; ``page`` writes a table of docs/baselines.md. 200 rows in
five or three clusters; five features hold the centres of the clusters (normal with spread 3) plus unit noise, and 15
or 195 are unit noise. Some defaults were set with tables of the seeds 0 to 4 in view, so other seeds are used here.
"""

import sys
import warnings
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.ledger import Row, Trial
from research.methods import takes_seed
from research.pages import Rows, Table, replace_parts, select_rows
from research.planted.bench import DOCS, Bench
from tamis import SELECTORS

SELECTOR_OF: dict[str, tuple[str, dict[str, Any]]] = {
    "LaplacianScore": ("laplacian-score", {}),
    "SPEC φ1": ("spec", {"ranking": "phi1"}),
    "SPEC φ2": ("spec", {}),
    "SPEC φ3": ("spec", {"ranking": "phi3"}),
    "MCFS": ("mcfs", {}),
    "UDFS": ("udfs", {}),
    "NDFS": ("ndfs", {}),
    "LLCFS": ("llcfs", {}),
    "SRCFS": ("srcfs", {}),
    "RSR": ("rsr", {}),
    "AEFS": ("aefs", {}),
    "DUFS parameter-free": ("dufs", {}),
    "DUFS penalised": ("dufs", {"loss": "penalised"}),
    "VarianceScore": ("variance", {}),
    "VarianceScore z-scored": ("variance", {}),
    "RandomSubset": ("random", {}),
}
N_ROWS, INFORMATIVE, SPREAD, SEEDS = 200, 5, 3.0, range(100, 105)
SETTINGS = [(clusters, d) for clusters in (5, 3) for d in (20, 200)]


def trials(methods: Iterable[str]) -> list[Trial]:
    """Return five seeds of every table and method."""
    return [
        {"method": method, "clusters": clusters, "d": d, "seed": seed}
        for method, (clusters, d), seed in product(methods, SETTINGS, SEEDS)
    ]


def toy(seed: int, d: int, clusters: int) -> tuple[NDArray[np.float64], set[int]]:
    """Return a table and its informative features."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(clusters, size=N_ROWS)
    X = rng.normal(size=(N_ROWS, d))
    informative = rng.choice(d, INFORMATIVE, replace=False)
    X[:, informative] += rng.normal(scale=SPREAD, size=(clusters, INFORMATIVE))[labels]
    return X, set(informative.tolist())


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Count the informative features among the five that a method selects."""
    name, parameters = SELECTOR_OF[trial["method"]]
    X, informative = toy(trial["seed"], trial["d"], trial["clusters"])
    if "z-scored" in trial["method"]:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    if takes_seed(SELECTORS[name]):
        parameters = parameters | {"random_state": trial["seed"]}
    with warnings.catch_warnings():
        # Doubts about a selection are counted here, not read.
        warnings.simplefilter("ignore")
        selected = SELECTORS[name](INFORMATIVE, **parameters).fit(X).selected_
    return {"found": len(informative & set(selected.tolist()))}


def write_page(rows: Rows, page: Path = DOCS / "baselines.md") -> Path:
    """Write the table: the mean number found, and that of each seed."""
    lines = [[method, *(_cell(rows, method, *setting) for setting in SETTINGS)] for method in SELECTOR_OF]
    headings = ["method", *(f"{clusters} clusters, of {d}" for clusters, d in SETTINGS)]
    return replace_parts(page, {"planted": Table("toy", "Planted features", headings, lines).markdown()})


def _cell(rows: Rows, method: str, clusters: int, d: int) -> str:
    found = sorted(select_rows(rows, method=method, clusters=clusters, d=d), key=lambda row: row["trial"]["seed"])
    counts = [row["found"] for row in found]
    return f"{np.mean(counts):.1f} ({', '.join(map(str, counts))})" if counts else "–"


def describe(row: Row) -> str:
    """Return a line about a row."""
    return f"{' '.join(map(str, row['trial'].values()))}: {row['found']} of {INFORMATIVE}"


BENCH = Bench("toy", tuple(SELECTOR_OF), trials, work, describe, write_page)

if __name__ == "__main__":
    sys.exit(BENCH.main())
