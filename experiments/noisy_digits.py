"""Noisy MNIST as in the paper: one uniform noise pattern, switched on pixel by pixel with probability 0.2.

Run: TAMIS_DATA=... python -m experiments.noisy_digits
"""

import sys
import time
from functools import cache
from itertools import product
from typing import Any

import numpy as np

import tamis
from experiments import ledger
from experiments.real_data import folder
from tamis.metrics import kmeans_accuracies

METHODS = ["LSCAE", "CAE", "ConcreteLaplacian", "RandomSubset"]


@cache
def digits(noisy: bool, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Give training images, their labels, test images and theirs; pixels scaled to 0…1."""
    stored = np.load(folder() / "mnist.npz")
    tables = [stored["X_train"].astype(np.float32), stored["X_test"].astype(np.float32)]
    if noisy:
        rng = np.random.default_rng(seed)
        pattern = rng.integers(0, 256, size=784).astype(np.float32)
        tables = [np.clip(X + pattern * (rng.random(X.shape) < 0.2), 0, 255) for X in tables]
    return tables[0] / 255, stored["y_train"], tables[1] / 255, stored["y_test"]


def work(noisy: bool, method: str, k: int, seed: int, **parameters: Any) -> dict[str, Any]:
    """Select on the training images, cluster them ten ways, and score the test images."""
    X, labels, X_test, labels_test = digits(noisy, seed)
    start = time.perf_counter()
    selector = getattr(tamis, method)(k, random_state=seed, **parameters).fit(X)
    seconds = time.perf_counter() - start
    chosen = selector.support_
    accuracies = kmeans_accuracies(
        X[:, chosen], labels, n_runs=5, random_state=0, X_test=X_test[:, chosen], labels_test=labels_test
    )
    return {
        "accuracy": round(float(accuracies.mean()), 5),
        "verdict": getattr(selector, "convergence_", None),
        "seconds": round(seconds, 2),
        "selected": selector.selected_.tolist(),
    }


def main() -> None:
    """Run what is missing and print the rows."""
    kinds = [kind == "noisy" for kind in sys.argv[1:]] or [True, False]
    trials = [
        {"noisy": noisy, "method": method, "k": k, "seed": seed}
        for noisy, seed, k, method in product(kinds, range(3), [5, 10, 15, 20, 25], METHODS)
    ]
    for row in ledger.run("noisy_digits", trials, work):
        print(*row["trial"].values(), row["accuracy"], row["seconds"], flush=True)


if __name__ == "__main__":
    main()
