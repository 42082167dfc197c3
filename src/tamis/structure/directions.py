"""The principal directions of structured features that exceed chance: what a selection has to explain."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SHUFFLES = 2
"""Shuffled tables whose largest eigenvalues tell what chance reaches."""

POWER = 0.5
"""A direction counts by this power of its variance: by 1, many similar features would decide; by 0, weak directions
would count as much as those that most features show."""


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

    @property
    def n_directions(self) -> int:
        """Number of directions above chance."""
        return self.loadings.shape[1]

    @classmethod
    def none(cls) -> "Directions":
        """Return no directions of no features."""
        return cls(np.empty(0, np.intp), np.empty((0, 0)))

    def scores(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the directions of the rows of a standardised table."""
        return Z[:, self.features] @ self.loadings


def principal_directions(
    Z: NDArray[np.float64], features: NDArray[np.intp], weights: NDArray[np.float64], rng: np.random.Generator
) -> Directions:
    """Compute the principal directions of weighted features whose variance is more than chance gives.

    With ``Y = Z diag(√w)`` the eigenvalues λ of ``Y Yᵀ`` count that exceed the largest one of Y with the rows of
    every feature shuffled; the first one always counts.

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
        return Directions.none()
    Y = Z * np.sqrt(weights)
    values, vectors = _spectrum(Y)
    chance = np.mean([_spectrum(rng.permuted(Y, axis=0))[0][0] for _ in range(SHUFFLES)])
    n_above = max(1, int((values > chance).sum()))
    values, vectors = values[:n_above], vectors[:, :n_above]
    # F = Y V has the column variances λ/n; dividing by √λ and multiplying by λ^(POWER/2) leaves λ^POWER.
    scale = values ** (POWER / 2) / np.sqrt(values * np.mean(values**POWER) / len(Z))
    return Directions(features, np.sqrt(weights)[:, None] * vectors * scale)


def _spectrum(Y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the positive eigenvalues of ``Yᵀ Y``, largest first, and its eigenvectors, by the smaller Gram matrix."""
    n, m = Y.shape
    values, vectors = np.linalg.eigh(Y.T @ Y if m <= n else Y @ Y.T)
    positive = values > 1e-9 * max(values[-1], 1e-300)
    values, vectors = values[positive][::-1], vectors[:, positive][:, ::-1]
    return values, vectors if m <= n else Y.T @ vectors / np.sqrt(values)
