"""Whole fits of LSCAE against the authors' package `lscae`: same data, batch, epochs and threads, in one run.

The two alternate. The peer runs fewer epochs, and its time is scaled linearly to the same number; the table says so.
Real sets are used where TAMIS_DATA names their folder.
"""

import contextlib
import io
import os
import time
from pathlib import Path

import numpy as np
import torch
from scipy.io import loadmat

from tamis import LSCAE
from tamis.synthetic import moons_with_copies

EPOCHS = 300
BATCH = 64
REPEATS = 2


def tables():
    """Yield a name, a z-scored table, k, and how many epochs the peer runs."""
    yield "two moons, d = 15", moons_with_copies(15, seed=0).X, 2, 10
    folder = os.environ.get("TAMIS_DATA")
    for name, k, epochs in [("Yale", 50, 10), ("TOX-171", 100, 2), ("pixraw10P", 250, 1)]:
        if folder and (Path(folder) / f"{name}.mat").exists():
            yield name, loadmat(Path(folder) / f"{name}.mat")["X"].astype(float), k, epochs


def peer_seconds(X, k, epochs):
    """Time the peer for some epochs, scaled to all of them."""
    from lscae import Lscae

    settings = {"k_selected": k, "num_epochs": epochs, "batch_size": BATCH, "verbose": False}
    settings["laplacian_k"] = min(50, len(X) % BATCH or BATCH)
    scaled = torch.from_numpy((X - X.mean(axis=0)) / X.std(axis=0)).float()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(scaled), batch_size=BATCH, shuffle=True)
    with contextlib.redirect_stdout(io.StringIO()):
        model = Lscae(input_dim=X.shape[1], kwargs=settings)
        start = time.perf_counter()
        model.select_features(loader)
    return (time.perf_counter() - start) * EPOCHS / epochs


def tamis_seconds(X, k, threads, **parameters):
    """Time a whole fit."""
    start = time.perf_counter()
    LSCAE(k, random_state=0, n_jobs=threads, **parameters).fit(X)
    return time.perf_counter() - start


def main():
    """Print one table of ratios."""
    threads = torch.get_num_threads()
    equal = {"max_epochs": EPOCHS, "batch_size": BATCH, "n_init": 1}
    print(f"LSCAE against lscae, {threads} thread(s), batch {BATCH}, {EPOCHS} epochs; peer's time scaled from fewer")
    print(f"{'table':<20}{'k':>5}{'peer epochs':>13}{'equal epochs':>14}{'defaults':>12}")
    for name, X, k, epochs in tables():
        X = X[:, np.ptp(X, axis=0) > 0]
        peer, same, default = [], [], []
        for _ in range(REPEATS):
            peer.append(peer_seconds(X, k, epochs))
            same.append(tamis_seconds(X, k, threads, **equal))
            default.append(tamis_seconds(X, k, threads))
        ratios = [f"{min(peer) / min(times):.0f} x" for times in (same, default)]
        print(f"{name:<20}{k:>5}{epochs:>13}{ratios[0]:>14}{ratios[1]:>12}", flush=True)


if __name__ == "__main__":
    main()
