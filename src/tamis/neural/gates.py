r"""Stochastic gates, one per column, and the loss of differentiable unsupervised feature selection.

A gate is :math:`z = \operatorname{clip}(\tfrac12 + \mu + \sigma \epsilon, 0, 1)` with normal noise ε; it is open with
the probability :math:`\Phi((\mu + \tfrac12) / \sigma)`.
"""

import math

import torch
from torch import Tensor

from tamis.neural.diffusion import gated_gram, squared_distances

TINY = 1e-6


def sample_gates(mu: Tensor, noise: Tensor, sigma: float) -> Tensor:
    """Give the gates of some noise, which is of the shape of mu or has a row of it per row of the data."""
    return (0.5 + mu + sigma * noise).clamp(0, 1)


def open_share(mu: Tensor, sigma: float) -> Tensor:
    """Give the mean probability that a gate is open, plus 1e-6."""
    return (0.5 * (1 + torch.erf((mu + 0.5) / (sigma * math.sqrt(2))))).mean() + TINY


def kernel_width(distances: Tensor, n_neighbors: int) -> Tensor:
    """Give the median squared distance of the rows to their n-th nearest row, counting themselves as the first."""
    return torch.quantile(distances.kthvalue(n_neighbors, dim=-1).values, 0.5)


def gram_of_gated(x: Tensor, gates: Tensor) -> Tensor:
    """Give ``K = X̃ X̃ᵀ`` of the gated rows ``X̃ = X ∘ z``; gates without rows need one product less to differentiate."""
    if gates.ndim == 1:
        return gated_gram(x, gates.unsqueeze(0)).squeeze(0)
    gated = x * gates
    return gated @ gated.T


def gated_smoothness(gram: Tensor, n_columns: int, n_neighbors: int, factor: float) -> Tensor:
    """Give ``mean(X̃ ∘ P² X̃)`` with ``P = D⁻¹ W`` and ``W = exp(−distance² / (factor · width))``.

    From the Gram matrix ``K = X̃ X̃ᵀ`` it is ``Σ (P² ∘ K) / nd``, so that P² never meets the d columns.
    """
    distances = squared_distances(gram)
    width = factor * kernel_width(distances, n_neighbors) + torch.finfo(gram.dtype).tiny
    walk = torch.softmax(-distances / width, dim=-1)
    return ((walk @ walk) * gram).sum() / (len(gram) * n_columns)


def gate_loss(smoothness: Tensor, share: Tensor, penalty: float | None) -> Tensor:
    """Give ``−smoothness + penalty · share``, or ``−smoothness / share`` without a penalty."""
    return -smoothness / share if penalty is None else penalty * share - smoothness
