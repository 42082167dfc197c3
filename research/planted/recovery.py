"""How often the informative features are found: the paper's ablation and beyond, defaults only, ten data seeds.

``python -m research.planted.recovery run`` does what is missing; ``page`` writes docs/recovery.md and its figure.
"""

import sys
import time
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import tamis
from research.ledger import Row, Trial
from research.methods import takes_seed
from research.pages import Rows, Table, bar_chart, replace_parts, select_rows
from research.planted.bench import DOCS, Bench
from research.synthetic import moons_with_uniform
from tamis.synthetic import PlantedTable, blobs_with_copies, moons_with_copies

SEEDS = range(10)
TO_THE_LETTER = "LSCAE.from_paper"
METHODS = ("LSCAE", "CAE", "ConcreteLaplacian", "LaplacianScore", "VarianceScore", TO_THE_LETTER)
DRAWN = METHODS[:4]

TABLES = {
    "moons + copies, d = 3": lambda seed: moons_with_copies(3, seed),
    "moons + copies, d = 6": lambda seed: moons_with_copies(6, seed),
    "moons + copies, d = 12": lambda seed: moons_with_copies(12, seed),
    "moons + copies, d = 15": lambda seed: moons_with_copies(15, seed),
    "moons + copies, d = 40": lambda seed: moons_with_copies(40, seed),
    "moons + near copies, d = 15": lambda seed: moons_with_copies(15, seed, nuisance_copy_noise=0.05),
    "moons + 10 uniform": lambda seed: moons_with_uniform(10, seed),
    "moons + 50 uniform": lambda seed: moons_with_uniform(50, seed),
    "moons + 100 uniform": lambda seed: moons_with_uniform(100, seed),
    "blobs + 25 nuisance": lambda seed: blobs_with_copies(25, seed),
    "blobs + 100 nuisance": lambda seed: blobs_with_copies(100, seed),
    "blobs + 500 nuisance": lambda seed: blobs_with_copies(500, seed),
}


def trials(methods: Iterable[str]) -> list[Trial]:
    """Return ten seeds of every table and method."""
    return [{"method": method, "table": table, "seed": seed} for method, seed, table in product(methods, SEEDS, TABLES)]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Fit once with the defaults and compare with the answer."""
    planted: PlantedTable = TABLES[trial["table"]](trial["seed"])
    k = len(set(planted.groups.tolist()) - {-1})
    begun = time.perf_counter()
    selected = make_selector(trial["method"], k, trial["seed"]).fit(planted.X).selected_
    return {
        "k": k,
        "groups": planted.groups_found(selected),
        "nuisance": planted.nuisance_picked(selected),
        "fit_seconds": round(time.perf_counter() - begun, 3),
    }


def make_selector(method: str, k: int, seed: int) -> Any:
    """Make a selector by its class name, seeded if it takes a seed."""
    if method == TO_THE_LETTER:
        return tamis.LSCAE.from_paper(k, random_state=seed)
    kind = getattr(tamis, method)
    return kind(k, random_state=seed) if takes_seed(kind) else kind(k)


def write_page(rows: Rows, page: Path = DOCS / "recovery.md") -> Path:
    """Write the table of all methods, and draw some of them."""
    complete = {
        table: {method: _shares(rows, method, table) for method in DRAWN}
        for table in TABLES
        if all(_shares(rows, method, table) for method in DRAWN)
    }
    if complete:
        bar_chart(complete, "share of the informative groups found", page.parent / "images" / "recovery")
    return replace_parts(page, {"table": summary(rows).markdown()})


def summary(rows: Rows) -> Table:
    """Make the table: in how many fits everything was found, and means of groups and nuisance."""
    lines = [[table, *(_cell(select_rows(rows, method=method, table=table)) for method in METHODS)] for table in TABLES]
    return Table("recovery", "Recovery", ["table", *METHODS], lines)


def _shares(rows: Rows, method: str, table: str) -> list[float]:
    return [row["groups"] / row["k"] for row in select_rows(rows, method=method, table=table)]


def _cell(found: list[Row]) -> str:
    if not found:
        return "–"
    solved = sum(row["groups"] == row["k"] for row in found)
    groups, nuisance = (np.mean([row[name] for row in found]) for name in ("groups", "nuisance"))
    return f"{solved} of {len(found)} (groups {groups:.1f}, nuisance {nuisance:.1f})"


def describe(row: Row) -> str:
    """Return a line about a row."""
    return f"{' '.join(map(str, row['trial'].values()))}: {row['groups']} of {row['k']}, nuisance {row['nuisance']}"


BENCH = Bench("recovery", METHODS, trials, work, describe, write_page)

if __name__ == "__main__":
    sys.exit(BENCH.main())
