"""Whether the warning tells wrong fits from right ones, on tables made so hard that some fits are wrong.

Run: python -m experiments.doubt            (does what is missing)
     python -m experiments.doubt page       (writes docs/design-notes/doubt.md)
"""

import sys
import time
import warnings
from itertools import product
from typing import Any

import numpy as np

from experiments import ledger
from experiments.pages import write_page
from tamis import LSCAE
from tamis.base import UnstableSelectionWarning
from tamis.synthetic import PlantedTable, blobs_with_copies, moons_with_copies, moons_with_uniform

SEEDS = range(200, 210)

TABLES = {
    "moons + 100 uniform, 150 rows": lambda seed: moons_with_uniform(100, seed, n_samples=150),
    "moons + 400 uniform, 600 rows": lambda seed: moons_with_uniform(400, seed, n_samples=600),
    "moons + copies, d = 40, 150 rows": lambda seed: moons_with_copies(40, seed, n_samples=150),
    "moons + copies, d = 15, 1200 rows": lambda seed: moons_with_copies(15, seed),
    "blobs + 500 nuisance, 40 rows": lambda seed: blobs_with_copies(500, seed, n_samples=40),
    "blobs + 100 nuisance, 600 rows": lambda seed: blobs_with_copies(100, seed),
}


def work(table: str, seed: int) -> dict[str, Any]:
    """Fit once, catch the warning, and compare with the answer."""
    planted: PlantedTable = TABLES[table](seed)
    k = len(set(planted.groups.tolist()) - {-1})
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector = LSCAE(k, random_state=seed).fit(planted.X)
    return {
        "right": planted.groups_found(selector.selected_) == k,
        "warned": any(issubclass(w.category, UnstableSelectionWarning) for w in caught),
        "found_again": np.round(selector.found_again_, 3).tolist(),
        "seconds": round(time.perf_counter() - start, 2),
    }


def page() -> None:
    """Count warnings among the right and among the wrong fits."""
    rows = ledger.read("doubt")
    lines = ["| table | right fits, warned | wrong fits, warned |", "|---|---|---|"]
    for name in [*TABLES, "all"]:
        ours = [row for row in rows if name in ("all", row["trial"]["table"])]
        cells = [[row["warned"] for row in ours if row["right"] is right] for right in (True, False)]
        lines.append(f"| {name} | " + " | ".join(f"{sum(cell)} of {len(cell)}" for cell in cells) + " |")
    write_page("doubt", "\n".join(lines))


def main() -> None:
    """Run what is missing and print the rows, or write the page."""
    if sys.argv[1:] == ["page"]:
        return page()
    trials = [{"table": table, "seed": seed} for seed, table in product(SEEDS, TABLES)]
    for row in ledger.run("doubt", trials, work):
        print(*row["trial"].values(), row["right"], row["warned"], row["seconds"], flush=True)
    return None


if __name__ == "__main__":
    main()
