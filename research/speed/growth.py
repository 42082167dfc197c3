"""How the time of a fit grows with features, rows and selected features, at fixed epochs."""

from pathlib import Path
from typing import Any

import numpy as np

from research.ledger import Row, Trial
from research.pages import Table, replace_parts, select_rows
from research.speed.measure import Measure
from research.speed.peer import fit_seconds
from research.style import COLOURS, figure

AXES = {
    "d": "features d (1,000 rows, k = 100)",
    "n": "rows n (500 features, k = 20)",
    "k": "features selected k (1,000 × 5,000)",
}
SIZES = {
    "d": [(1000, d, 100) for d in (2500, 5000, 10000, 20000, 40000)],
    "n": [(n, 500, 20) for n in (1000, 4000, 16000, 64000)],
    "k": [(1000, 5000, k) for k in (25, 50, 100, 200, 400)],
}
EPOCHS = {"d": 50, "n": 20, "k": 50}


def trials() -> list[Trial]:
    """Return a trial per axis and size."""
    return [{"axis": axis, "n": n, "d": d, "k": k} for axis, sizes in SIZES.items() for n, d, k in sizes]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Time one restart on a table of noise."""
    X = np.random.default_rng(0).standard_normal((trial["n"], trial["d"])).astype(np.float32)
    return {"fit_seconds": fit_seconds(X, trial["k"], n_init=1, max_epochs=EPOCHS[trial["axis"]])}


def write(rows: list[Row], docs: Path) -> list[Path]:
    """Draw the growth, and write the slopes of log time on log size."""
    slopes = []
    with figure(docs / "images" / "growth", 1, len(AXES), 2.4) as axes:
        for panel, (axis, label) in zip(axes, AXES.items(), strict=True):
            points = sorted((row["trial"][axis], row["fit_seconds"]) for row in select_rows(rows, axis=axis))
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
