"""Clustering accuracy on real sets at fixed k: LSCAE against its ablations, the Laplacian score and random columns.

Run: TAMIS_DATA=... python -m experiments.real_sets [set ...]
"""

import sys
import time
from itertools import product
from typing import Any

import numpy as np

import tamis
from experiments import ledger
from experiments.real_data import NAMES, load
from tamis.metrics import kmeans_accuracies

METHODS = ["LSCAE", "CAE", "ConcreteLaplacian", "LaplacianScore", "RandomSubset"]
SEEDLESS = {"LaplacianScore"}


def work(data: str, method: str, k: int, seed: int) -> dict[str, Any]:
    """Fit one selector and cluster twenty times on the columns it selects."""
    X, labels = load(data)
    start = time.perf_counter()
    seeded = {} if method in SEEDLESS else {"random_state": seed}
    selector = getattr(tamis, method)(k, **seeded).fit(X)
    seconds = time.perf_counter() - start
    accuracies = kmeans_accuracies(X[:, selector.support_], labels, n_runs=20, random_state=0)
    return {
        "accuracy": round(float(accuracies.mean()), 5),
        "objective": getattr(selector, "objective_", None),
        "steps": getattr(selector, "diffusion_steps_", None),
        "verdict": getattr(selector, "convergence_", None),
        "seconds": round(seconds, 2),
        "selected": np.flatnonzero(selector.support_).tolist(),
    }


def main() -> None:
    """Run what is missing and print the rows."""
    names = sys.argv[1:] or NAMES
    trials = [
        {"data": data, "method": method, "k": k, "seed": seed}
        for k, data, seed, method in product([50, 100, 200, 300], names, range(3), METHODS)
        if not (method in SEEDLESS and seed)
    ]
    for row in ledger.run("real_sets", trials, work):
        print(*row["trial"].values(), row["accuracy"], row["seconds"], flush=True)


if __name__ == "__main__":
    main()
