"""How often the informative columns are found: the paper's ablation and beyond, defaults only, ten data seeds.

Run: python -m experiments.recovery [method ...]     (does what is missing)
     python -m experiments.recovery page              (writes docs/design-notes/recovery.md and its plot)
"""

import sys
import time
from itertools import product
from typing import Any

import numpy as np

import tamis
from experiments import ledger
from experiments.pages import bar_chart, write_page
from tamis.synthetic import PlantedTable, blobs_with_copies, moons_with_copies, moons_with_uniform

SEEDS = range(10)
TO_THE_LETTER = "LSCAE.from_paper"
METHODS = ["LSCAE", "CAE", "ConcreteLaplacian", "LaplacianScore", "VarianceScore", TO_THE_LETTER]

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


def work(method: str, table: str, seed: int) -> dict[str, Any]:
    """Fit once with the defaults and compare with the answer."""
    planted: PlantedTable = TABLES[table](seed)
    k = len(set(planted.groups.tolist()) - {-1})
    kind = tamis.LSCAE.from_paper if method == TO_THE_LETTER else getattr(tamis, method)
    seeded = {"random_state": seed} if "random_state" in kind().get_params() else {}
    start = time.perf_counter()
    selector = kind(k, **seeded).fit(planted.X)
    return {
        "k": k,
        "groups": planted.groups_found(selector.selected_),
        "nuisance": planted.nuisance_picked(selector.selected_),
        "verdict": getattr(selector, "convergence_", None),
        "objectives": np.round(getattr(selector, "restart_objectives_", []), 4).tolist(),
        "seconds": round(time.perf_counter() - start, 2),
    }


def page() -> None:
    """Write the table of all methods, and draw LSCAE against its ablations and the Laplacian score."""
    rows = ledger.read("recovery")
    drawn: dict[str, dict[str, list[float]]] = {}
    lines = ["| table | " + " | ".join(METHODS) + " |", "|---" * (len(METHODS) + 1) + "|"]
    for table in TABLES:
        cells = []
        for method in METHODS:
            found = [row for row in rows if row["trial"]["table"] == table and row["trial"]["method"] == method]
            if not found:
                cells.append("–")
                continue
            solved = sum(row["groups"] == row["k"] for row in found)
            groups, nuisance = (np.mean([row[name] for row in found]) for name in ("groups", "nuisance"))
            cells.append(f"{solved} of {len(found)} (groups {groups:.1f}, nuisance {nuisance:.1f})")
            drawn.setdefault(table, {})[method] = [row["groups"] / row["k"] for row in found]
        lines.append(f"| {table} | " + " | ".join(cells) + " |")
    complete = {
        table: {method: methods[method] for method in METHODS[:4]}
        for table, methods in drawn.items()
        if all(method in methods for method in METHODS[:4])
    }
    if complete:
        bar_chart(complete, "share of the informative groups found", "recovery.png")
    write_page("recovery", "\n".join(lines))


def main() -> None:
    """Run what is missing and print the rows, or write the page."""
    if sys.argv[1:] == ["page"]:
        return page()
    trials = [
        {"method": method, "table": table, "seed": seed}
        for method, seed, table in product(sys.argv[1:] or METHODS, SEEDS, TABLES)
    ]
    for row in ledger.run("recovery", trials, work):
        print(*row["trial"].values(), row["groups"], row["nuisance"], row["seconds"], flush=True)
    return None


if __name__ == "__main__":
    main()
