"""The diffusion score of a batch: how smooth columns are on the graph that the selected columns span.

Everything is computed from the Gram matrix ``K = G Gᵀ`` of the batch, so that the cost does not grow with further
passes over the d columns. Shapes: K, distances, kernel and P are (restarts, rows, rows).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

TINY = 1e-12


def gated_gram(x: Tensor, gates: Tensor) -> Tensor:
    """Give ``K_il = Σ_j g_j² x_ij x_lj`` for gates of shape (restarts, d)."""
    return (x * gates.square().unsqueeze(1)) @ x.mT


def squared_distances(gram: Tensor) -> Tensor:
    """Give ``D_il = K_ii + K_ll − 2 K_il``, never negative."""
    norms = gram.diagonal(dim1=-2, dim2=-1)
    return (norms.unsqueeze(-1) + norms.unsqueeze(-2) - 2 * gram).clamp_min(0)


def _off_diagonal(matrix: Tensor) -> Tensor:
    return ~torch.eye(matrix.shape[-1], dtype=torch.bool, device=matrix.device)


def largest_nearest_neighbour(distances: Tensor) -> Tensor:
    """Give the largest squared distance of any row to its nearest neighbour, the paper's σ²."""
    others = distances.masked_fill(~_off_diagonal(distances), torch.inf)
    return others.amin(dim=-1).amax(dim=-1)


def mean_squared_distance(distances: Tensor) -> Tensor:
    """Give the mean squared distance between different rows."""
    rows = distances.shape[-1]
    return distances.sum(dim=(-2, -1)) / (rows * (rows - 1))


BANDWIDTHS: dict[str, Callable[[Tensor], Tensor]] = {
    "nearest": largest_nearest_neighbour,
    "mean": mean_squared_distance,
}
"""Rules that give σ² from squared distances, before the factor is applied."""


@dataclass(frozen=True)
class Graph:
    """How a batch becomes a random walk.

    Attributes
    ----------
    bandwidth : str or float
        A rule of :data:`BANDWIDTHS`, or a fixed σ.
    factor : float
        Multiplies the σ² that the rule gives.
    self_loops : bool
        Whether a row may step to itself.
    """

    bandwidth: str | float = "mean"
    factor: float = 0.05
    self_loops: bool = False

    def variance(self, distances: Tensor) -> Tensor:
        """Give σ² for each restart."""
        if isinstance(self.bandwidth, str):
            return BANDWIDTHS[self.bandwidth](distances) * self.factor
        return distances.new_full(distances.shape[:1], float(self.bandwidth) ** 2)

    def transitions(self, gram: Tensor) -> Tensor:
        """Give ``P = D⁻¹ W`` with ``W_il = exp(−‖g_i − g_l‖² / 2σ²)`` and D the row sums of W."""
        distances = squared_distances(gram)
        exponents = -distances / (2 * self.variance(distances) + TINY)[:, None, None]
        if not self.self_loops:
            exponents = exponents.masked_fill(~_off_diagonal(exponents), -torch.inf)
        return torch.softmax(exponents, dim=-1)


def diffuse(transitions: Tensor, steps: int) -> Tensor:
    """Give ``Pᵗ``, by repeated squaring."""
    return torch.linalg.matrix_power(transitions, steps)


def diffusion_score(gram: Tensor, walk: Tensor, normalize: bool) -> Tensor:
    """Give ``trace(Gᵀ Pᵗ G)``, divided by ``trace(Gᵀ G)`` if normalised: one number per restart.

    The normalised form is a Rayleigh quotient: the mean smoothness of the columns, weighted by their energy. It does
    not reward gates for merely opening wider.
    """
    smoothness = (walk * gram.mT).sum(dim=(-2, -1))
    if not normalize:
        return smoothness
    return smoothness / (gram.diagonal(dim1=-2, dim2=-1).sum(dim=-1) + TINY)


def column_scores(x: Tensor, walk: Tensor) -> Tensor:
    """Give ``f_jᵀ Pᵗ f_j / f_jᵀ f_j`` for every column f_j of the batch: (restarts, d)."""
    return (x * (walk @ x)).sum(dim=-2) / (x.square().sum(dim=-2) + TINY)


def expected_score(walk: Tensor) -> Tensor:
    """Give ``(tr Q − 1)/m``, the mean score of a column that has nothing to do with a walk Q on m rows: (restarts,)."""
    return (walk.diagonal(dim1=-2, dim2=-1).sum(dim=-1) - 1) / walk.shape[-1]


def chance_level(walk: Tensor, n_columns: int) -> Tensor:
    """Give the score that the smoothest of n independent columns reaches by chance: (restarts, 1).

    For a standardised column f that has nothing to do with a walk Q on m rows, ``fᵀ Q f / fᵀ f`` has the mean
    ``(tr Q − 1)/m`` and the standard deviation ``√(‖Q‖² − m‖c‖² + tr Q² − 1)/m``, with c the column means of Q (what
    the constant vector, to which f is orthogonal, takes away). The largest of n such scores is about ``√(2 log n)``
    deviations above the mean.
    """
    rows = walk.shape[-1]
    spread = walk.square().sum(dim=(-2, -1)) - rows * walk.mean(dim=-2).square().sum(dim=-1)
    spread = spread + (walk * walk.mT).sum(dim=(-2, -1)) - 1
    deviation = spread.clamp_min(0).sqrt() / rows
    return (expected_score(walk) + math.sqrt(2 * math.log(max(2, n_columns))) * deviation).unsqueeze(-1)


LONGEST_WALK = 64


def steps_that_tell_noise(
    x: Tensor,
    graph: Graph,
    n_selected: int,
    generator: torch.Generator | None = None,
    level: float = 0.5,
    draws: int = 3,
) -> int:
    """Give the shortest walk (1, 2, 4, ... steps) on which independent columns are no longer smooth.

    Few columns make a dense cloud, on whose graph anything they hold is smooth, structure or not. Columns of the batch,
    as many as will be selected, are shuffled independently of each other; the walk must be so long that they score at
    most the level on the graph they span. No labels are involved.
    """
    order = [torch.randperm(x.shape[1], generator=generator, device=x.device)[:n_selected] for _ in range(draws)]
    picked = torch.stack([shuffled(x[:, columns], generator) for columns in order])
    gram = picked @ picked.mT
    steps, walk = 1, graph.transitions(gram)
    while steps < LONGEST_WALK and diffusion_score(gram, walk, normalize=True).mean() > level:
        steps, walk = 2 * steps, walk @ walk
    return steps


def shuffled(columns: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Shuffle every column independently of the others."""
    order = torch.rand(columns.shape, generator=generator, device=columns.device).argsort(dim=0)
    return columns.gather(0, order)
