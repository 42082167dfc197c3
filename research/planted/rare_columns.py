"""Whether features are picked that differ from a constant in a few rows only, such as words that one text holds.

``python -m research.planted.rare_columns run`` does what is missing; ``page`` writes docs/rare-columns.md and its
figure.
"""

import sys
import time
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from research.ledger import Row, Trial
from research.pages import Rows, Table, bar_chart, replace_parts, select_rows
from research.planted.bench import DOCS, Bench
from research.planted.recovery import make_selector

SEEDS = range(3)
METHODS = ("LSCAE", "LaplacianScore")
N_ROWS, N_WORDS, N_RARE, K = 1500, 30, 400, 6
HELD_BY = {"1 row": 1, "2 rows": 2, "4 rows": 4, "16 rows": 16, "75 rows": 75, "150 rows": 150}


def trials(methods: Iterable[str]) -> list[Trial]:
    """Return three seeds of every table and method."""
    return [{"method": m, "held_by": held, "seed": seed} for seed, m, held in product(SEEDS, methods, HELD_BY)]


def texts(held_by: int, seed: int) -> NDArray[np.float64]:
    """Return counts: 400 words that a few texts hold, then 30 words that belong to one of three groups of texts."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(3, size=N_ROWS)
    words = rng.poisson(np.where(np.arange(N_WORDS) % 3 == groups[:, None], 1.0, 0.1))
    rare = np.zeros((N_ROWS, N_RARE))
    for feature in rare.T:
        feature[rng.choice(N_ROWS, size=held_by, replace=False)] = 1.0
    return np.hstack([rare, words])


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Fit once; count the picks that belong to groups of texts."""
    begun = time.perf_counter()
    selector = make_selector(trial["method"], K, trial["seed"]).fit(texts(HELD_BY[trial["held_by"]], trial["seed"]))
    informative = int((selector.selected_ >= N_RARE).sum())
    return {"informative": informative, "k": K, "fit_seconds": round(time.perf_counter() - begun, 3)}


def write_page(rows: Rows, page: Path = DOCS / "rare-columns.md") -> Path:
    """Draw and list the share of picks that belong to groups of texts."""
    shares = {
        method: {held: _shares(rows, method, held) for held in HELD_BY}
        for method in METHODS
        if all(_shares(rows, method, held) for held in HELD_BY)
    }
    if not shares:
        raise ValueError("No method has rows for every table; run `python -m research.planted.rare_columns run` first.")
    bar_chart(shares, "share of the picks that belong to groups of rows", page.parent / "images" / "rare-columns")
    lines = [[method, *(f"{np.mean(values):.2f}" for values in found.values())] for method, found in shares.items()]
    table = Table("rare-columns", "Rare columns", ["method", *(f"rare in {held}" for held in HELD_BY)], lines)
    return replace_parts(page, {"table": table.markdown()})


def _shares(rows: Rows, method: str, held: str) -> list[float]:
    return [row["informative"] / row["k"] for row in select_rows(rows, method=method, held_by=held)]


def describe(row: Row) -> str:
    """Return a line about a row."""
    return f"{' '.join(map(str, row['trial'].values()))}: {row['informative']} of {row['k']} are informative"


BENCH = Bench("rare_columns", METHODS, trials, work, describe, write_page)

if __name__ == "__main__":
    sys.exit(BENCH.main())
