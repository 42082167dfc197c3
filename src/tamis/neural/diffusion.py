"""The diffusion score of a batch: how smooth columns are on the graph that the selected columns span.

Everything is computed from the Gram matrix ``K = G Gᵀ`` of the batch, so that the cost does not grow with further
passes over the d columns. Shapes: K, distances, kernel and P are (restarts, rows, rows).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

TINY = 1e-12


def gated_gram(x: Tensor, gates: Tensor) -> Tensor:
    """Return ``K_il = Σ_j g_j² x_ij x_lj`` for gates of shape (restarts, d)."""
    return (x * gates.square().unsqueeze(1)) @ x.mT


def squared_distances(gram: Tensor) -> Tensor:
    """Return ``D_il = K_ii + K_ll − 2 K_il``, never negative."""
    norms = gram.diagonal(dim1=-2, dim2=-1)
    return (norms.unsqueeze(-1) + norms.unsqueeze(-2) - 2 * gram).clamp_min(0)


def _off_diagonal(matrix: Tensor) -> Tensor:
    return ~torch.eye(matrix.shape[-1], dtype=torch.bool, device=matrix.device)


def largest_nearest_neighbour(distances: Tensor) -> Tensor:
    """Return the largest squared distance of any row to its nearest neighbour, the paper's σ²."""
    others = distances.masked_fill(~_off_diagonal(distances), torch.inf)
    return others.amin(dim=-1).amax(dim=-1)


def mean_squared_distance(distances: Tensor) -> Tensor:
    """Return the mean squared distance between different rows."""
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
        """Return σ² for each restart."""
        if isinstance(self.bandwidth, str):
            return BANDWIDTHS[self.bandwidth](distances) * self.factor
        return distances.new_full(distances.shape[:1], float(self.bandwidth) ** 2)

    def transitions(self, gram: Tensor) -> Tensor:
        """Return ``P = D⁻¹ W`` with ``W_il = exp(−‖g_i − g_l‖² / 2σ²)`` and D the row sums of W."""
        distances = squared_distances(gram)
        exponents = -distances / (2 * self.variance(distances) + TINY)[:, None, None]
        if not self.self_loops:
            exponents = exponents.masked_fill(~_off_diagonal(exponents), -torch.inf)
        return torch.softmax(exponents, dim=-1)


def diffuse(transitions: Tensor, steps: int) -> Tensor:
    """Return ``Pᵗ``, by repeated squaring."""
    return torch.linalg.matrix_power(transitions, steps)


def diffusion_score(gram: Tensor, walk: Tensor, normalize: bool) -> Tensor:
    """Return ``trace(Gᵀ Pᵗ G)``, divided by ``trace(Gᵀ G)`` if normalised: one number per restart.

    The normalised form is a Rayleigh quotient: the mean smoothness of the columns, weighted by their energy. It does
    not reward gates for merely opening wider.
    """
    smoothness = (walk * gram.mT).sum(dim=(-2, -1))
    if not normalize:
        return smoothness
    return smoothness / (gram.diagonal(dim1=-2, dim2=-1).sum(dim=-1) + TINY)
