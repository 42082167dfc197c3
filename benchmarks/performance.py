"""Speed and memory of LSCAE: against the authors' package, against its own matrix products, growth, and peak memory.

Run: python -m benchmarks.performance          (measures what is missing, then writes and prints docs/performance.md)
     python -m benchmarks.performance anew      (measures all of it again, but for peers on data sets that are not here)
     python -m benchmarks.performance page      (writes and prints the page only)

Every measurement is appended to docs/performance/results.jsonl as it ends; delete a line to measure it again.
"""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.peer import EPOCHS, peer_seconds, tables
from benchmarks.performance_page import write
from tamis import LSCAE
from tamis.neural.screening import Screening

DOCS = Path(__file__).parent.parent / "docs"
RESULTS = DOCS / "performance" / "results.jsonl"
ONE_FIT = {"n_init": 1, "random_state": 0, "n_jobs": 1}
GROWTH = {
    "d": [(1000, d, 100) for d in (2500, 5000, 10000, 20000, 40000)],
    "n": [(n, 500, 20) for n in (1000, 4000, 16000, 64000)],
    "k": [(1000, 5000, k) for k in (25, 50, 100, 200, 400)],
}
MEMORY = {
    "56 × 25,683, k = 300": ("dense", 56, 25683, 300, {}),
    "sparse 21,332 × 24,408 (0.3 % nonzero), k = 300, one epoch, batch 512": (
        "sparse",
        21332,
        24408,
        300,
        {"max_epochs": 1, "batch_size": 512},
    ),
    "500 × 200,000, k = 100": ("dense", 500, 200000, 100, {}),
}
MEASURE_MEMORY = """
import pathlib, re, sys, time, json
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
start = time.perf_counter()
LSCAE(k, random_state=0, n_init=1, **parameters).fit(X)
print(json.dumps({"above": peak() - idle, "peak": peak(), "seconds": time.perf_counter() - start}))
"""


def main(arguments: list[str]) -> None:
    """Measure what is missing and write the page."""
    if arguments == ["anew"]:
        _forget()
    if arguments != ["page"]:
        torch.set_num_threads(1)
        for name, measure in {"peer": _peer, "step": _step, "growth": _growth, "memory": _memory}.items():
            measure(name)
    print(write(_rows()))


def _forget() -> None:
    """Drop the rows of everything that can be measured here."""
    here = {name for name, *_ in tables()}
    kept = [row for row in _rows() if row["what"] == "peer" and row["case"] not in here]
    RESULTS.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept))


def _rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def _keep(what: str, case: str, **values: Any) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    machine = (
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, torch {torch.__version__}"
    )
    row = {"what": what, "case": case, **values, "machine": machine}
    with RESULTS.open("a") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(row, flush=True)


def _missing(what: str, case: str) -> bool:
    return not any(row["what"] == what and row["case"] == case for row in _rows())


def _fit_seconds(X: Any, k: int, **parameters: Any) -> float:
    start = time.perf_counter()
    LSCAE(k, **(ONE_FIT | parameters)).fit(X)
    return time.perf_counter() - start


def _peer(what: str) -> None:
    """Alternate whole fits of tamis and of the peer; the peer runs few epochs, scaled linearly."""
    for name, X, k, epochs in tables():
        X = X[:, np.ptp(X, axis=0) > 0]
        if not _missing(what, name):
            continue
        peer, same, default = [], [], []
        for _ in range(2):
            peer.append(peer_seconds(X, k, epochs))
            same.append(_fit_seconds(X, k, max_epochs=EPOCHS, batch_size=64))
            default.append(_fit_seconds(X, k, n_init="auto"))
        _keep(what, name, k=k, peer_epochs=epochs, equal=min(peer) / min(same), defaults=min(peer) / min(default))


def _seconds(*products: tuple[torch.Tensor, torch.Tensor]) -> float:
    """Time some matrix products, the best of several times."""
    times = []
    for _ in range(20):
        start = time.perf_counter()
        for left, right in products:
            left @ right
        times.append(time.perf_counter() - start)
    return min(times)


def _plain_products(rows: int, d: int, k: int) -> float:
    """Time the matrix products of a plain step: codes ``X Zᵀ`` and the gradient by Z."""
    x, z, g = torch.randn(rows, d), torch.rand(k, d), torch.randn(rows, k)
    return _seconds((x, z.T), (g.T, x))


def _own_products(rows: int, k: int) -> float:
    """Time those of a step on screened columns: Gram matrix, decoding by the graph, and the gradient by the gates."""
    x, p = torch.randn(rows, Screening().per_unit * k), torch.rand(rows, rows)
    return _seconds((x, x.T), (p, p), (p, x))


def _step(what: str) -> None:
    """Relate a mean step of a whole fit, screening and all, to the matrix products of a plain step and to its own."""
    case = "k = 300, d = 25,000, batch 64"
    if _missing(what, case):
        X = np.random.default_rng(0).standard_normal((64, 25000)).astype(np.float32)
        short, long = (_best_fit(X, e) for e in (20, 320))
        few, more = (_best_fit(X, e, screening=False, narrowing=False) for e in (4, 34))
        plain, own, step = _plain_products(64, 25000, 300), _own_products(64, 300), (long - short) / 300
        ratios = {"step": step / plain, "whole": long / 320 / plain, "own": step / own}
        _keep(what, case, **ratios, unscreened=(more - few) / 30 / plain)


def _best_fit(X: Any, epochs: int, **parameters: Any) -> float:
    return min(_fit_seconds(X, 300, max_epochs=epochs, check_stability=False, **parameters) for _ in range(2))


def _growth(what: str) -> None:
    for axis, sizes in GROWTH.items():
        for n, d, k in sizes:
            case = f"{axis}: {n} × {d}, k = {k}"
            if _missing(what, case):
                X = np.random.default_rng(0).standard_normal((n, d)).astype(np.float32)
                epochs = 20 if axis == "n" else 50
                _keep(what, case, axis=axis, n=n, d=d, k=k, seconds=_fit_seconds(X, k, max_epochs=epochs))


def _memory(what: str) -> None:
    for case, arguments in MEMORY.items():
        if _missing(what, case):
            command = [sys.executable, "-W", "ignore", "-c", MEASURE_MEMORY, json.dumps(arguments)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
            _keep(what, case, **json.loads(done.stdout))


if __name__ == "__main__":
    main(sys.argv[1:])
