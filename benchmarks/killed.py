"""Kill fits at random moments and compare what they end with: ``python -m benchmarks.killed [--kills 10]``.

``tamis select --checkpoint`` is killed with ``kill -9`` again and again, then run to its end; and one of two workers of
``torchrun --max-restarts`` is killed as often. The picks and every number of the saved selector must equal those of
runs that nobody disturbed, and no unfinished file may remain.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import tamis
from tamis.synthetic import moons_with_copies

OPTIONS = ["-k", "4", "-q", "--set", "max_epochs=60", "--set", "batch_size=64", "--set", "checkpoint_every=0.2"]
ALONE = [sys.executable, "-m", "tamis"]
WRITTEN = {"features.csv", "report.html", "selected.csv", "selector.tamis", "moons-selected.npy"}


def together(restarts):
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return [*run, "--max-restarts", str(restarts), "-m", "tamis"]


def command(start, folder, name, kept=True):
    state = ["--checkpoint", str(folder / f"{name}-state")] if kept else []
    return [*start, "select", str(folder / "moons.npy"), "-o", str(folder / name), *OPTIONS, *state]


def start(arguments):
    return subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def children(number):
    return [int(word) for word in Path(f"/proc/{number}/task/{number}/children").read_text().split()]


def kill_alone(folder, kills, rng, longest):
    """Kill the one process, begin it anew, and so on; then let it finish."""
    for _ in range(kills):
        process = start(command(ALONE, folder, "alone"))
        time.sleep(rng.uniform(1, longest))
        process.kill()
        process.wait()
    subprocess.run(command(ALONE, folder, "alone"), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_workers(folder, kills, rng, longest):
    """Kill one of the workers now and then, while torchrun starts them again, in as many fits as it takes."""
    killed = 0
    while killed < kills:
        for left in ("together", "together-state"):
            shutil.rmtree(folder / left, ignore_errors=True)
        process = start(command(together(kills + 5), folder, "together"))
        while process.poll() is None:
            time.sleep(rng.uniform(3, longest))
            if killed < kills and process.poll() is None and (workers := children(process.pid)):
                os.kill(rng.choice(workers), signal.SIGKILL)
                killed += 1
        if process.returncode or differences(folder, "together", "together-whole"):
            return


def differences(folder, name, expected):
    """Tell what differs from the undisturbed run, or was left behind."""
    found, right = (tamis.load(folder / entry / "selector.tamis") for entry in (name, expected))
    wrong = [key for key in ("selected_", "selection_probs_", "restart_objectives_", "scores_")
             if not np.array_equal(getattr(found, key), getattr(right, key))]  # fmt: skip
    left = set(os.listdir(folder / name)) - WRITTEN | set(os.listdir(folder / f"{name}-state")) - {"fit.checkpoint"}
    return wrong + sorted(left)


def main(kills, seed):
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "moons.npy", moons_with_copies(60, seed=0, n_samples=2000).X)
        for label, begin, killer in (("alone", ALONE, kill_alone), ("together", together(0), kill_workers)):
            begun = time.monotonic()
            subprocess.run(command(begin, folder, f"{label}-whole", kept=False), check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)  # fmt: skip
            seconds = time.monotonic() - begun
            killer(folder, kills, rng, max(4.0, seconds / 2))
            wrong = differences(folder, label, f"{label}-whole")
            print(f"{label}: killed {kills} time(s); {'equal in every bit' if not wrong else f'differs in {wrong}'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    main(options.kills, options.seed)
