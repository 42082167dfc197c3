"""Fits of a Dask array by one worker and by two, on one machine; its chunks are made by the workers, never gathered."""

import json
import subprocess
import sys
from pathlib import Path

from research.ledger import Row, Trial
from research.pages import Rows, Table, replace_parts, select_rows
from research.speed.measure import Measure

CHUNKS, CHUNK_ROWS, N_FEATURES = 320, 50_000, 100
METHODS = ("structure-pursuit", "lscae")

SCRIPT = """
import json, sys, time, warnings
import dask, dask.array as da, numpy as np
from dask.distributed import Client, LocalCluster
from tamis import SELECTORS

def chunk(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, :20] += np.repeat(rng.standard_normal((n, 5)), 4, axis=1)
    return X

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    workers, chunks, n, d = map(int, sys.argv[2:])
    dask.config.set({"distributed.comm.timeouts.connect": "60s"})
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        parts = [da.from_delayed(dask.delayed(chunk)(i, n, d), (n, d), float) for i in range(chunks)]
        X, begun = da.concatenate(parts), time.perf_counter()
        selector = SELECTORS[sys.argv[1]](5, random_state=0).fit(X)
        seconds = time.perf_counter() - begun
    groups = {feature // 4 for feature in selector.selected_ if feature < 20}
    print(json.dumps({"fit_seconds": round(seconds, 2), "shape": X.shape, "groups": len(groups)}))
"""


def trials() -> list[Trial]:
    """Return a trial per method and number of workers."""
    return [{"method": method, "workers": workers} for method in METHODS for workers in (1, 2)]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Fit in a new process with its own cluster."""
    sizes = map(str, (trial["workers"], CHUNKS, CHUNK_ROWS, N_FEATURES))
    command = [sys.executable, "-c", SCRIPT, trial["method"], *sizes]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])


def table(rows: Rows) -> Table:
    """Return how many times faster two workers are."""
    lines = []
    for method in METHODS:
        one, two = (select_rows(rows, method=method, workers=workers)[-1] for workers in (1, 2))
        lines.append([f"`{method}`", f"{one['fit_seconds'] / two['fit_seconds']:.2f} ×"])
    return Table("dask", "Workers of Dask", ["method", "two workers, against one"], lines)


def write(rows: list[Row], docs: Path) -> list[Path]:
    """Write the table of docs/performance.md."""
    n, d = rows[-1]["shape"]
    about = f"A Dask array of {n:,} × {d}, k = 5:"
    return [replace_parts(docs / "performance.md", {"dask": f"{about}\n\n{table(rows).markdown()}"})]


MEASURE = Measure("dask", "one worker of Dask against two", trials, work, write)
