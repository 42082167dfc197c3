"""Genes whose cell-to-cell similarity is that of the whole transcriptome."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

from tamis.structure.pursuit import pursue

MAX_DIRECTIONS = 30
CELLS_PER_DIRECTION = 8
GENES_PER_DIRECTION = 5
"""Cells and genes that are needed for a further direction; of few of them the later ones are noise."""

POWER = 0.75
"""A direction counts by this power of its variance: by 1 the first few would decide, by 0 the last ones are noise."""

RARE_DETECTION = 0.05
"""Genes that fewer cells show are rare: what they share hardly moves the directions of all genes."""

RARE_SHARE = 0.1
"""Part of a panel that rare programmes may take, at most :data:`GENES_PER_RARE` genes for each."""

GENES_PER_RARE = 2
MAX_RARE_GENES = 2000
MAX_RARE_SCORE = 10.0
"""Largest standardised value of a rare gene, so that single cells are no programme."""

Array = NDArray[np.float32]


class Programmes(NamedTuple):
    """Directions in which cells differ: n × r those of all structured genes, n × q those of rare ones.

    ``rare_genes`` are the genes of the latter, and ``rare_values`` their standardised expression.
    """

    common: Array
    rare: Array
    rare_genes: NDArray[np.intp]
    rare_values: Array

    @property
    def scores(self) -> Array:
        """All directions, each with variance 1."""
        both = np.hstack([self.common, self.rare])
        return np.asarray(both / np.maximum(both.std(axis=0), 1e-12))

    @property
    def names(self) -> list[str]:
        """Numbers of the directions, those of rare genes after the word rare."""
        common = [str(number + 1) for number in range(self.common.shape[1])]
        return common + [f"rare {number + 1}" for number in range(self.rare.shape[1])]


def find_programmes(
    values: Array, structured: NDArray[np.intp], detection: NDArray[np.float64], random_state: int
) -> Programmes:
    """Compute the directions of the structured genes, and those that rare ones add.

    Parameters
    ----------
    values : ndarray of shape (n_cells, n_genes)
        Expression, centred (within batches).
    structured : ndarray of int
        Genes that carry structure, by their evidence, the strongest first.
    detection : ndarray of shape (n_genes,)
        Share of cells that show each gene.
    random_state : int
        Of the randomised decomposition and of the shuffles.
    """
    own = values[:, structured]
    left, singular, _ = randomized_svd(own, max(1, _max_directions(own)), random_state=random_state)
    rare = structured[detection[structured] < RARE_DETECTION][:MAX_RARE_GENES]
    Z = _standardised(np.clip(_standardised(values[:, rare]), -MAX_RARE_SCORE, MAX_RARE_SCORE))
    return Programmes(left * singular**POWER, _directions_above_chance(Z, random_state), rare, Z)


def _max_directions(values: Array) -> int:
    n_cells, n_genes = values.shape
    return int(min(MAX_DIRECTIONS, n_cells // CELLS_PER_DIRECTION, n_genes // GENES_PER_DIRECTION))


def _standardised(values: Array) -> Array:
    centred = values - values.mean(axis=0)
    return np.asarray(centred / np.maximum(centred.std(axis=0), 1e-12))


def _directions_above_chance(Z: Array, random_state: int) -> Array:
    """Return the principal directions whose variance exceeds the largest one of genes with shuffled cells."""
    n_directions = _max_directions(Z)
    if n_directions < 1:
        return np.empty((len(Z), 0), np.float32)
    left, singular, _ = randomized_svd(Z, n_directions, random_state=random_state)
    shuffled = np.random.default_rng(random_state).permuted(Z, axis=0)
    _, chance, _ = randomized_svd(shuffled, 1, random_state=random_state)
    return np.asarray(left * np.sqrt(singular))[:, singular > chance[0]]


def rare_genes(programmes: Programmes, free: NDArray[np.bool_], n_genes: int) -> NDArray[np.intp]:
    """Select the genes that explain most of the rare programmes, as many as are their share of a panel."""
    allowed = np.flatnonzero(free[programmes.rare_genes])
    size = min(int(RARE_SHARE * n_genes), GENES_PER_RARE * programmes.rare.shape[1], len(allowed))
    Z, goal = (part.astype(np.float64) for part in (programmes.rare_values, programmes.rare))
    chosen, _ = pursue(Z, goal, allowed, allowed[:0], size)
    return programmes.rare_genes[chosen]


def align(
    values: Array,
    goal: Array,
    kept: NDArray[np.intp],
    free: NDArray[np.bool_],
    n_steps: int,
    *,
    penalty: NDArray[np.float64] | float = 0.0,
    groups: NDArray[np.intp] | None = None,
) -> NDArray[np.intp]:
    """Select genes one by one so that the similarities of cells by them agree with the goal.

    With x_j the centred expression of gene j, F the goal and S the selection, each step takes the gene with the
    largest alignment of ``K = Σ_{j∈S} x_j x_jᵀ`` with ``F Fᵀ`` (Cristianini et al., 2001),
    ``⟨K, F Fᵀ⟩ / ‖K‖ = Σ_j ‖Fᵀ x_j‖² / √(Σ_ij (x_iᵀ x_j)²)``.

    Parameters
    ----------
    values : ndarray of shape (n_cells, n_genes)
        Centred expression.
    goal : ndarray of shape (n_cells, r)
        The directions.
    kept : ndarray of int
        Genes that are in the selection already.
    free : ndarray of bool
        Genes that may be chosen.
    n_steps : int
        Number of genes to choose.
    penalty : float or ndarray, default=0
        From 0 to 1, part of its lead over the worst free gene that a gene loses.
    groups : ndarray of int, optional
        Genes with the same number exclude each other; -1 is no group.
    """
    wanted = ((goal.T @ values) ** 2).sum(axis=0, dtype=np.float64)
    own = (values**2).sum(axis=0, dtype=np.float64) ** 2
    shared, reached, size, chosen = np.zeros(len(own)), 0.0, 1e-300, []
    free = free.copy()
    for step in range(len(kept) + n_steps):
        alignment = (reached + wanted) / np.sqrt(size + 2 * shared + own)
        best = int(kept[step]) if step < len(kept) else _leader(alignment, free, penalty)
        reached, size = reached + wanted[best], size + 2 * shared[best] + own[best]
        shared += (values.T @ values[:, best]).astype(np.float64) ** 2
        chosen.append(best)
        free[best] = False
        if groups is not None and groups[best] >= 0:
            free[groups == groups[best]] = False
    return np.array(chosen[len(kept) :], dtype=np.intp)


def _leader(alignment: NDArray[np.float64], free: NDArray[np.bool_], penalty: NDArray[np.float64] | float) -> int:
    if not free.any():
        raise ValueError("No further gene may be chosen: groups exclude the others. Ask for fewer genes.")
    lead = (alignment - alignment[free].min()) * (1 - np.asarray(penalty))
    return int(np.where(free, lead, -1.0).argmax())
