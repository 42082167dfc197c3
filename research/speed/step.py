"""A mean step of training against the matrix products that a plain concrete autoencoder cannot do without."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from research.ledger import Row, Trial
from research.pages import Table, replace_parts
from research.speed.measure import Measure
from research.speed.peer import fit_seconds

N_ROWS, D, K = 64, 25_000, 300
FEW, MANY = 20, 320


def trials() -> list[Trial]:
    """Return the one trial."""
    return [{"case": f"k = {K}, d = {D:,}, batch {N_ROWS}"}]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Relate a mean step, and a mean step with all that comes before and after, to the products."""
    X = np.random.default_rng(0).standard_normal((N_ROWS, D)).astype(np.float32)
    short, long = (_best_fit(X, epochs) for epochs in (FEW, MANY))
    products = products_seconds(N_ROWS, D, K)
    return {"step": (long - short) / (MANY - FEW) / products, "whole": long / MANY / products}


def _best_fit(X: Any, epochs: int) -> float:
    return min(fit_seconds(X, K, n_init=1, max_epochs=epochs) for _ in range(2))


def products_seconds(rows: int, d: int, k: int) -> float:
    """Time the codes ``X Zᵀ`` and the gradient by Z, the best of twenty times."""
    import torch

    x, z, g = torch.randn(rows, d), torch.rand(k, d), torch.randn(rows, k)
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        x @ z.T
        g.T @ x
        times.append(time.perf_counter() - begun)
    return min(times)


def write(rows: list[Row], docs: Path) -> list[Path]:
    """Write the table of the page."""
    lines = [[row["trial"]["case"], f"{row['step']:.2f} ×", f"{row['whole']:.2f} ×"] for row in rows]
    headings = ["case", "a step", f"{MANY} steps with all before and after, per step"]
    return [replace_parts(docs / "performance.md", {"step": Table("step", "A step", headings, lines).markdown()})]


MEASURE = Measure("step", "a step of training against matrix products", trials, work, write)
