"""Fits that are killed at random moments must end as if nobody had disturbed them.

``tamis select --checkpoint`` is killed with ``kill -9`` again and again, then run to its end; and one of two workers of
``torchrun --max-restarts`` is killed as often. The picks and every number of the saved selector must equal those of
runs that nobody disturbed, and no unfinished file may remain.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from research.ledger import Row, Trial
from research.speed.measure import Measure, no_page

N_KILLS = 10
OPTIONS = ["-k", "4", "-q", "--set", "max_epochs=60", "--set", "batch_size=64", "--set", "checkpoint_every=0.2"]
ALONE = [sys.executable, "-m", "tamis"]
WRITTEN = {"features.csv", "report.html", "selected.csv", "selector.tamis", "moons-selected.npy", "result.json"}
COMPARED = ("selected_", "selection_probs_", "restart_objectives_", "scores_")
SILENT: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def trials() -> list[Trial]:
    """Return a fit by one process and one by two."""
    return [{"processes": n, "kills": N_KILLS, "seed": 0} for n in (1, 2)]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Kill, finish, and compare; ``differences`` is empty if all is well."""
    from tamis.synthetic import moons_with_copies

    alone, kills, rng = trial["processes"] == 1, trial["kills"], random.Random(trial["seed"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "moons.npy", moons_with_copies(60, seed=0, n_samples=2000).X)
        begun = time.monotonic()
        start = ALONE if alone else _together(0)
        subprocess.run(_command(start, folder, "whole", kept=False), check=True, **SILENT)
        longest = max(4.0, (time.monotonic() - begun) / 2)
        (_kill_alone if alone else _kill_workers)(folder, kills, rng, longest)
        return {"differences": _differences(folder)}


def _together(restarts: int) -> list[str]:
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return [*run, "--max-restarts", str(restarts), "-m", "tamis"]


def _command(start: list[str], folder: Path, name: str, kept: bool = True) -> list[str]:
    state = ["--checkpoint", str(folder / f"{name}-state")] if kept else []
    return [*start, "select", str(folder / "moons.npy"), "-o", str(folder / name), *OPTIONS, *state]


def _kill_alone(folder: Path, kills: int, rng: random.Random, longest: float) -> None:
    """Kill the one process, begin it anew, and so on; then let it finish."""
    for _ in range(kills):
        process = subprocess.Popen(_command(ALONE, folder, "killed"), **SILENT)
        time.sleep(rng.uniform(1, longest))
        process.kill()
        process.wait()
    subprocess.run(_command(ALONE, folder, "killed"), check=True, **SILENT)


def _kill_workers(folder: Path, kills: int, rng: random.Random, longest: float) -> None:
    """Kill one of the workers now and then, while torchrun starts them again, in as many fits as it takes."""
    killed = 0
    while killed < kills:
        for left in ("killed", "killed-state"):
            shutil.rmtree(folder / left, ignore_errors=True)
        process = subprocess.Popen(_command(_together(kills + 5), folder, "killed"), **SILENT)
        while process.poll() is None:
            time.sleep(rng.uniform(3, longest))
            if killed < kills and process.poll() is None and (workers := _children(process.pid)):
                os.kill(rng.choice(workers), signal.SIGKILL)
                killed += 1
        if process.returncode or _differences(folder):
            return


def _children(number: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{number}/task/{number}/children").read_text().split()]


def _differences(folder: Path) -> list[str]:
    """Return what differs from the undisturbed run, or was left behind."""
    import tamis

    found, right = (tamis.load(folder / entry / "selector.tamis") for entry in ("killed", "whole"))
    wrong = [name for name in COMPARED if not np.array_equal(getattr(found, name), getattr(right, name))]
    left = set(os.listdir(folder / "killed")) - WRITTEN
    return wrong + sorted(left | set(os.listdir(folder / "killed-state")) - {"fit.checkpoint"})


MEASURE = Measure("killed", "killed fits against undisturbed ones", trials, work, no_page)
