"""From strengths to p-values, and from p-values to discoveries."""

import numpy as np
from numpy.typing import NDArray

FDR = 0.1
"""Share of false discoveries that is accepted by default."""

STRICT_FDR = 0.01
"""Level where nobody needs a doubtful feature: of candidates beyond the k strongest, and for suggestions of k."""

TAIL_SHARE = 0.05
"""Share of the null draws beyond which they are continued as an exponential tail, as maxima have."""


def tail_probability(values: NDArray[np.float64], ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that a null draw reaches each value; 1 for values that are not finite.

    Up to the highest :data:`TAIL_SHARE` of the ordered draws, it is the share of draws; beyond, with threshold t and
    mean excess e of those draws, ``share(t) · exp(−(x − t) / e)``.
    """
    n = len(ordered)
    if n < 2:
        return np.ones(len(values))
    top = min(n - 1, max(20, int(TAIL_SHARE * n)))
    threshold = ordered[-top]
    excess = max(float((ordered[-top:] - threshold).mean()), 1e-12)
    n_reached = n - np.searchsorted(ordered, values, side="left")
    beyond = np.exp(-np.maximum(values - threshold, 0) / excess) * (top / n)
    # Features of few values have draws far beyond an exponential tail; as many as there are, they count.
    tail = np.where(values > threshold, np.maximum(beyond, n_reached / n), (1 + n_reached) / (1 + n))
    return np.where(np.isfinite(values), tail, 1.0)


def discoveries(pvalues: NDArray[np.float64], fdr: float) -> NDArray[np.bool_]:
    """Select features so that the expected share of false ones is at most ``fdr`` (Benjamini and Hochberg, 1995)."""
    ordered = np.sort(pvalues)
    below = np.flatnonzero(ordered <= fdr * np.arange(1, len(ordered) + 1) / max(1, len(ordered)))
    return pvalues <= ordered[below[-1]] if below.size else np.zeros(len(pvalues), dtype=bool)


def group_pvalues(pvalues: NDArray[np.float64], owner: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return for each feature the p-value of its group: the smallest, times the number of its features (Bonferroni)."""
    smallest = np.ones(owner.max() + 1)
    np.minimum.at(smallest, owner, pvalues)
    return np.minimum(1.0, smallest * np.bincount(owner))[owner]
