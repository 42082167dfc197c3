"""What is minimised: the terms, each a function of a :class:`View` of a batch, and their balanced sum.

To add a term, write the function, put a line into :data:`TERMS` and its name into ``KNOWN_TERMS`` of recipe.py, and
name it in a recipe.

The graph of a batch is the random walk that the selected features span. It is computed from their Gram matrix
``K = G Gᵀ``. Shapes: K, distances and P are (..., rows, rows).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tamis.lscae.problem import TINY, Batch
from tamis.lscae.recipe import Recipe


def observed_distances(gram: Tensor, features: Tensor, observed: Tensor) -> Tensor:
    """Return the squared distances over the features that both rows have, scaled up to all.

    With the cells ``g`` of ``features`` (..., rows, d), 0 where missing, and weights o of ``observed``, which are the
    squared gates or 0: ``D_il = Σ_j [both] (g_ij − g_lj)² · Σ_j o_j / Σ_j [both] o_j``. Rows that have no feature in
    common are as far apart as others are on average.
    """
    known = (observed > 0).to(features.dtype)
    norms = features.square() @ known.mT
    both = observed @ known.mT
    scale = observed.amax(dim=-2).sum(dim=-1)[..., None, None] / both.clamp_min(TINY)
    distances, compared = (norms + norms.mT - 2 * gram).clamp_min(0) * scale, both > TINY
    mean = (distances * compared).sum(dim=(-2, -1)) / compared.sum(dim=(-2, -1)).clamp_min(1)
    return torch.where(compared, distances, mean[..., None, None])


RIDGE = 0.1
"""Penalty λ of the linear decoder, as a share of the mean energy of the selected features."""

MIN_LEFT_OUT = 1e-3
"""Floor of ``1 − h_i``, which a row that alone decides its prediction brings to zero."""


class _Inverse(torch.autograd.Function):
    """Inverse A of a positive definite matrix by Cholesky's method; a gradient g of A is ``−A g A`` of the matrix.

    That takes half the time of :func:`torch.linalg.inv` with its gradient, which is most of a step.
    """

    @staticmethod
    def forward(ctx: Any, matrix: Tensor) -> Tensor:
        inverse = torch.cholesky_inverse(torch.linalg.cholesky_ex(matrix)[0])
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        inverse: Tensor = ctx.saved_tensors[0]
        return -(inverse @ gradient @ inverse)


def linear_residuals(features: Tensor, goal: Tensor, k: int | None = None, gram: Tensor | None = None) -> Tensor:
    """Compute what a linear map of selected features G (..., rows, m) leaves of a goal F, each row left out.

    With ``K = G Gᵀ``, ``M = K + λI`` and ``H = K M⁻¹ = G (GᵀG + λI)⁻¹ Gᵀ``, of which the smaller inverse is computed,
    it is ``(f_i − (H f)_i) / (1 − h_ii) = (M⁻¹ f)_i / (M⁻¹)_ii`` of row i. Of k selected features, more than k may be
    shown in part. K is computed if it is not given.
    """
    n_rows, m = features.shape[-2:]
    penalty = (RIDGE * features.square().sum(dim=(-2, -1)) / (k or m) + TINY)[..., None, None]
    ridge = penalty * torch.eye(min(n_rows, m), dtype=features.dtype, device=features.device)
    if m < n_rows:
        lower = torch.linalg.cholesky_ex(features.mT @ features + ridge)[0]
        factor = torch.linalg.solve_triangular(lower, features.mT, upper=False).mT
        rest, left_out = goal - factor @ (factor.mT @ goal), 1 - factor.square().sum(dim=-1, keepdim=True)
    else:
        gram = features @ features.mT if gram is None else gram
        inverse: Tensor = _Inverse.apply(gram + ridge)  # type: ignore[no-untyped-call]
        rest, left_out = penalty * (inverse @ goal), penalty * inverse.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)
    residuals: Tensor = rest / left_out.clamp_min(MIN_LEFT_OUT)
    return residuals


MIN_VALUE = 1e-6
"""Floor of a term's magnitude, so that neither the balance nor log J divides by zero."""


@dataclass
class View:
    """One batch as a soft or hard selection shows it.

    Attributes
    ----------
    batch : Batch
        The rows, and what is to be reconstructed.
    recipe : Recipe
        How to build the graph.
    gram : Tensor (..., rows, rows) or None
        The Gram matrix ``K = G Gᵀ`` of the features G that span the graph, if there is one; a leading dimension holds
        several hard selections.
    observed : (Tensor, Tensor), optional
        These features (..., rows, m) and their squared gates, both 0 in missing cells; None if none is missing.
    decoded : Tensor (rows, targets), optional
        Reconstruction of the goal by a network; None if the graph reconstructs.
    linear : (Tensor, int), optional
        The features (..., rows, m) that span the graph, and how many are selected, if a linear map of them reconstructs
        the goal beside the graph.
    probabilities : Tensor (units, candidates), optional
        Noise-free selection weights ``softmax(Λ/τ)``; None for a hard selection.
    """

    batch: Batch
    recipe: Recipe
    gram: Any
    observed: tuple[Tensor, Tensor] | None = None
    decoded: Tensor | None = None
    linear: tuple[Tensor, int] | None = None
    probabilities: Tensor | None = None

    @cached_property
    def transitions(self) -> Tensor:
        """One step of the random walk, ``P = D⁻¹ W`` with ``W_il = exp(−‖g_i − g_l‖² / 2σ²)`` and D the row sums of W.

        ``‖g_i − g_l‖² = K_ii + K_ll − 2 K_il``. By the bandwidth "nearest", σ² is the largest squared distance of any
        row to its nearest neighbour (the paper), by "mean" the mean squared distance between different rows, each times
        a factor if there is one; a number is σ.
        """
        gram, bandwidth, rows = self.gram, self.recipe.bandwidth, self.gram.shape[-1]
        if self.observed is None:
            norms = gram.diagonal(dim1=-2, dim2=-1)
            distances = (norms.unsqueeze(-1) + norms.unsqueeze(-2) - 2 * gram).clamp_min(0)
        else:
            distances = observed_distances(gram, *self.observed)
        same_row = torch.eye(rows, dtype=torch.bool, device=gram.device)
        rule, factor = bandwidth if isinstance(bandwidth, tuple | list) else (bandwidth, 1.0)
        if rule == "mean":
            variance = distances.sum(dim=(-2, -1)) / (rows * (rows - 1)) * factor
        elif rule == "nearest":
            variance = distances.masked_fill(same_row, torch.inf).amin(dim=-1).amax(dim=-1) * factor
        else:
            variance = distances.new_full(distances.shape[:-2], float(rule) ** 2)
        exponents = -distances / (2 * variance + TINY)[..., None, None]
        if not self.recipe.self_loops:
            exponents = exponents.masked_fill(same_row, -torch.inf)
        return torch.softmax(exponents, dim=-1)


def reconstruction(view: View) -> Tensor:
    """Compute the share that is not reconstructed, ``Σ_c ‖f_c − f̂_c‖² / Σ_c ‖f_c‖²``; missing cells do not count.

    Beside the graph, a linear map decodes, too, and the geometric mean of both shares counts. The more features span a
    graph, the fewer rows are neighbours there, and the less it explains; a linear map knows nothing of curves.
    """
    decoded = view.transitions @ view.batch.goal if view.decoded is None else view.decoded
    share = view.batch.error_share(decoded - view.batch.goal)
    if view.linear is None:
        return share
    features, k = view.linear
    linearly = view.batch.error_share(linear_residuals(features, view.batch.goal, k, view.gram))
    # Where one share is 0, the root of the product has no derivative.
    return (share.clamp_min(MIN_VALUE) * linearly.clamp_min(MIN_VALUE)).sqrt()


def score(view: View) -> Tensor:
    """Compute ``trace(Gᵀ Pᵗ G)``: how smooth the selected features are."""
    walk = torch.linalg.matrix_power(view.transitions, view.recipe.diffusion_steps)
    smoothness: Tensor = (walk * view.gram.mT).sum(dim=(-2, -1))
    return smoothness


def redundancy(view: View) -> Tensor:
    """Compute ``max(0, max_j Σ_i π_ij − 1)``: by how much the most wanted feature is wanted more than once."""
    if view.probabilities is None:
        return view.batch.goal.new_zeros(())
    return (view.probabilities.sum(dim=0).amax() - 1).clamp_min(0)


class Term(NamedTuple):
    """A term of the objective.

    A balanced term of value m enters the loss as ``±m / sg|m|`` and J as ``±log m``; another enters the loss with the
    weight of its penalty and J not at all.
    """

    value: Callable[[View], Tensor]
    maximise: bool = False
    balanced: bool = True


TERMS = {
    "reconstruction": Term(reconstruction),
    "score": Term(score, maximise=True),
    "redundancy": Term(redundancy, balanced=False),
}


def evaluate(view: View) -> dict[str, Tensor]:
    """Return the value of each term of the recipe."""
    names = [*view.recipe.terms, *(["redundancy"] if view.recipe.redundancy_penalty else [])]
    return {name: TERMS[name].value(view) for name in names}


def loss(values: dict[str, Tensor], recipe: Recipe, common: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """Return what is differentiated: ``Σ ±m / sg|m|`` of balanced terms, plus the penalty.

    With ``sg`` the stop-gradient, the gradient of the balanced terms is that of :func:`objective`. Processes that share
    a fit have a ``common`` magnitude of each term.
    """
    total = torch.zeros_like(next(iter(values.values())))
    for name, value in values.items():
        sign = -1.0 if TERMS[name].maximise else 1.0
        if TERMS[name].balanced:
            magnitude = value.detach().abs()
            magnitude = magnitude if common is None else common(magnitude)
            total = total + sign * value / magnitude.clamp_min(MIN_VALUE)
        else:
            total = total + recipe.redundancy_penalty * value
    return total


def objective(values: dict[str, Tensor]) -> Tensor:
    """Return ``J = Σ ±log m`` of the balanced terms, which is monitored and compared."""
    logs = {name: value.clamp_min(MIN_VALUE).log() for name, value in values.items() if TERMS[name].balanced}
    return torch.stack([-log if TERMS[name].maximise else log for name, log in logs.items()]).sum(dim=0)
