"""Whether columns are picked that differ from a constant in a few rows only, such as words that one text holds.

Run: python -m experiments.rare_columns          (does what is missing)
     python -m experiments.rare_columns page      (writes docs/design-notes/rare-columns.md and its plot)
"""

import math
import sys
import time
from contextlib import ExitStack
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np

from experiments import ledger
from experiments.pages import bar_chart, write_page
from tamis import LSCAE, LaplacianScore
from tamis.neural import batching, compiled, screening, seen_rows, training
from tamis.neural.taming import tamed

SEEDS = range(3)
ROWS, WORDS, RARE, K = 1500, 30, 400, 6
HELD_BY = {"1 row": 1, "2 rows": 2, "4 rows": 4, "16 rows": 16, "75 rows": 75, "150 rows": 150}


def not_centred(x: Any, limit: float = math.inf) -> Any:
    """Draw values in, and leave the mean of every column within the batch."""
    return tamed(x, limit) + x.mean(dim=0)


NOT_CENTRED = [(module, "tamed", not_centred) for module in (batching, training, seen_rows)]
NOT_CENTRED += [
    (seen_rows, "_centred", lambda columns: columns),
    (compiled, "_graph_step", None),
    (seen_rows, "NARROW", 10**6),
]
NO_FLOOR = [(screening, "FEWEST_ROWS", 0)]
METHODS: dict[str, list[tuple[Any, str, Any]]] = {
    "LSCAE": [],
    "without clip": [],
    "clip alone": NOT_CENTRED + NO_FLOOR,
    "without clip, not centred": NOT_CENTRED,
    "without clip, no fewest rows": NO_FLOOR,
    "Laplacian score": [],
}


def texts(held_by: int, seed: int) -> np.ndarray:
    """Give counts of words that belong to one of three groups of texts, after words that a few texts hold."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(3, size=ROWS)
    words = rng.poisson(np.where(np.arange(WORDS) % 3 == groups[:, None], 1.0, 0.1))
    rare = np.zeros((ROWS, RARE))
    for column in rare.T:
        column[rng.choice(ROWS, size=held_by, replace=False)] = 1.0
    return np.hstack([rare, words])


def work(method: str, held_by: str, seed: int) -> dict[str, Any]:
    """Fit once; count the picks that belong to groups of texts."""
    selector = LaplacianScore(K)
    if method != "Laplacian score":
        clip = None if "without clip" in method else 3.0
        selector = LSCAE(K, random_state=seed, clip=clip, check_stability=False)
    start = time.perf_counter()
    with ExitStack() as stack:
        for module, name, value in METHODS[method]:
            stack.enter_context(patch.object(module, name, value))
        selector.fit(texts(HELD_BY[held_by], seed))
    informative = int((selector.selected_ >= RARE).sum())
    return {"informative": informative, "k": K, "seconds": round(time.perf_counter() - start, 2)}


def page() -> None:
    """Draw and list the share of picks that belong to groups of texts."""
    shares: dict[str, dict[str, list[float]]] = {method: {held: [] for held in HELD_BY} for method in METHODS}
    for row in ledger.read("rare_columns"):
        shares[row["trial"]["method"]][row["trial"]["held_by"]].append(row["informative"] / row["k"])
    bar_chart(shares, "share of the picks that belong to groups of rows", "rare-columns.png")
    lines = ["| method | " + " | ".join(f"rare in {held}" for held in HELD_BY) + " |"]
    lines.append("|---" * (len(HELD_BY) + 1) + "|")
    for method, found in shares.items():
        lines.append(f"| {method} | " + " | ".join(f"{np.mean(values):.2f}" for values in found.values()) + " |")
    write_page("rare-columns", "\n".join(lines))


def main() -> None:
    """Run what is missing and print the rows, or write the page."""
    if sys.argv[1:] == ["page"]:
        return page()
    trials = [{"method": m, "held_by": held, "seed": seed} for seed, m, held in product(SEEDS, METHODS, HELD_BY)]
    for row in ledger.run("rare_columns", trials, work):
        print(*row["trial"].values(), row["informative"], row["seconds"], flush=True)
    return None


if __name__ == "__main__":
    main()
