"""Commands on small tables, against importing what no such command can do without."""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from research.ledger import Row, Trial
from research.pages import Table, replace_parts
from research.speed.growth import grouped_table
from research.speed.measure import Measure

N_STARTS = 7
SELECT = ["select", "table.csv", "-k", "10", "--method", "structure-pursuit", "-o", "out", "--force"]
COMMANDS = {
    "`tamis --help`": (["-m", "tamis", "--help"], "typer, rich"),
    "`tamis select` with structure-pursuit and its page": (["-m", "tamis", *SELECT], "sklearn"),
}
"""The arguments of Python, and the modules whose import alone is timed beside them."""


def trials() -> list[Trial]:
    """Return a trial per command."""
    return [{"command": name, "imports": modules} for name, (_, modules) in COMMANDS.items()]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Start the command and the import in turns, as new processes; keep the best times of each."""
    arguments, modules = COMMANDS[trial["command"]]
    with tempfile.TemporaryDirectory() as folder:
        _write_table(Path(folder) / "table.csv")
        pairs = [(_seconds(arguments, folder), _seconds(["-c", f"import {modules}"], folder)) for _ in range(N_STARTS)]
    (clock, cpu), (import_clock, import_cpu) = np.min(pairs, axis=0).tolist()
    return {"clock": clock, "cpu": cpu, "import_clock": import_clock, "import_cpu": import_cpu}


def _write_table(path: Path) -> None:
    X = grouped_table(500, 200, seed=0)
    np.savetxt(path, X, delimiter=",", header=",".join(f"feature_{i}" for i in range(X.shape[1])), comments="")


def _seconds(arguments: list[str], folder: str) -> tuple[float, float]:
    """Return the seconds of a Python process by the clock and by the processor."""
    begun, before = time.monotonic(), _children()
    subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, check=True)
    return time.monotonic() - begun, _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write(rows: list[Row], docs: Path) -> list[Path]:
    """Write the table of the page."""
    lines = [
        [
            row["trial"]["command"],
            f"`import {row['trial']['imports']}`",
            *(f"{row[what] / row[f'import_{what}']:.2f} ×" for what in ("clock", "cpu")),
        ]
        for row in rows
    ]
    table = Table("startup", "Commands", ["command", "against", "by the clock", "by the processor"], lines)
    return [replace_parts(docs / "performance.md", {"startup": table.markdown()})]


MEASURE = Measure("startup", "commands on a small table against the imports they need", trials, work, write)
