"""``tamis select`` on large CSV files: memory on one of about 1 GB, and the time of reading a wide one."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from research.ledger import Row, Trial
from research.pages import Table, replace_parts
from research.speed.measure import Measure, no_page


def csv_trials() -> list[Trial]:
    """Return the one trial."""
    return [{"rows": 50_000, "features": 2_000, "k": 20}]


def wide_trials() -> list[Trial]:
    """Return the one trial."""
    return [{"rows": 300, "features": 200_000, "k": 20, "method": "lscae"}]


def csv_work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Select from a large CSV file; the peak is that of the whole process, as the kernel counts it."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "large.csv"
        _write_csv(path, trial["rows"], trial["features"])
        command = [sys.executable, "-m", "tamis", "select", str(path), "-k", str(trial["k"]), "-o", f"{name}/out"]
        command += ["--method", trial.get("method", "lscae")]
        seconds, cpu, peak = _measured([*command, "--quiet"])
        found = {"gb": path.stat().st_size / 1e9, "peak_gib": peak, "select_seconds": seconds, "select_cpu": cpu}
        return found | _reading_seconds(path)


def _measured(command: list[str]) -> tuple[float, float, float]:
    """Run a command; return its seconds by the clock and by the processor, and its peak memory in GiB."""
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"{' '.join(command)} failed")
    return time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def _reading_seconds(path: Path) -> Row:
    """Measure reading alone beside ``pyarrow.csv``, the better of two runs that take turns."""
    with path.open("rb") as file:
        # Arrow needs blocks that hold some lines, and spends its time on columns if they hold few.
        block = min(2**30, max(2**24, 64 * len(file.readline())))
    codes = {
        "read": f"from tamis.io.readers import read; read({str(path)!r})",
        "arrow": f"from pyarrow import csv; csv.read_csv({str(path)!r}, csv.ReadOptions(block_size={block}))",
    }
    runs = [(name, _measured([sys.executable, "-c", code])) for name, code in [*codes.items()] * 2]
    found: Row = {}
    for name in codes:
        clock, cpu, peak = (min(values) for values in zip(*(run for who, run in runs if who == name), strict=True))
        found |= {f"{name}_seconds": clock, f"{name}_cpu": cpu, f"{name}_gib": peak}
    return found


def write_wide(rows: list[Row], docs: Path) -> list[Path]:
    """Write the table of the page."""
    lines = [
        [
            f"{row['trial']['rows']:,} × {row['trial']['features']:,}, {row['gb']:.2f} GB",
            *(f"{row[f'read_{what}'] / row[f'arrow_{what}']:.2f}" for what in ("cpu", "seconds", "gib")),
            f"{row['peak_gib']:.2f}",
        ]
        for row in rows
    ]
    ratios = [f"{what} of reading, ÷ `pyarrow.csv`" for what in ("processor time", "clock time", "memory")]
    table = Table("wide-csv", "Wide CSV", ["table", *ratios, "peak of `tamis select`, GiB"], lines)
    return [replace_parts(docs / "performance.md", {"wide-csv": table.markdown()})]


def _write_csv(path: Path, rows: int, n_features: int) -> None:
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((10, n_features))
    with path.open("wb") as file:
        file.write((",".join(f"feature_{i}" for i in range(n_features)) + "\n").encode())
        for first in range(0, rows, 500):
            size = min(500, rows - first)
            block = rng.standard_normal((size, 10)) @ factors + rng.standard_normal((size, n_features))
            np.savetxt(file, block, fmt="%.7f", delimiter=",")


WIDE_CSV = Measure("wide-csv", "`tamis select` on a CSV file of 200,000 features", wide_trials, csv_work, write_wide)
LARGE_CSV = Measure("large-csv", "memory of `tamis select` on a CSV file of 1 GB", csv_trials, csv_work, no_page)
