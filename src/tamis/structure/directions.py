"""The principal directions of structured features that exceed chance: what a selection has to explain."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from tamis.structure.sample import BLOCK, Indices

Real = TypeVar("Real", np.float32, np.float64)
Array = NDArray[np.float64]

SHUFFLED_TABLES = 2
"""Shuffled tables whose eigenvalues tell what chance reaches."""

POWER = 0.5
"""A direction counts by this power of its variance: by 1, many similar features would decide; by 0, weak directions
would count as much as those that most features show."""


@dataclass(frozen=True)
class Directions:
    """Directions ``F = Z[:, features] @ loadings`` of a standardised table Z.

    The variance of column c of F is ``λ_c ** POWER``, relative to their mean.
    """

    features: Indices
    loadings: Array

    def scores(self, Z: NDArray[Real]) -> NDArray[Real]:
        """Return the directions of the rows of a standardised table, in its precision."""
        return Z[:, self.features] @ self.loadings.astype(Z.dtype, copy=False)


def principal_directions(Z: Array, features: Indices, weights: Array, rng: np.random.Generator) -> Directions:
    """Compute the principal directions, above chance, of standardised features Z (n, m) at some positions of a table.

    With weights w and ``Y = Z diag(√w)`` the eigenvalues ``λ_1 ≥ λ_2 ≥ …`` of ``Y Yᵀ`` count up to the last before one
    does not exceed that of the same place of Y with the rows of every feature shuffled (parallel analysis, Horn 1965);
    the first one always counts. Features of small weight would be judged by the chance of others there. So a later one
    with eigenvector v counts, too, if ``λ > μ Σ_j w_j v_j²``, with μ the largest eigenvalue of ``Z Zᵀ`` shuffled: no
    combination of independent features reaches more. It is asked where m ≤ n.
    """
    if not len(features):
        return Directions(features, np.empty((0, 0)))
    roots = np.sqrt(weights)
    chance = np.mean([np.linalg.eigvalsh(_gram(Z, roots, rng)) for _ in range(SHUFFLED_TABLES)], axis=0)
    values, vectors = np.linalg.eigh(_gram(Z, roots))
    above = np.logical_and.accumulate((values > np.maximum(chance, 1e-9 * values[-1]))[::-1])[::-1]
    above[-1] = True
    if 2 < len(features) <= len(Z):
        largest = eigsh(_gram(Z, np.ones_like(roots), rng), 1, v0=roots, return_eigenvectors=False)
        above |= values > largest * (weights @ vectors**2)
    values, vectors = values[above][::-1], vectors.compress(above, axis=1)[:, ::-1]
    if len(Z) < len(features):
        vectors = roots[:, None] * (Z.T @ vectors) / np.sqrt(values)
    # F = Y V has the column variances λ/n; dividing by √λ and multiplying by λ^(POWER/2) leaves λ^POWER.
    scale = values ** (POWER / 2) / np.sqrt(values * np.mean(values**POWER) / len(Z))
    return Directions(features, roots[:, None] * vectors * scale)


def _gram(Z: Array, roots: Array, rng: np.random.Generator | None = None) -> Array:
    """Return the smaller one of ``Yᵀ Y`` and ``Y Yᵀ``, which share their positive eigenvalues; rng shuffles Y."""
    n, m = Z.shape
    gram, width = np.zeros((min(n, m),) * 2), m if m <= n else BLOCK
    for start in range(0, m, width):
        Y = Z[:, start : start + width] * roots[start : start + width]
        Y = Y if rng is None else rng.permuted(Y, axis=0)
        gram += Y.T @ Y if m <= n else Y @ Y.T
    return gram
