"""The gradient of the default objective written out, without automatic differentiation.

For small problems a step is bound by the overhead of recording and replaying operations, for large ones by passes over
the k × d arrays; written out, both are a few operations of numpy, which begins one in half the time that torch takes.
:mod:`tamis.neural.objective` stays the definition, and the path for every other objective and for GPUs.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tamis.neural import ranks
from tamis.neural.concrete import ConcreteLayer
from tamis.neural.diffusion import TINY, Graph
from tamis.neural.logits import DirectLogits
from tamis.neural.network import Seen
from tamis.neural.objective import SMALLEST, Objective, Term, reconstruction, redundancy, smoothness

Array = NDArray[np.floating]
Common = Callable[[list[float]], list[float]]


def applies(objective: Objective) -> bool:
    """Tell whether the gradient of this objective by the gates is written out here."""
    recipe = objective.recipe
    usual = recipe.on == "gates" and recipe.normalize and recipe.graph.bandwidth == "mean"
    values = [term.value for term in objective.terms.values()]
    known = smoothness in values and len(set(values)) == len(values)
    known = known and all(map(_is_written_out, objective.terms.values()))
    return usual and known and not objective.needs_decoder and recipe.steps == 1


def _is_written_out(term: Term) -> bool:
    if term.value is redundancy:
        return not term.balanced and not term.maximise
    return term.value in (reconstruction, smoothness) and term.balanced


class GraphGradient(NamedTuple):
    """Values of the terms (restarts,) and the derivative of the loss by the Gram matrix (restarts, rows, rows)."""

    values: dict[str, Array]
    by_gram: Array


def graph_gradient(
    gram: Array, goal: Array, objective: Objective, common: Common = lambda values: values
) -> GraphGradient:
    """Differentiate the balanced terms by the Gram matrix K of what the graph is computed on.

    With ``P`` the softmax of ``−D/2σ²``, ``σ² = c · mean D`` and ``U = F − P F`` for the goal F: the error ``‖U‖²`` has
    the derivative ``−2 U Fᵀ`` by P, the score ``Σ P ∘ K / tr K`` has ``K / tr K``; both go back through the softmax
    and the distances to K. Processes that share a fit make the magnitudes of the terms common.
    """
    energy = np.trace(gram, axis1=-2, axis2=-1) + TINY
    distances, variance, transitions = _walk(gram, objective.recipe.graph)
    values: dict[str, Array] = {}
    by_walk: Array | None = None
    for name, term in objective.terms.items():
        if term.value is reconstruction:
            values[name], by_walk = _decoding(transitions, goal, term, common)
        elif term.value is smoothness:
            score = values[name] = _products(transitions, gram) / energy
            slope = (balanced_slope(term, score, common) / energy)[:, None, None]
    by_walk = gram * slope if by_walk is None else np.add(by_walk, gram * slope, out=by_walk)
    by_gram = _through_distances(by_walk, transitions, distances, variance, objective.recipe.graph)
    by_gram += transitions.swapaxes(-2, -1) * slope
    _diagonals(by_gram)[:] -= slope[..., 0] * score[:, None]
    return GraphGradient(values, by_gram)


def _decoding(transitions: Array, goal: Array, term: Term, common: Common) -> tuple[Array, Array]:
    """Return the share of the goal (rows, targets) that P does not reconstruct, and its derivative by P."""
    total = float(np.square(goal).sum()) + TINY
    residual = goal - transitions @ goal
    value = np.square(residual).sum(axis=(-2, -1)) / total
    residual *= (balanced_slope(term, value, common) * (-2 / total))[:, None, None]
    return value, residual @ goal.T


def balanced_slope(term: Term, value: Array, common: Common) -> Array:
    """Return the derivative of ``±v / sg|v|`` by the value v."""
    sign = -1.0 if term.maximise else 1.0
    magnitudes = common([abs(each) for each in value.tolist()])
    return np.array([sign / max(each, SMALLEST) for each in magnitudes], dtype=value.dtype)


def _products(a: Array, b: Array) -> Array:
    """Give ``Σ A ∘ B`` for every restart."""
    return np.einsum("rij,rij->r", a, b)


def _diagonals(matrices: Array) -> Array:
    """Give the diagonals of contiguous square matrices, to be written to: (restarts, rows)."""
    return matrices.reshape(len(matrices), -1)[:, :: matrices.shape[-1] + 1]


def _walk(gram: Array, graph: Graph) -> tuple[Array, Array, Array]:
    norms, rows = np.diagonal(gram, axis1=-2, axis2=-1), gram.shape[-1]
    distances = gram * -2.0
    distances += norms[:, :, None]
    distances += norms[:, None, :]
    np.maximum(distances, 0, out=distances)
    variance = distances.sum(axis=(-2, -1)) * (graph.factor / (rows * (rows - 1)))
    walk = distances * _inverse(variance)[:, None, None]
    if not graph.self_loops:
        _diagonals(walk)[:] = -np.inf
    return distances, variance, _softmax(walk)


def _softmax(scores: Array) -> Array:
    """Overwrite scores by their softmax over the last axis."""
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores


def _inverse(variance: Array) -> Array:
    """Give ``−1/2σ²``."""
    return -0.5 / (variance + TINY / 2)


def _through_distances(by_walk: Array, transitions: Array, distances: Array, variance: Array, graph: Graph) -> Array:
    """Take the derivative by P back to K, through ``P = softmax(−D/2σ²)`` and ``D_il = K_ii + K_ll − 2 K_il``.

    The first array is overwritten.
    """
    rows, inverse = distances.shape[-1], _inverse(variance)
    by_exponent = np.multiply(by_walk, transitions, out=by_walk)
    by_exponent -= transitions * by_exponent.sum(axis=-1, keepdims=True)
    by_variance = _products(by_exponent, distances) * 2 * inverse * inverse
    by_distance = np.multiply(by_exponent, inverse[:, None, None], out=by_exponent)
    by_distance += (by_variance * (graph.factor / (rows * (rows - 1))))[:, None, None]
    by_norm = by_distance.sum(axis=-1) + by_distance.sum(axis=-2)
    by_gram = np.multiply(by_distance, -2.0, out=by_distance)
    _diagonals(by_gram)[:] += by_norm
    return by_gram


def layer_gradient(
    layer: ConcreteLayer, seen: Seen, objective: Objective, temperature: float, noise: Tensor
) -> tuple[dict[str, Array], Array]:
    """Give the values of the terms, and the derivative of the loss by the logits, for one noisy sample.

    Only the largest entry ``g_j = Z_ij`` of each column of Z passes anything back: with ``e_j = g_j ∂L/∂g_j``, the
    derivative by Λ_ij is ``(e_j [i shows j] − Z_ij Σ_{l shown by i} e_l) / τ``.
    """
    shown, n_kept, logits = seen.shown.numpy(), len(layer.kept), layer.logits.detach().numpy()
    sample = logits + noise.numpy()
    sample = _softmax(np.divide(sample, temperature, out=sample))
    gates = opened = sample.max(axis=1)
    if n_kept:
        gates = np.concatenate([np.ones((len(opened), n_kept), opened.dtype), opened], axis=-1)
    gram = (shown * np.square(gates)[:, None, :]) @ shown.T
    values, by_gram = graph_gradient(gram, seen.goal.numpy(), objective, ranks.mean_of)
    free = shown[:, n_kept:]
    passed = (free * (by_gram @ free)).sum(axis=-2) * np.square(opened) * (2 / temperature)
    by_logits = _through_largest(passed, sample, opened)
    for name, term in objective.terms.items():
        if term.value is redundancy:
            values[name] = _add_redundancy(by_logits, logits, temperature, term.weight)
    return values, by_logits


def _through_largest(passed: Array, sample: Array, opened: Array) -> Array:
    """Take ``e_j/τ`` (restarts, candidates) back through the largest entry of each column, and the softmax of rows.

    Comparing with the maximum is several times faster than asking for its position.
    """
    restarts, units, candidates = sample.shape
    places = np.flatnonzero(sample == opened[:, None, :])
    showing = places // candidates
    received = passed.ravel()[showing // units * candidates + places % candidates]
    totals = np.bincount(showing, weights=received, minlength=restarts * units).astype(sample.dtype)
    by_logits = sample * -totals.reshape(restarts, units, 1)
    by_logits.ravel()[places] += received
    return by_logits


def _add_redundancy(by_logits: Array, logits: Array, temperature: float, weight: float) -> Array:
    """Add the derivative of ``w · max(0, max_j Σ_i π_ij − 1)`` in place; give the value."""
    probabilities = _softmax(logits / temperature)
    wanted = probabilities.sum(axis=1)
    columns, each = wanted.argmax(axis=-1), np.arange(len(wanted))
    excess = np.maximum(wanted[each, columns] - 1, 0)
    if excess.any():
        slope = probabilities[each, :, columns] * (weight / temperature) * (excess > 0)[:, None]
        by_logits -= np.multiply(probabilities, slope[:, :, None], out=probabilities)
        by_logits[each, :, columns] += slope
    return excess


def covers(layer: ConcreteLayer, objective: Objective) -> bool:
    """Tell whether a step of this layer is written out: free logits on a CPU, and units to train."""
    plain = isinstance(layer.source, DirectLogits) and layer.shape[1] > 0
    return plain and layer.kept.device.type == "cpu" and applies(objective)
