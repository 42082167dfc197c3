"""The published rows of FSEVAL: a CSV file per method, metric and scale in ``fseval/`` of the data folder."""

import csv
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from research.data import find_file

METHODS = ("Random", "Variance", "Laplacian", "Correlation", "MCFS", "SCFS", "VCSDFS", "LIDFS")
REFERENCE = "Random"
METRICS = {"CLSACC": "k-means accuracy", "ACC": "classifier accuracy"}

Curves = dict[str, NDArray[np.float64]]
"""Values of every set, of shape (n_repeats, n_sizes)."""


def read_curves(method: str, metric: str, scale: str = "10Percent") -> Curves:
    """Read the rows of a method; a stochastic one has several per set."""
    path = find_file(f"fseval/{method}_{metric}_{scale}.csv")
    curves: dict[str, list[Sequence[float]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for name, *values in list(csv.reader(file))[1:]:
            curves.setdefault(name, []).append([float(value) for value in values])
    return {name: np.array(rows) for name, rows in curves.items()}


def sizes(scale: str = "10Percent") -> list[float]:
    """Read the shares of the features that are selected."""
    path = find_file(f"fseval/{REFERENCE}_ACC_{scale}.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return [float(share) for share in next(csv.reader(file))[1:]]


def broken_sets(method: str) -> set[str]:
    """Return the sets whose published clusterings of all features share nothing with the labels (NMI of 0).

    All methods select the same features there, so a value of 0 is a fault of the rows and not of the method.
    """
    return {name for name, rows in read_curves(method, "NMI", "100Percent").items() if (rows[:, -1] == 0).all()}
