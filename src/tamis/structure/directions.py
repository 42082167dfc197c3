"""The principal directions of structured features that exceed chance: what a selection has to explain."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Real = TypeVar("Real", np.float32, np.float64)

SHUFFLES = 2
"""Shuffled tables whose eigenvalues tell what chance reaches."""

POWER = 0.5
"""A direction counts by this power of its variance: by 1, many similar features would decide; by 0, weak directions
would count as much as those that most features show."""

BLOCK = 4096
"""Features that are weighted, and shuffled, at a time where there are more than rows."""


@dataclass(frozen=True)
class Directions:
    """Directions ``F = Z[:, features] @ loadings`` of a standardised table Z.

    Attributes
    ----------
    features : ndarray of int, shape (m,)
        The structured features.
    loadings : ndarray of shape (m, r)
        What each contributes; the variance of column c of F is ``λ_c ** POWER``, relative to their mean.
    """

    features: NDArray[np.intp]
    loadings: NDArray[np.float64]

    def scores(self, Z: NDArray[Real]) -> NDArray[Real]:
        """Return the directions of the rows of a standardised table, in its precision."""
        return Z[:, self.features] @ self.loadings.astype(Z.dtype, copy=False)


def principal_directions(
    Z: NDArray[np.float64], features: NDArray[np.intp], weights: NDArray[np.float64], rng: np.random.Generator
) -> Directions:
    """Compute the principal directions of weighted features whose variance is more than chance gives.

    With ``Y = Z diag(√w)`` the eigenvalues ``λ_1 ≥ λ_2 ≥ …`` of ``Y Yᵀ`` count up to the last one before one does not
    exceed that of the same place of Y with the rows of every feature shuffled (parallel analysis, Horn 1965); the first
    one always counts.

    Parameters
    ----------
    Z : ndarray of shape (n, m)
        Standardised structured features.
    features : ndarray of int, shape (m,)
        Their positions in the table.
    weights : ndarray of shape (m,)
        How much each matters.
    rng : numpy.random.Generator
        Source of the shuffles.
    """
    if not len(features):
        return Directions(features, np.empty((0, 0)))
    roots = np.sqrt(weights)
    chance = np.mean([np.linalg.eigvalsh(_gram(Z, roots, rng)) for _ in range(SHUFFLES)], axis=0)
    values, vectors = np.linalg.eigh(_gram(Z, roots))
    above = values[::-1] > np.maximum(chance[::-1], 1e-9 * values[-1])
    n_above = max(1, int(np.logical_and.accumulate(above).sum()))
    values, vectors = values[::-1][:n_above], vectors[:, ::-1][:, :n_above]
    if len(Z) < len(features):
        vectors = roots[:, None] * (Z.T @ vectors) / np.sqrt(values)
    # F = Y V has the column variances λ/n; dividing by √λ and multiplying by λ^(POWER/2) leaves λ^POWER.
    scale = values ** (POWER / 2) / np.sqrt(values * np.mean(values**POWER) / len(Z))
    return Directions(features, roots[:, None] * vectors * scale)


def _gram(
    Z: NDArray[np.float64], roots: NDArray[np.float64], rng: np.random.Generator | None = None
) -> NDArray[np.float64]:
    """Return the smaller one of ``Yᵀ Y`` and ``Y Yᵀ``, which share their positive eigenvalues; rng shuffles Y."""
    n, m = Z.shape
    gram, width = np.zeros((min(n, m),) * 2), m if m <= n else BLOCK
    for start in range(0, m, width):
        Y = Z[:, start : start + width] * roots[start : start + width]
        Y = Y if rng is None else rng.permuted(Y, axis=0)
        gram += Y.T @ Y if m <= n else Y @ Y.T
    return gram
