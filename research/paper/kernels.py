"""The dense graph of the paper: Gaussian kernel, its Laplacians, and the second leading eigenvector."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.metrics import euclidean_distances

Array = NDArray[np.float64]


class SecondPair(NamedTuple):
    """Second leading eigenvalue and eigenvector."""

    value: float
    vector: Array


def gaussian_kernel(X: Array) -> Array:
    """Return ``W_il = exp(−‖x_i − x_l‖² / 2σ²)``; σ is the largest distance of any row to its nearest other row."""
    squares = euclidean_distances(X, squared=True)
    others = squares.copy()
    np.fill_diagonal(others, np.inf)
    nearest = others.min(axis=1).max()
    return np.exp(-squares / (2 * nearest))


def diffusion_operator(kernel: Array) -> Array:
    """Return ``P = D⁻¹ W``, whose rows sum up to one."""
    return kernel / kernel.sum(axis=1, keepdims=True)


def second_diffusion_pair(kernel: Array) -> SecondPair:
    """Return the second largest eigenvalue of ``D⁻¹ W`` and its eigenvector, of length one.

    It is found from ``D^(−1/2) W D^(−1/2)``, which is symmetric and has the same eigenvalues.
    """
    root = 1 / np.sqrt(kernel.sum(axis=1))
    n = len(kernel)
    values, vectors = eigh(root[:, None] * kernel * root, subset_by_index=[n - 2, n - 1])
    vector = root * vectors[:, 0]
    return SecondPair(float(values[0]), vector / np.linalg.norm(vector))


def algebraic_connectivity(kernel: Array) -> float:
    """Return the second smallest eigenvalue of ``D − W``, the Fiedler number."""
    laplacian = np.diag(kernel.sum(axis=1)) - kernel
    return float(eigh(laplacian, subset_by_index=[1, 1], eigvals_only=True)[0])


def contributions(X: Array, kernel: Array) -> Array:
    """Return ``fᵀ P f`` of every feature f, centred and of length one."""
    F = X - X.mean(axis=0)
    F = F / np.linalg.norm(F, axis=0)
    return np.einsum("ij,ij->j", F, diffusion_operator(kernel) @ F)
