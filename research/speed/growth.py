"""How the time of whole default fits grows with features, rows and selected features."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.ledger import Row, Trial
from research.pages import Table, replace_parts, select_rows
from research.speed.measure import Measure, fit_cpu_seconds
from research.style import COLOURS, figure

AXES = {
    "d": "features d (300 rows, k = 20)",
    "n": "rows n (100 features, k = 10)",
    "k": "features selected k (1,000 × 2,000)",
}
SIZES = {
    "d": [(300, d, 20) for d in (1000, 3162, 10000, 31623, 100000)],
    "n": [(n, 100, 10) for n in (1000, 10000, 100000, 1000000)],
    "k": [(1000, 2000, k) for k in (10, 30, 100, 300)],
}
GROUPS = 20
"""Groups of ten features that share a factor; the other features are noise."""


def trials() -> list[Trial]:
    """Return a trial per axis and size."""
    return [{"axis": axis, "n": n, "d": d, "k": k} for axis, sizes in SIZES.items() for n, d, k in sizes]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Time a default fit, with all that belongs to it."""
    X = grouped_table(trial["n"], trial["d"], seed=0)
    return {"cpu_seconds": round(fit_cpu_seconds("lscae", X, trial["k"]), 3)}


def grouped_table(n: int, d: int, seed: int, n_groups: int = GROUPS) -> NDArray[np.float32]:
    """Return noise whose first features share factors, ten features each, or as many as there is room for."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), dtype=np.float32)
    size = min(10, d // (2 * n_groups))
    for group in range(n_groups):
        X[:, group * size : (group + 1) * size] += rng.standard_normal((n, 1), dtype=np.float32)
    return X


def write(rows: list[Row], docs: Path) -> list[Path]:
    """Draw the growth, and write the slopes of log time on log size."""
    slopes = []
    with figure(docs / "images" / "growth", 1, len(AXES), 2.4) as axes:
        for panel, (axis, label) in zip(axes, AXES.items(), strict=True):
            points = sorted((row["trial"][axis], row["cpu_seconds"]) for row in select_rows(rows, axis=axis))
            if len(points) > 1:
                slopes.append([label, f"{_draw(panel, points, label):.2f}"])
    table = Table("growth", "Growth", ["in", "slope"], slopes)
    return [replace_parts(docs / "performance.md", {"growth": table.markdown()})]


def _draw(panel: Any, points: list[tuple[float, float]], label: str) -> float:
    """Draw times relative to the smallest size, and return their slope."""
    sizes, seconds = np.array(points).T
    panel.loglog(sizes, seconds / seconds[0], "o-", color=COLOURS[0], label="measured")
    panel.loglog(sizes, sizes / sizes[0], "--", color="#999999", label="linear")
    panel.set(xlabel=label, ylabel="time, relative")
    panel.legend()
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


MEASURE = Measure("growth", "growth of time with the size of a table", trials, work, write)
