"""The graph of a batch: the random walk that the selected features span.

Everything is computed from the Gram matrix ``K = G Gᵀ`` of the batch, so that the cost does not grow with further
passes over the d features. Shapes: K, distances and P are (..., rows, rows).
"""

import torch
from torch import Tensor

from tamis.lscae.problem import TINY
from tamis.lscae.recipe import Recipe


def squared_distances(gram: Tensor) -> Tensor:
    """Return ``D_il = K_ii + K_ll − 2 K_il``, never negative."""
    norms = gram.diagonal(dim1=-2, dim2=-1)
    return (norms.unsqueeze(-1) + norms.unsqueeze(-2) - 2 * gram).clamp_min(0)


def observed_distances(gram: Tensor, features: Tensor, observed: Tensor) -> Tensor:
    """Return the squared distances over the features that both rows have, scaled up to all.

    With the cells ``g`` of ``features`` (..., rows, d), 0 where missing, and weights o of ``observed``, which are the
    squared gates or 0: ``D_il = Σ_j [both] (g_ij − g_lj)² · Σ_j o_j / Σ_j [both] o_j``.
    """
    known = (observed > 0).to(features.dtype)
    norms = features.square() @ known.mT
    both = observed @ known.mT
    scale = observed.amax(dim=-2).sum(dim=-1)[..., None, None] / both.clamp_min(TINY)
    return (norms + norms.mT - 2 * gram).clamp_min(0) * scale


def kernel_variance(distances: Tensor, bandwidth: str | float | tuple[str, float]) -> Tensor:
    """Return σ² of the kernel.

    "nearest" is the largest squared distance of any row to its nearest neighbour (the paper), "mean" the mean squared
    distance between different rows, each times a factor if there is one; a number is σ.
    """
    if isinstance(bandwidth, str):
        bandwidth = (bandwidth, 1.0)
    if not isinstance(bandwidth, tuple | list):
        return distances.new_full(distances.shape[:-2], float(bandwidth) ** 2)
    rule, factor = bandwidth
    if rule == "mean":
        rows = distances.shape[-1]
        return distances.sum(dim=(-2, -1)) / (rows * (rows - 1)) * factor
    return without_diagonal(distances, torch.inf).amin(dim=-1).amax(dim=-1) * factor


def without_diagonal(matrix: Tensor, value: float) -> Tensor:
    """Return square matrices with another value in their diagonals."""
    return matrix.masked_fill(torch.eye(matrix.shape[-1], dtype=torch.bool, device=matrix.device), value)


def transitions(distances: Tensor, recipe: Recipe) -> Tensor:
    """Return ``P = D⁻¹ W`` with ``W_il = exp(−‖g_i − g_l‖² / 2σ²)`` and D the row sums of W."""
    variance = kernel_variance(distances, recipe.bandwidth)
    exponents = -distances / (2 * variance + TINY)[..., None, None]
    return torch.softmax(exponents if recipe.self_loops else without_diagonal(exponents, -torch.inf), dim=-1)
