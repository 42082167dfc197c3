"""Whole default fits of tamis's own methods against what a user would take instead, on one thread."""

from pathlib import Path
from typing import Any

from research.data import MissingDataError, find_file
from research.ledger import Row, Trial
from research.pages import Table, replace_parts
from research.speed.growth import grouped_table
from research.speed.measure import Measure, fit_cpu_seconds

CASES = {
    "1,500 × 617": ("Isolet", 1500, 617, "ndfs"),
    "20,000 × 2,000": (None, 20000, 2000, "laplacian-score"),
    "171 × 5,748": ("TOX-171", 171, 5748, "mcfs"),
}
"""A real set, if it has that shape, the shape, and the method that LSCAE is compared with."""

K, TURNS = 50, 3
OURS = ("lscae", "structure-pursuit")


def trials() -> list[Trial]:
    """Return a trial per table."""
    return [{"case": case} for case in CASES]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Alternate the methods, and keep the least processor time of each."""
    data, n, d, rival = CASES[trial["case"]]
    X = _table(data, n, d)
    methods, best = dict.fromkeys((*OURS, "laplacian-score", rival)), dict[str, float]()
    for _ in range(TURNS if n < 10000 else 1):
        for method in methods:
            best[method] = min(fit_cpu_seconds(method, X, K), best.get(method, float("inf")))
    return {"rival": rival, "cpu_seconds": {method: round(seconds, 3) for method, seconds in best.items()}}


def _table(data: str | None, n: int, d: int) -> Any:
    try:
        from scipy.io import loadmat

        return loadmat(find_file(f"{data}.mat"))["X"].astype(float)[:n]
    except MissingDataError:
        return grouped_table(n, d, seed=0)


def write(rows: list[Row], docs: Path) -> list[Path]:
    """Write the table of the page."""
    lines = []
    for row in rows:
        seconds, rival = row["cpu_seconds"], row["rival"]
        first, second = seconds["lscae"] / seconds[rival], seconds["structure-pursuit"] / seconds["laplacian-score"]
        lines.append([row["trial"]["case"], f"{first:.2g} × {rival}", f"{second:.2g} × laplacian-score"])
    table = Table("alternatives", "Against other selectors", ["table", "LSCAE", "StructurePursuit"], lines)
    return [replace_parts(docs / "performance.md", {"alternatives": table.markdown()})]


MEASURE = Measure("alternatives", "default fits against other selectors", trials, work, write)
