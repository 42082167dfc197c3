"""One fit over two processes against one: the time per epoch, and J of the picks.

J is compared for one process with batches of b rows and two with b/2 each, on two moons and, where TAMIS_DATA names its
folder, TOX-171; its ruler is that of a fit with nothing left to choose.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from research.data import MissingDataError, find_file
from research.ledger import Row, Trial
from research.pages import Rows, Table, replace_parts, select_rows
from research.speed.measure import Measure

SEEDS = range(5)
CASES = {"two moons": (2, 256), "TOX-171": (50, 172)}
"""k, and the batch of one process."""

SPEED_K, SPEED_BATCH = 40, 512


def trials() -> list[Trial]:
    """Return fits by one and two processes, for time and for J."""
    speed = [{"what": "speed", "processes": n} for n in (1, 2)]
    cases = [case for case in CASES if case == "two moons" or _is_here("TOX-171.mat")]
    return speed + [
        {"what": "J", "case": case, "processes": n, "seed": seed} for case in cases for seed in SEEDS for n in (1, 2)
    ]


def _is_here(name: str) -> bool:
    try:
        return bool(find_file(name))
    except MissingDataError:
        return False


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Fit in a group of processes."""
    n = trial["processes"]
    if trial["what"] == "speed":
        settings = {"n_features_to_select": SPEED_K, "random_state": 0, "n_init": 1, "max_epochs": 4}
        X = _large_table()
        return {"shape": list(X.shape)} | _fit(X, settings | {"batch_size": SPEED_BATCH // n}, n)
    X, (k, batch) = _table(trial["case"]), CASES[trial["case"]]
    settings = {"n_features_to_select": k, "random_state": trial["seed"], "batch_size": batch // n, "n_init": 1}
    picks = _fit(X, settings, n)["picks"]
    return {"J": objective(X, picks, batch), "k": k, "batch": batch}


def _large_table() -> Any:
    from tamis.synthetic import blobs_with_copies

    return blobs_with_copies(1500, seed=0, n_samples=6000, n_informative=10, n_copies=4).X.astype(np.float32)


def _table(case: str) -> Any:
    if case == "two moons":
        from tamis.synthetic import moons_with_copies

        return moons_with_copies(15, seed=0).X
    from scipy.io import loadmat

    return loadmat(find_file(f"{case}.mat"))["X"].astype(np.float64)


def objective(X: Any, picks: list[int], batch: int) -> float:
    """Compute J of some picks: that of a fit with nothing left to choose."""
    from tamis import LSCAE

    return float(LSCAE(len(picks), must_keep=picks, batch_size=batch, random_state=0).fit(X).objective_)


def _fit(X: Any, settings: dict[str, Any], n_processes: int) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, X)
        run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(n_processes)]
        command = [*run, "-m", "research.speed.processes", str(path), json.dumps(settings)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def _worker(path: str, settings: dict[str, Any]) -> None:
    """Fit in the group that torchrun has made; the first process prints picks and median times of epochs."""
    from tamis import LSCAE
    from tamis.cli.processes import is_first, together

    X, clock, cpu = np.load(path), [], []
    with together():

        def note(_: Any) -> None:
            clock.append(time.perf_counter())
            cpu.append(time.process_time())

        selector = LSCAE(**settings, callbacks=[note]).fit(X)
    if is_first():
        medians = {name: float(np.median(np.diff(times))) if len(times) > 1 else 0.0
                   for name, times in (("epoch", clock), ("cpu", cpu))}  # fmt: skip
        print(json.dumps({"picks": selector.selected_.tolist(), **medians}))


def write(rows: list[Row], docs: Path) -> list[Path]:
    """Write both tables."""
    if not select_rows(rows, what="speed", processes=2):
        return []
    return [replace_parts(docs / "out-of-core.md", {"processes": f"{_speed(rows)}\n\n{_objectives(rows).markdown()}"})]


def _speed(rows: Rows) -> str:
    found = {n: select_rows(rows, what="speed", processes=n)[-1] for n in (1, 2)}
    lines = [
        [str(n), *(f"{found[1][name] / row[name]:.2f} ×" for name in ("epoch", "cpu"))] for n, row in found.items()
    ]
    n_rows, d = found[1]["shape"]
    head = f"Speed of an epoch, {n_rows:,} × {d:,}, k = {SPEED_K}, {SPEED_BATCH} rows a step, one thread a process:"
    table = Table("processes", head, ["processes", "by the clock", "by the CPU time of a process"], lines)
    return f"{head}\n\n{table.markdown()}"


def _objectives(rows: Rows) -> Table:
    lines = []
    for case in CASES:
        one, two = (select_rows(rows, what="J", case=case, processes=n) for n in (1, 2))
        if one and two:
            first, second = ([row["J"] for row in some] for some in (one, two))
            words = [f"{np.mean(values):.4f} ± {np.std(values):.4f}" for values in (first, second)]
            change = 100 * (np.mean(second) - np.mean(first)) / abs(np.mean(first))
            lines.append([case, str(one[0]["k"]), str(one[0]["batch"]), *words, f"{change:.1f} %"])
    headings = ["table", "k", "rows a step", "J, one process", "J, two", "difference"]
    return Table("objectives", "J by one and two processes", headings, lines)


MEASURE = Measure("processes", "one fit over two processes against one", trials, work, write)

if __name__ == "__main__":
    _worker(sys.argv[1], json.loads(sys.argv[2]))
