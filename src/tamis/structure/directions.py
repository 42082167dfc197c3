"""The principal directions of structured features that exceed chance: what a selection has to explain."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis.structure.sample import BLOCK, Indices

Real = TypeVar("Real", np.float32, np.float64)
Array = NDArray[np.float64]

SHUFFLED_TABLES = 2
"""Shuffled tables whose eigenvalues tell what chance reaches."""

MIN_EXAMINED = 256
"""Directions of largest variance, at least, among which those above chance are found; others count for little."""

MARGIN = 1.1
"""By how much what the features of a direction share must exceed chance: they were chosen for it, some by chance."""

MIN_CORRELATION = 0.15
"""How much they must correlate on average: weak dependence of all on all, as of neighbours in a chain, is no block."""

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

    With weights w and ``Y = Z diag(√w)``, let ``λ_1 ≥ λ_2 ≥ …`` be the eigenvalues and ``v_c`` the eigenvectors of
    ``YᵀY``. Directions count up to the last before one does not exceed that of the same place of Y with every feature
    shuffled by itself (parallel analysis, Horn 1965); the first one always counts. Features that weigh much raise that
    chance for others, too. So a direction also counts if its features are alike, whatever their weights: independent
    ones would have ``λ_c ≈ n Σ_j w_j v_jc²``, the quotient ``q_c`` of both is by chance at most ``(1 + √(m/n))²``
    (Marchenko and Pastur, 1967), and ``(q_c − 1) / (p_c − 1)`` is about the mean correlation of its
    ``p_c = 1 / Σ_j v_jc⁴`` features.
    """
    if not len(features):
        return Directions(features, np.empty((0, 0)))
    (n, m), roots, chance = Z.shape, np.sqrt(weights), []
    width = m if m <= n else BLOCK
    for table in range(SHUFFLED_TABLES + 1):
        # The smaller one of YᵀY and YYᵀ, which share their positive eigenvalues; the last one is not shuffled.
        gram = np.zeros((min(n, m),) * 2)
        for start in range(0, m, width):
            part = Z[:, start : start + width]
            Y = (rng.permuted(part, axis=0) if table < SHUFFLED_TABLES else part) * roots[start : start + width]
            gram += Y.T @ Y if m <= n else Y @ Y.T
        if table < SHUFFLED_TABLES:
            chance.append(np.linalg.eigvalsh(gram)[::-1])
    values, vectors = (part[..., ::-1] for part in np.linalg.eigh(gram))
    by_place = np.logical_and.accumulate(values > np.maximum(np.mean(chance, axis=0), 1e-9 * values[0]))
    by_place[0] = True
    n_examined = min(int((values > 1e-9 * values[0]).sum()), max(MIN_EXAMINED, 2 * int(by_place.sum())))
    values, vectors, by_place = values[:n_examined], vectors[:, :n_examined], by_place[:n_examined]
    if n < m:
        vectors = roots[:, None] * (Z.T @ vectors) / np.sqrt(values)
    # Independent features would have the variance 1 in units of their weights, n_alike equal ones n_alike.
    shared, n_alike = values / (n * (weights @ vectors**2)), 1 / (vectors**4).sum(axis=0)
    alike = (shared > MARGIN * (1 + np.sqrt(m / n)) ** 2) & (shared - 1 > MIN_CORRELATION * (n_alike - 1))
    chosen = np.flatnonzero(by_place | alike)
    values, vectors = values[chosen], vectors[:, chosen]
    # F = Y V has the column variances λ/n; dividing by √λ and multiplying by λ^(POWER/2) leaves λ^POWER.
    scale = values ** (POWER / 2) / np.sqrt(values * np.mean(values**POWER) / n)
    return Directions(features, roots[:, None] * vectors * scale)
