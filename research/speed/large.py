"""Large tables with planted groups: what a default fit takes, in a process of its own, on one thread and on two.

The tables are made once and kept in ``build/speed``.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from research.ledger import Row, Trial
from research.pages import Table, replace_parts
from research.speed.growth import grouped_table
from research.speed.measure import Measure
from tamis.io.files import replacing

SCRATCH = Path(__file__).parents[2] / "build" / "speed"
CASES: dict[str, tuple[str, int, int, float, int]] = {
    "sparse 200 × 500,000": ("sparse", 200, 500_000, 0.001, 50),
    "sparse 2,000 × 1,000,000": ("sparse", 2000, 1_000_000, 0.001, 50),
    "sparse 21,332 × 24,408": ("sparse", 21_332, 24_408, 0.003, 300),
    "dense 300 × 1,000,000, on disk": ("npy", 300, 1_000_000, 1.0, 50),
    "Parquet 10,000,000 × 100, on disk": ("parquet", 10_000_000, 100, 1.0, 10),
}
"""Kind, rows, features, share of values that are not zero, and k."""

N_GROUPS, GROUP_SIZE, ROWS_AT_A_TIME = 20, 10, 250_000

SCRIPT = """
import json, pathlib, re, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
from threadpoolctl import threadpool_limits
path, k, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
import torch, tamis
from tamis.io.sources import open_source
if path.endswith(".npz"):
    from scipy.sparse import load_npz
    X = load_npz(path)
else:
    X = open_source(path)
begun, cpu = time.perf_counter(), time.process_time()
with threadpool_limits(threads):
    selector = tamis.LSCAE(k, random_state=0, n_jobs=threads).fit(X)
seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
peak = int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 2**20
print(json.dumps({"fit_seconds": round(seconds, 1), "cpu_seconds": round(cpu, 1), "peak_gib": round(peak, 2),
                  "selected": selector.selected_.tolist()}))
"""


def trials() -> list[Trial]:
    """Return a trial per table and number of threads."""
    return [{"case": case, "threads": threads} for case in CASES for threads in (1, 2)]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Make the table if it is not there, and fit it in a new process."""
    kind, n, d, density, k = CASES[trial["case"]]
    path = SCRATCH / f"{kind}-{n}-{d}.{'npz' if kind == 'sparse' else kind}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            MAKERS[kind](temporary, n, d, density)
    # Read first, so that the fit too finds the file in the cache of the disk.
    reading = _reading(kind, path)
    command = [sys.executable, "-c", SCRIPT, str(path), str(k), str(trial["threads"])]
    found: Row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    size = min(GROUP_SIZE, d // (2 * N_GROUPS))
    groups = {feature // size for feature in found.pop("selected") if feature < N_GROUPS * size}
    return found | {"k": k, "share_found": len(groups) / min(k, N_GROUPS)} | reading


def _make_sparse(path: Path, n: int, d: int, density: float) -> None:
    """Write counts of which every group of features is on in the rows of its own type."""
    from scipy.sparse import csr_matrix, hstack, save_npz

    rng = np.random.default_rng(0)
    m, types = N_GROUPS * GROUP_SIZE, rng.integers(N_GROUPS, size=n)
    rates = np.where(np.repeat(np.arange(N_GROUPS), GROUP_SIZE) == types[:, None], 0.8, 0.002)
    count = rng.poisson(density * n * (d - m))
    cells = (rng.random(count, dtype=np.float32), (rng.integers(n, size=count), rng.integers(d - m, size=count)))
    noise = csr_matrix(cells, shape=(n, d - m))
    with path.open("wb") as file:
        save_npz(file, hstack([csr_matrix((rng.random(rates.shape) < rates).astype(np.float32)), noise], format="csr"))


def _make_npy(path: Path, n: int, d: int, density: float) -> None:  # noqa: ARG001
    with path.open("wb") as file:
        np.save(file, grouped_table(n, d, seed=0, n_groups=N_GROUPS))


def _make_parquet(path: Path, n: int, d: int, density: float) -> None:  # noqa: ARG001
    """Write groups of as many features as there is room for, some rows at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for start in range(0, n, ROWS_AT_A_TIME):
        X = grouped_table(min(ROWS_AT_A_TIME, n - start), d, seed=start, n_groups=N_GROUPS)
        table = pa.table({f"x{j}": X[:, j] for j in range(d)})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


MAKERS: dict[str, Any] = {"sparse": _make_sparse, "npy": _make_npy, "parquet": _make_parquet}


def _reading(kind: str, path: Path) -> Row:
    """Time pyarrow's pass over a Parquet file, on one thread, the better of two."""
    if kind != "parquet":
        return {}
    import pyarrow.parquet as pq

    passes = []
    for _ in range(2):
        begun = time.perf_counter()
        for batch in pq.ParquetFile(path).iter_batches(use_threads=False):
            batch.num_rows  # noqa: B018
        passes.append(time.perf_counter() - begun)
    return {"pyarrow_seconds": round(min(passes), 1)}


def write(rows: list[Row], docs: Path) -> list[Path]:
    """Write the table of the page: peak memory, groups found, and two threads against one."""
    lines = []
    for case in CASES:
        found = {row["trial"]["threads"]: row for row in rows if row["trial"]["case"] == case}
        one, two = found.get(1), found.get(2)
        if one is None:
            continue
        gain = "–" if two is None else f"{one['fit_seconds'] / two['fit_seconds']:.2f} ×"
        reading = f"{one['fit_seconds'] / one['pyarrow_seconds']:.1f} × reading it" if "pyarrow_seconds" in one else "–"
        lines.append([case, str(one["k"]), f"{one['share_found']:.2f}", f"{one['peak_gib']:.1f}", gain, reading])
    headings = ["table", "k", "groups found", "peak, GiB", "two threads", "time"]
    table = Table("large", "Large tables", headings, lines)
    return [replace_parts(docs / "performance.md", {"large": table.markdown()})]


MEASURE = Measure("large", "default fits of large tables", trials, work, write)
