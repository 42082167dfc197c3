"""The gradient of the default objective written out, without automatic differentiation.

For small problems a step is bound by the overhead of recording and replaying operations, for large ones by passes over
the k × d arrays; written out, both are a few operations. :mod:`tamis.neural.objective` stays the definition, and the
path for every other objective and for GPUs.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from tamis.neural import ranks
from tamis.neural.concrete import ConcreteLayer
from tamis.neural.diffusion import TINY, Graph
from tamis.neural.logits import DirectLogits
from tamis.neural.objective import (
    LEAST_EXPLAINED,
    SMALLEST,
    Goal,
    Objective,
    Term,
    identity,
    odds,
    reconstruction,
    redundancy,
    smoothness,
)


def applies(objective: Objective, progress: float) -> bool:
    """Tell whether the gradient of this objective by the gates is written out here."""
    recipe = objective.recipe
    usual = recipe.on == "gates" and recipe.normalize and recipe.graph.bandwidth == "mean"
    values = [term.value for term in objective.terms.values()]
    known = smoothness in values and len(set(values)) == len(values)
    known = known and all(map(_is_written_out, objective.terms.values()))
    return usual and known and not objective.needs_decoder and recipe.steps(progress) == 1


def _is_written_out(term: Term) -> bool:
    if term.value is redundancy:
        return not term.balanced and not term.maximise and term.measure is identity
    return term.value in (reconstruction, smoothness) and term.balanced and term.measure in (identity, odds)


class GraphGradient(NamedTuple):
    """Values of the terms (restarts,) and the derivative of the loss by the Gram matrix (restarts, rows, rows)."""

    values: dict[str, Tensor]
    by_gram: Tensor


def graph_gradient(gram: Tensor, goal: Goal, objective: Objective, progress: float) -> GraphGradient:
    """Differentiate the balanced terms by the Gram matrix K of what the graph is computed on.

    With ``P`` the softmax of ``−D/2σ²``, ``σ² = c · mean D`` and ``U = (I − P) M``: the error ``tr(U (I − P)ᵀ)`` has
    the derivative ``−2U`` by P, the score ``Σ P ∘ K / tr K`` has ``K / tr K``; both go back through the softmax and
    the distances to K.
    """
    norms = gram.diagonal(dim1=-2, dim2=-1)
    energy = norms.sum(dim=-1) + TINY
    distances, variance, transitions = _walk(gram, norms, objective.recipe.graph)
    values: dict[str, Tensor] = {}
    by_walk = None
    for name, term in objective.terms.items():
        if term.value is reconstruction:
            residual = goal.gram - transitions @ goal.gram
            error = residual.diagonal(dim1=-2, dim2=-1).sum(dim=-1) - (residual * transitions).sum(dim=(-2, -1))
            values[name] = error / goal.trace
            by_walk = residual * (-2 * balanced_slope(term, values[name], progress) / goal.trace)[:, None, None]
        elif term.value is smoothness:
            values[name] = (transitions * gram).sum(dim=(-2, -1)) / energy
            score, slope = values[name], (balanced_slope(term, values[name], progress) / energy)[:, None, None]
    by_score = gram * slope
    by_walk = by_score if by_walk is None else by_walk.add_(by_score)
    by_gram = _through_distances(by_walk, transitions, distances, variance, objective.recipe.graph)
    by_gram.addcmul_(transitions.mT, slope)
    by_gram.diagonal(dim1=-2, dim2=-1).sub_(slope[..., 0] * score[:, None])
    return GraphGradient(values, by_gram)


def balanced_slope(term: Term, value: Tensor, progress: float) -> Tensor:
    """Give the derivative of ``±w m(v) / sg|m(v)|`` by the value v, for the identity and the odds as measures.

    There are as many values as restarts, so few that plain numbers are quicker than tensors.
    """
    weight = -term.weight(progress) if term.maximise else term.weight(progress)
    magnitudes = ranks.mean(term.measure(value).abs()).tolist()
    slope = _odds_slope if term.measure is odds else lambda _: 1.0
    slopes = [weight * slope(v) / max(m, SMALLEST) for v, m in zip(value.tolist(), magnitudes, strict=True)]
    return torch.tensor(slopes, dtype=value.dtype)


def _odds_slope(value: float) -> float:
    """Give the derivative of ``v / max(1 − v, least)``."""
    rest = 1 - value
    return 1 / rest**2 if rest > LEAST_EXPLAINED else 1 / LEAST_EXPLAINED


def _walk(gram: Tensor, norms: Tensor, graph: Graph) -> tuple[Tensor, Tensor, Tensor]:
    distances = (norms.unsqueeze(-1) + norms.unsqueeze(-2)).sub_(gram, alpha=2).clamp_min_(0)
    variance = graph.variance(distances)
    exponents = distances * (-0.5 / (variance + TINY / 2))[:, None, None]
    if not graph.self_loops:
        exponents.diagonal(dim1=-2, dim2=-1).fill_(-torch.inf)
    return distances, variance, torch.softmax(exponents, dim=-1)


def _through_distances(
    by_walk: Tensor, transitions: Tensor, distances: Tensor, variance: Tensor, graph: Graph
) -> Tensor:
    """Take the derivative by P back to K, through ``P = softmax(−D/2σ²)`` and ``D_il = K_ii + K_ll − 2 K_il``."""
    rows = distances.shape[-1]
    by_exponent = _softmax_backward(by_walk, transitions)
    inverse = 0.5 / (variance + TINY / 2)
    by_variance = (by_exponent * distances).sum(dim=(-2, -1)) * 2 * inverse.square()
    by_distance = by_exponent * -inverse[:, None, None]
    by_distance += (by_variance * graph.factor / (rows * (rows - 1)))[:, None, None]
    by_norm = by_distance.sum(dim=-1) + by_distance.sum(dim=-2)
    by_gram = by_distance.mul_(-2)
    by_gram.diagonal(dim1=-2, dim2=-1).add_(by_norm)
    return by_gram


def _softmax_backward(gradient: Tensor, output: Tensor) -> Tensor:
    gradient = gradient * output
    return gradient.addcmul_(output, gradient.sum(dim=-1, keepdim=True), value=-1)


@torch.no_grad()
def layer_gradient(
    layer: ConcreteLayer,
    x: Tensor,
    goal: Goal,
    objective: Objective,
    temperature: float,
    progress: float,
    noise: Tensor,
) -> tuple[dict[str, Tensor], Tensor]:
    """Give the values of the terms, and the derivative of the loss by the logits, for one noisy sample.

    Only the largest entry ``g_j = Z_ij`` of each column of Z passes anything back: with ``e_j = g_j ∂L/∂g_j``, the
    derivative by Λ_ij is ``(e_j [i shows j] − Z_ij Σ_{l shown by i} e_l) / τ``.
    """
    shown, n_kept = layer.shown(x), len(layer.kept)
    sample = layer.sample(temperature, noise)
    opened = sample.amax(dim=1)
    gates = torch.cat([opened.new_ones(len(opened), n_kept), opened], dim=-1) if n_kept else opened
    gram = (shown * gates.square().unsqueeze(1)) @ shown.mT
    values, by_gram = graph_gradient(gram, goal, objective, progress)
    free = shown[:, n_kept:]
    passed = (free * (by_gram @ free)).sum(dim=-2).mul_(opened.square()).mul_(2 / temperature)
    # Comparing with the maximum is several times faster than asking for its position.
    by_logits = (sample == opened.unsqueeze(1)) * passed.unsqueeze(1)
    by_logits.addcmul_(sample, by_logits.sum(dim=-1, keepdim=True), value=-1)
    for name, term in objective.terms.items():
        if term.value is redundancy:
            values[name] = _add_redundancy(by_logits, layer, temperature, term.weight(progress))
    return values, by_logits


def _add_redundancy(by_logits: Tensor, layer: ConcreteLayer, temperature: float, weight: float) -> Tensor:
    """Add the derivative of ``w · max(0, max_j Σ_i π_ij − 1)`` in place; give the value."""
    probabilities = layer.probabilities(temperature)
    most, column = probabilities.sum(dim=1).max(dim=-1)
    excess = (most - 1).clamp_min_(0)
    if excess.max() > 0:
        at = column[:, None, None].expand(-1, probabilities.shape[1], 1)
        wanted = probabilities.gather(2, at) * (weight / temperature) * (excess > 0)[:, None, None]
        by_logits.addcmul_(probabilities, wanted, value=-1)
        by_logits.scatter_add_(2, at, wanted)
    return excess


def covers(layer: ConcreteLayer, objective: Objective, progress: float) -> bool:
    """Tell whether a step of this layer is written out: free logits on a CPU, and units to train."""
    plain = isinstance(layer.source, DirectLogits) and layer.shape[1] > 0
    return plain and layer.kept.device.type == "cpu" and applies(objective, progress)
