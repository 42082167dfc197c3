"""Whole fits of LSCAE against the authors' package ``lscae``: same table, batch and epochs, in turns.

The peer runs fewer epochs, and its time is scaled linearly. Real sets are used where TAMIS_DATA names their folder.
"""

import contextlib
import io
import time
from pathlib import Path
from typing import Any

import numpy as np

from research.data import MissingDataError, find_file
from research.ledger import Row, Trial
from research.pages import Table, replace_parts
from research.speed.measure import Measure, machine
from tamis.synthetic import moons_with_copies

EPOCHS, BATCH, TURNS = 300, 64, 2
MOONS = "two moons, d = 15"
CASES = {
    MOONS: (2, 10), "Yale": (50, 10), "TOX-171": (100, 2), "pixraw10P": (250, 1), "COIL20": (100, 2), "mnist": (25, 1),
}  # fmt: skip
"""k, and how many epochs the peer runs."""

IN_README = (MOONS, "TOX-171", "pixraw10P")


def trials() -> list[Trial]:
    """Return the cases whose table is here."""
    return [{"case": case} for case in CASES if _is_here(case)]


def _is_here(case: str) -> bool:
    try:
        return case == MOONS or bool(find_file(_file(case)))
    except MissingDataError:
        return False


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Alternate whole fits of both; keep the ratios of the best times."""
    k, epochs = CASES[trial["case"]]
    X = _table(trial["case"])
    peer, same, default = [], [], []
    for _ in range(TURNS):
        peer.append(peer_seconds(X, k, epochs))
        same.append(fit_seconds(X, k, n_init=1, max_epochs=EPOCHS, batch_size=BATCH))
        default.append(fit_seconds(X, k))
    return {"k": k, "peer_epochs": epochs, "equal": min(peer) / min(same), "defaults": min(peer) / min(default)}


def _table(case: str) -> Any:
    if case == MOONS:
        return moons_with_copies(15, seed=0).X
    if case == "mnist":
        X = np.load(find_file(_file(case)))["X_train"][:10000].reshape(10000, -1).astype(float)
    else:
        from scipy.io import loadmat

        X = loadmat(find_file(_file(case)))["X"].astype(float)
    return X[:, np.ptp(X, axis=0) > 0]


def _file(case: str) -> str:
    return f"{case}.npz" if case == "mnist" else f"{case}.mat"


def fit_seconds(X: Any, k: int, **parameters: Any) -> float:
    """Time one fit of LSCAE in one process."""
    from tamis import LSCAE

    begun = time.process_time()
    LSCAE(k, **({"random_state": 0, "n_jobs": 1} | parameters)).fit(X)
    return time.process_time() - begun


def peer_seconds(X: Any, k: int, epochs: int) -> float:
    """Time the peer for some epochs, scaled to all of them."""
    import torch
    from lscae import Lscae

    settings = {"k_selected": k, "num_epochs": epochs, "batch_size": BATCH, "verbose": False}
    settings["laplacian_k"] = min(50, len(X) % BATCH or BATCH)
    scaled = torch.from_numpy((X - X.mean(axis=0)) / X.std(axis=0)).float()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(scaled), batch_size=BATCH, shuffle=True)
    with contextlib.redirect_stdout(io.StringIO()):
        model = Lscae(input_dim=X.shape[1], kwargs=settings)
        begun = time.process_time()
        model.select_features(loader)
    return (time.process_time() - begun) * EPOCHS / epochs


def write(rows: list[Row], docs: Path) -> list[Path]:
    """Write the table of the page, and three lines of the README."""
    lines = [
        [row["trial"]["case"], str(row["k"]), str(row["peer_epochs"]), f"{row['equal']:.0f} × faster",
         f"{row['defaults']:.0f} × faster"]
        for row in rows
    ]  # fmt: skip
    headings = ["table", "k", "epochs of the peer", "equal epochs, one restart", "defaults"]
    entries = [
        f"  - {row['trial']['case']}, k = {row['k']}: {row['equal']:.0f} × faster at equal epochs, "
        f"{row['defaults']:.0f} × with the defaults"
        for row in rows
        if row["trial"]["case"] in IN_README
    ]
    table = Table("peer", "Against the authors' package", headings, lines).markdown()
    parts = {"peer": table, "machine": f"Machine: {machine(rows)}, one thread."}
    page = replace_parts(docs / "performance.md", parts)
    return [page, replace_parts(docs.parent / "README.md", {"performance": "\n".join(entries)})]


MEASURE = Measure("peer", "whole fits against the authors' package", trials, work, write)
