"""The real tables that score, and never choose, a configuration. TAMIS_DATA names the folder they are in."""

import os
from functools import cache
from pathlib import Path

import numpy as np

from tamis.paper import datasets

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
    with datasets.using_folder(folder()):
        X, labels = datasets.load(name)
    return datasets.z_scores(X), labels
