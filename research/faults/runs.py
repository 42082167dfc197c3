"""Commands on a small table in a folder of their own, and what must hold when they have ended, however they did."""

import csv
import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

QUICK = ("-q", "--n-init", "1", "--set", "max_epochs=60")
STATE = ("--checkpoint", "state", "--set", "checkpoint_every=0")
"""A checkpoint after every step, so that a kill in the middle of training finds one."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "select": ("select", "t.csv", "-k", "3", "-o", "out", *QUICK),
    "checkpointed select": ("select", "t.csv", "-k", "3", "-o", "out", *QUICK, *STATE),
    "curve": ("curve", "t.csv", "-k", "2,4", "-o", "out", *QUICK),
    "compare": (
        "compare",
        "t.csv",
        "-k",
        "3",
        "-o",
        "out",
        "-q",
        "-m",
        "lscae,mcfs,variance,random",
        "--set",
        "max_epochs=60",
    ),
    "select in pieces": ("select", "t.npy", "-k", "3", "-o", "out", "--in-pieces", *QUICK),
}
ENDS = {".html": b"</html>", ".csv": b"\n"}


@dataclass
class Verdict:
    """What is wrong after a run; nothing if all is well."""

    inputs_changed: int = 0
    half_written: int = 0
    wrong_exit: int = 0
    notes: list[str] = field(default_factory=list)


def make_inputs(folder: Path) -> dict[str, str]:
    """Write the tables, and return their digests."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    X[:, 6:] = X[:, :6] + 0.3 * X[:, 6:]
    lines = [",".join(f"g{i}" for i in range(12)), *(",".join(map(repr, row)) for row in X.tolist())]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    np.save(folder / "t.npy", X)
    (folder / "out").mkdir()
    (folder / "out" / "notes.txt").write_text("the user's own\n")
    return digests(folder)


def digests(folder: Path) -> dict[str, str]:
    """Return the digests of the files that a run must leave alone."""
    own = [folder / "t.csv", folder / "t.npy", folder / "out" / "notes.txt"]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in own if path.exists()}


def start(command: Sequence[str], folder: Path) -> "subprocess.Popen[str]":
    """Start a command in a folder."""
    source = Path(__file__).parents[2] / "src"
    environment = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "tamis", *command],
        cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def check(folder: Path, before: dict[str, str], code: int, stderr: str, allowed: Sequence[int]) -> Verdict:
    """Look at what a run has left."""
    found = Verdict()
    if digests(folder) != before:
        found.inputs_changed += 1
        found.notes.append("an input changed")
    for path in (folder / "out").glob("*") if (folder / "out").is_dir() else ():
        fault = _fault(path)
        if fault:
            found.half_written += 1
            found.notes.append(f"{path.name}: {fault}")
    # A process that ends by the signal itself had not come to a line of tamis: what it says is the interpreter's.
    if code not in allowed or ("Traceback" in stderr and code >= 0):
        found.wrong_exit += 1
        found.notes.append(f"exit {code}: {stderr[-300:]}")
    return found


def _fault(path: Path) -> str | None:
    """Return why a file is not a whole one; hidden ones are unfinished, and count as absent."""
    if path.name.startswith(".") or path.name == "notes.txt":
        return None
    if path.suffix == ".tamis":
        import tamis

        try:
            tamis.load(path)
        except ValueError as error:
            return str(error)
        return None
    content = path.read_bytes()
    if path.suffix in ENDS and not content.endswith(ENDS[path.suffix]):
        return f"ends with {content[-20:]!r}"
    return None


def leftovers(folder: Path) -> list[str]:
    """Return the names of unfinished files."""
    return [path.name for path in folder.rglob(".tamis-*") if path.name != ".tamis-written"]


def picks(folder: Path) -> list[str]:
    """Return the features that ``select`` wrote."""
    with (folder / "out" / "selected.csv").open(newline="") as stream:
        return [row["feature"] for row in csv.DictReader(stream)]
