"""The real tables that score, and never choose, a configuration. TAMIS_DATA names the folder they are in."""

import os
from functools import cache
from pathlib import Path

import numpy as np
from scipy.io import loadmat
from scipy.sparse import load_npz

MAT = ["Yale", "TOX-171", "Prostate-GE", "ALLAML", "pixraw10P", "COIL20"]
COUNTS = ["pollen", "goolam"]
NAMES = MAT + COUNTS


def folder() -> Path:
    """Give the folder with the data, or say how to name it."""
    place = os.environ.get("TAMIS_DATA")
    if not place or not Path(place).is_dir():
        raise SystemExit("Set TAMIS_DATA to the folder that holds the data sets (Yale.mat, pollen_counts.npz, ...).")
    return Path(place)


@cache
def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Give a table without its constant columns (counts log1p-ed), z-scored, and its labels."""
    if name in COUNTS:
        path = folder() / f"{name}_counts.npz"
        X = np.log1p(load_npz(path).toarray().astype(float))
        labels = np.load(path, allow_pickle=False)["y"]
    else:
        stored = loadmat(folder() / f"{name}.mat")
        X, labels = stored["X"].astype(float), stored["Y"].ravel()
    X = X[:, np.ptp(X, axis=0) > 0]
    return ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32), labels
