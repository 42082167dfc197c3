"""From strengths of dependence to p-values and discoveries."""

import numpy as np
from numpy.typing import NDArray

from tamis.structure.bases import RankBasis
from tamis.structure.dependence import Strongest, strongest_among

NULL_DRAWS = 2000
"""Strengths of shuffled features that p-values are taken from."""

TAIL_SHARE = 0.02
"""Share of the null draws beyond which they are continued as an exponential tail, as maxima have."""


def null_strengths(
    basis: RankBasis,
    partners: NDArray[np.intp],
    batches: list[NDArray[np.intp]],
    rng: np.random.Generator,
    n_draws: int = NULL_DRAWS,
) -> NDArray[np.float64]:
    """Return strengths of dependence under chance: of features with their rows shuffled, on the others as they are.

    Features of all laws are pooled. The number of false discoveries among all features is then right, though it may
    be too large for some laws and too small for others.
    """
    others = basis.take(partners)
    draws: list[NDArray[np.float32]] = []
    # A single feature has no other one to depend on.
    while basis.n_features > 1 and sum(len(drawn) for drawn in draws) < n_draws:
        some = rng.permutation(basis.n_features)[:n_draws]
        shuffled = basis.take(some).shuffled(rng, batches)
        draws.append(strongest_among(shuffled, some, others, partners).strength)
    null = np.concatenate([np.empty(0), *draws])
    return np.sort(null[np.isfinite(null)])


def dependence_pvalues(found: Strongest, null: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each strength under chance; 1 for features without a partner."""
    strength = found.strength.astype(np.float64)
    return np.where(np.isfinite(strength), tail_probability(strength, null), 1.0)


def tail_probability(values: NDArray[np.float64], ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that a null draw reaches each value.

    Up to the highest :data:`TAIL_SHARE` of the ordered draws, it is the share of draws; beyond, with threshold t and
    mean excess e of those draws, ``share(t) · exp(−(x − t) / e)``.
    """
    n = len(ordered)
    if n < 2:
        return np.ones(len(values))
    top = min(n - 1, max(20, int(TAIL_SHARE * n)))
    threshold = ordered[-top]
    excess = max(float((ordered[-top:] - threshold).mean()), 1e-12)
    empirical = (1 + n - np.searchsorted(ordered, values, side="left")) / (1 + n)
    beyond = np.exp(-np.maximum(values - threshold, 0) / excess) * (top / n)
    # Features of few values have draws far beyond an exponential tail; as many as there are, they count.
    reached = (n - np.searchsorted(ordered, values, side="left")) / n
    return np.where(values > threshold, np.maximum(beyond, reached), empirical)


def discoveries(pvalues: NDArray[np.float64], fdr: float) -> NDArray[np.bool_]:
    """Select features so that the expected share of false ones is at most ``fdr`` (Benjamini and Hochberg, 1995)."""
    order = np.argsort(pvalues, kind="stable")
    limits = fdr * np.arange(1, len(order) + 1) / max(1, len(order))
    below = np.flatnonzero(pvalues[order] <= limits)
    found = np.zeros(len(order), dtype=bool)
    if below.size:
        found[order[: below[-1] + 1]] = True
    return found
