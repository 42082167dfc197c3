"""The authors' package `lscae` as a peer: the tables it is timed on, and its time for a whole fit.

The peer runs fewer epochs, and its time is scaled linearly. Real sets are used where TAMIS_DATA names their folder.
"""

import contextlib
import io
import os
import time
from pathlib import Path

import torch
from scipy.io import loadmat

from tamis.synthetic import moons_with_copies

EPOCHS = 300
BATCH = 64


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
