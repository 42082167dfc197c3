"""Peak memory of whole fits, each in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from research.ledger import Row, Trial
from research.pages import Table, replace_parts
from research.speed.measure import Measure

CASES: dict[str, tuple[str, int, int, int, dict[str, Any]]] = {
    "56 × 25,683, k = 300": ("dense", 56, 25683, 300, {}),
    "sparse 21,332 × 24,408 (0.3 % nonzero), k = 300, one epoch, batch 512": (
        "sparse", 21332, 24408, 300, {"max_epochs": 1, "batch_size": 512},
    ),
    "500 × 200,000, k = 100": ("dense", 500, 200000, 100, {}),
}  # fmt: skip

SCRIPT = """
import pathlib, re, sys, json
import numpy as np, scipy.sparse as sp
import torch, sklearn.cluster
from tamis import LSCAE
kind, n, d, k, parameters = json.loads(sys.argv[1])
# Not getrusage: its peak is that of the process that started this one, if that was larger.
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 2**20
idle = peak()
rng = np.random.default_rng(0)
if kind == "dense":
    X = rng.standard_normal((n, d), dtype=np.float32)
else:
    size = int(0.003 * n * d)
    places = rng.integers(n, size=size), rng.integers(d, size=size)
    X = sp.csr_matrix((rng.random(size, dtype=np.float32), places), shape=(n, d))
LSCAE(k, random_state=0, n_init=1, **parameters).fit(X)
print(json.dumps({"above": peak() - idle, "peak": peak()}))
"""


def trials() -> list[Trial]:
    """Return a trial per table."""
    return [{"case": case} for case in CASES]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Fit in a new process, which reads its own peak from the kernel; GiB."""
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, json.dumps(CASES[trial["case"]])]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def write(rows: list[Row], docs: Path) -> list[Path]:
    """Write the table of the page."""
    lines = [[row["trial"]["case"], f"{row['above']:.2f}", f"{row['peak']:.2f}"] for row in rows]
    table = Table("memory", "Memory", ["fit", "above, GiB", "whole process, GiB"], lines)
    return [replace_parts(docs / "performance.md", {"memory": table.markdown()})]


MEASURE = Measure("memory", "peak memory of whole fits", trials, work, write)
