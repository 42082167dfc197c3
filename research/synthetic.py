"""Tables of the paper that only its experiments need."""

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_moons

from tamis.synthetic import PlantedTable


def moons_with_uniform(n_nuisance: int, seed: int, *, n_samples: int = 1200, noise: float = 0.05) -> PlantedTable:
    """Make the paper's motivating table: two moons and iid uniform(0, 1) nuisance features, no copies."""
    rng = np.random.default_rng(seed)
    moons, labels = make_moons(n_samples, noise=noise, random_state=seed)
    nuisance = rng.uniform(size=(n_samples, n_nuisance))
    names = ["moon_x", "moon_y"] + [f"nuisance_{i}" for i in range(n_nuisance)]
    return PlantedTable(np.hstack([moons, nuisance]), names, np.array([0, 1] + [-1] * n_nuisance), labels)


def point_clusters(
    n_nuisance: int, seed: int, *, distance: float = 1.0, n_samples: int = 100, spread: float = 0.5
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Make the paper's case study: two clusters of equal points at 0 and ``distance``, and N(0, spread²) features.

    Returns the table, whose first feature separates the clusters, and the cluster of each row.
    """
    labels = np.repeat([0, 1], [n_samples - n_samples // 2, n_samples // 2])
    nuisance = spread * np.random.default_rng(seed).standard_normal((n_samples, n_nuisance))
    return np.hstack([distance * labels[:, None], nuisance]), labels
