"""One fit over two processes against one: ``python -m benchmarks.processes`` measures and writes docs/out-of-core.md.

First the time per epoch on a table large enough, one thread each. Then J of the picks, mean over seeds: one process
with batches of b rows, and two with b/2 each, on two moons and, where TAMIS_DATA names its folder, TOX-171.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.marked import put_between_marks

DOCS = Path(__file__).parent.parent / "docs"
SEEDS = range(5)


def tables():
    """Yield a name, a table, k and the batch of one process."""
    from scipy.io import loadmat

    from tamis.synthetic import moons_with_copies

    yield "two moons", moons_with_copies(15, seed=0).X, 2, 256
    path = Path(os.environ.get("TAMIS_DATA", ".")) / "TOX-171.mat"
    if path.exists():
        yield "TOX-171", loadmat(path)["X"].astype(np.float64), 50, 172


def worker(path, parameters):
    """Fit in the group that torchrun has made; the first process prints picks and times."""
    from tamis import LSCAE
    from tamis.cli.processes import is_first, together

    X, told, used = np.load(path), [], []
    with together():

        def note(_):
            told.append(time.perf_counter())
            used.append(time.process_time())

        selector = LSCAE(**parameters, callbacks=note).fit(X)
    if is_first():
        epochs, cpu = np.diff(told), np.diff(used)
        print(json.dumps({"picks": selector.selected_.tolist(), "epoch": float(np.median(epochs)) if len(epochs) else 0,
                          "cpu": float(np.median(cpu)) if len(cpu) else 0}))  # fmt: skip


def objective(X, picks, batch):
    """Give J of some picks: that of a fit with nothing left to choose, the same ruler for all."""
    from tamis import LSCAE

    return LSCAE(len(picks), must_keep=picks, batch_size=batch, random_state=0).fit(X).objective_


def fit(path, parameters, n_processes):
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(n_processes)]
    arguments = ["-m", "benchmarks.processes", "--worker", str(path), "--parameters", json.dumps(parameters)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run([*run, *arguments], env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def objectives(folder):
    """Compare J for one and two processes; give the lines of a table."""
    lines = ["| table | k | rows a step | J, one process | J, two | difference |", "|---|---|---|---|---|---|"]
    for name, X, k, batch in tables():
        np.save(folder / "table.npy", X)
        found = {1: [], 2: []}
        for seed in SEEDS:
            for n in found:
                parameters = {"n_features_to_select": k, "random_state": seed, "batch_size": batch // n, "n_init": 1}
                found[n].append(objective(X, fit(folder / "table.npy", parameters, n)["picks"], batch))
        means = {n: np.mean(values) for n, values in found.items()}
        words = [f"{means[n]:.4f} ± {np.std(found[n]):.4f}" for n in found]
        change = 100 * (means[2] - means[1]) / abs(means[1])
        lines.append(f"| {name} | {k} | {batch} | {words[0]} | {words[1]} | {change:.1f} % |")
        print(lines[-1], flush=True)
    return lines


def times(folder):
    """Compare the time per epoch for one and two processes; give the lines of a table."""
    from tamis.synthetic import blobs_with_copies

    table = blobs_with_copies(1500, seed=0, n_samples=6000, n_informative=10, n_copies=4)
    np.save(folder / "large.npy", table.X.astype(np.float32))
    shared = {"n_features_to_select": 40, "random_state": 0, "n_init": 1, "max_epochs": 4, "narrowing": False}
    found = {n: fit(folder / "large.npy", shared | {"batch_size": 512 // n}, n) for n in (1, 2)}
    rows, columns = table.X.shape
    lines = [f"Speed of an epoch, {rows:,} × {columns:,}, k = 40, 512 rows a step, one thread a process:", ""]
    lines += ["| processes | by the clock | by the CPU time of a process |", "|---|---|---|"]
    for n, entry in found.items():
        ratios = [found[1][name] / entry[name] for name in ("epoch", "cpu")]
        lines.append(f"| {n} | {ratios[0]:.2f} × | {ratios[1]:.2f} × |")
        print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", type=Path)
    parser.add_argument("--parameters", type=json.loads)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.parameters)
    else:
        with tempfile.TemporaryDirectory() as name:
            measured = [*times(Path(name)), "", *objectives(Path(name))]
        put_between_marks(DOCS / "out-of-core.md", "processes", measured)
