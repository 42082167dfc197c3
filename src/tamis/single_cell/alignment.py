"""Genes that serve every programme, and whose cell-to-cell similarity is that of the whole transcriptome."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta
from sklearn.utils.extmath import randomized_svd

from tamis.structure.pursuit import Pursuit, pursue
from tamis.structure.sample import Indices

MAX_DIRECTIONS = 30
CELLS_PER_DIRECTION = 8
GENES_PER_DIRECTION = 5
"""Cells and genes that are needed for a further direction; of few of them the later ones are noise."""

POWER = 0.75
"""A direction counts by this power of its variance: by 1 the first few would decide, by 0 the last ones are noise."""

MAX_GENES = 4000
"""Genes, those with the strongest evidence, that programmes are computed of."""

MAX_SCORE = 10.0
"""Largest standardised expression in programmes, so that single cells are none."""

FOLLOW_LEVEL = 0.999
"""Level above chance of the share of a gene that the programmes explain, for it to follow them."""

Array = NDArray[np.float32]
Mask = NDArray[np.bool_]


class Programmes(NamedTuple):
    """Orthonormal directions (n, q) in which cells differ, the genes they are of, and their standardised values."""

    directions: Array
    genes: Indices
    values: Array

    def shares(self, values: Array) -> Array:
        """Return the share of the variance of each gene that each programme explains: (q, n_genes)."""
        return np.asarray((self.directions.T @ (values / np.maximum(np.linalg.norm(values, axis=0), 1e-12))) ** 2)

    def followed_by(self, values: Array) -> Mask:
        """Return which genes the programmes explain above chance; of a normal gene the share is beta distributed."""
        n, q = self.directions.shape
        return np.asarray(self.shares(values).sum(axis=0) > beta.ppf(FOLLOW_LEVEL, q / 2, (n - q) / 2))


def find_programmes(values: Array, structured: Indices, random_state: int) -> Programmes:
    """Compute the principal directions of standardised genes that exceed those of genes with shuffled cells.

    All genes count alike, so that a few genes of a few cells make a programme as well. The genes with structure come by
    their evidence, the strongest first; values are centred (within batches).
    """
    genes = structured[:MAX_GENES]
    Z = _standardised(np.clip(_standardised(values[:, genes]), -MAX_SCORE, MAX_SCORE))
    left, singular, _ = randomized_svd(Z, _max_directions(Z), random_state=random_state)
    shuffled = np.random.default_rng(random_state).permuted(Z, axis=0)
    above = singular > randomized_svd(shuffled, 1, random_state=random_state)[1][0]
    above[0] = True
    return Programmes(left[:, above], genes, Z)


def _standardised(values: Array) -> Array:
    centred = values - values.mean(axis=0)
    return np.asarray(centred / np.maximum(centred.std(axis=0), 1e-12))


def _max_directions(values: Array) -> int:
    return int(max(1, min(MAX_DIRECTIONS, len(values) // CELLS_PER_DIRECTION, values.shape[1] // GENES_PER_DIRECTION)))


def leading_directions(values: Array, random_state: int) -> Array:
    """Return the principal directions of centred expression, each by a power of its variance."""
    left, singular, _ = randomized_svd(values, _max_directions(values), random_state=random_state)
    return np.asarray(left * singular**POWER)


def serve(programmes: Programmes, kept: Indices, free: Mask, n_genes: int, weights: NDArray[np.float64]) -> Indices:
    """Select genes that explain most of the programmes together with those kept, as many as there are programmes.

    The gains of genes are multiplied by their weights.
    """
    allowed, given = np.flatnonzero(free[programmes.genes]), np.flatnonzero(np.isin(programmes.genes, kept))
    size = min(n_genes, programmes.directions.shape[1])
    Z, goal = (part.astype(np.float64) for part in (programmes.values, programmes.directions))
    stated = Pursuit(Z, goal, allowed, given, weights=weights[programmes.genes[allowed]])
    chosen, _ = pursue(stated, size)
    return programmes.genes[chosen]


def align(
    values: Array, goal: Array, kept: Indices, free: Mask, n_steps: int, groups: Indices, weights: NDArray[np.float64]
) -> Indices:
    """Select genes one by one so that the similarities of cells by them agree with the goal.

    With x_j the centred expression of gene j, F the goal and S the selection, each step takes the gene with the
    largest alignment of ``K = Σ_{j∈S} x_j x_jᵀ`` with ``F Fᵀ`` (Cristianini et al., 2001),
    ``⟨K, F Fᵀ⟩ / ‖K‖ = Σ_j ‖Fᵀ x_j‖² / √(Σ_ij (x_iᵀ x_j)²)``.

    Genes that are kept come first. Those with the same number in ``groups`` exclude each other, and the lead of a
    gene over the worst free one is multiplied by its weight.
    """
    wanted = ((goal.T @ values) ** 2).sum(axis=0, dtype=np.float64)
    own = (values**2).sum(axis=0, dtype=np.float64) ** 2
    shared, reached, size = np.zeros(len(own)), 0.0, 1e-300
    free, chosen = free.copy(), list[int]()
    for step in range(len(kept) + n_steps):
        alignment = (reached + wanted) / np.sqrt(size + 2 * shared + own)
        best = int(kept[step]) if step < len(kept) else _leader(alignment, free, weights)
        reached, size = reached + wanted[best], size + 2 * shared[best] + own[best]
        shared += (values.T @ values[:, best]).astype(np.float64) ** 2
        chosen.append(best)
        free[groups == groups[best]] = False
    return np.array(chosen[len(kept) :], dtype=np.intp)


def _leader(alignment: NDArray[np.float64], free: Mask, weights: NDArray[np.float64]) -> int:
    return int(np.where(free, (alignment - alignment[free].min()) * weights, -1.0).argmax())
