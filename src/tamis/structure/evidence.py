"""From strengths and valleys to p-values, and from p-values to discoveries."""

from functools import lru_cache

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from tamis.structure.sample import BLOCK, MIN_FEATURES, tied_places

FDR = 0.1
"""Share of false discoveries that is accepted by default."""

STRICT_FDR = 0.01
"""Level where nobody needs a doubtful feature: of candidates beyond the k strongest, and for suggestions of k."""

TAIL_SHARE, VALLEY_SHARE = 0.2, 0.05
"""Shares of the null draws, of maxima and of valleys, beyond which they are continued as an exponential tail. Maxima
have one over a wide range; that of valleys is lighter, and the fit too careful if it begins early."""


Laws = tuple[NDArray[np.intp], NDArray[np.intp]]

WEIGHTS = np.array([2.0, 1.0, 1.0])
"""How much the kinds of evidence count: dependence on a feature, on principal components, several modes."""


def tail_probability(
    values: NDArray[np.float64], null: NDArray[np.float64], share: float = TAIL_SHARE, laws: Laws | None = None
) -> NDArray[np.float64]:
    """Return the probability that a null draw reaches each value; 1 for values that are not finite.

    Up to the highest share of the null draws, it is the share of draws; beyond, with threshold t and mean excess e of
    those draws, ``share(t) · exp(−(x − t) / e)``. With the law of each value and of each null draw, it is the larger
    one of that among all draws and that among those of the same law: of few features of one law among many of another,
    chance would be that of the others, and few draws of rare values have a tail with gaps. Rows in which rare values
    meet are few and counted, and a strength grows as the square of their number, so that for every law but the first
    it is the root of the strength that has an exponential tail.
    """
    ordered = np.sort(null[np.isfinite(null)])
    n = len(ordered)
    if n < 2:
        return np.ones(len(values))
    top = min(n - 1, max(20, int(share * n)))
    threshold = ordered[-top]
    excess = max(float((ordered[-top:] - threshold).mean()), 1e-12)
    n_reached = n - np.searchsorted(ordered, values, side="left")
    beyond = np.exp(-np.maximum(values - threshold, 0) / excess) * (top / n)
    # Features of few values have draws far beyond an exponential tail; as many as there are, they count.
    tail = np.where(values > threshold, np.maximum(beyond, n_reached / n), (1 + n_reached) / (1 + n))
    of_values, of_null = (np.empty(0),) * 2 if laws is None else laws
    for law in np.unique(of_values):
        same, power = of_values == law, 0.5 if law else 1.0
        own, draws = (np.sign(x) * np.abs(x) ** power for x in (values[same], null[of_null == law]))
        tail[same] = np.maximum(tail[same], tail_probability(own, draws, share))
    return np.where(np.isfinite(values), tail, 1.0)


def discoveries(pvalues: NDArray[np.float64], fdr: float, owner: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
    """Select features so that the expected share of false ones is at most ``fdr`` (Benjamini and Hochberg, 1995).

    Features of one owner, which have the same p-value, count once.
    """
    ordered = np.sort(pvalues if owner is None else pvalues[np.unique(owner, return_index=True)[1]])
    below = np.flatnonzero(ordered <= fdr * np.arange(1, len(ordered) + 1) / max(1, len(ordered)))
    return pvalues <= ordered[below[-1]] if below.size else np.zeros(len(pvalues), dtype=bool)


def group_pvalues(pvalues: NDArray[np.float64], owner: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return for each feature the p-value of its group: the smallest, times the number of its features (Bonferroni)."""
    smallest = np.ones(owner.max() + 1)
    np.minimum.at(smallest, owner, pvalues)
    return np.minimum(1.0, smallest * np.bincount(owner))[owner]


SCALES = (0.05, 0.1, 0.2)
"""Shares of the rows over which densities are estimated."""

MAX_REPEATED = 0.05
"""A feature of which one value takes a larger share of the rows is not continuous, and its modes mean little."""

AROUND = 0.1
"""Share of the rows, on each side, that tell how dense the values around one are."""

SIZES = (50, 70, 100, 140, 200, 280, 400, 560, 800)
"""Numbers of sorted values that are examined, spread evenly over those of a feature; more of them add little."""

UNIFORM_DRAWS = 2000
"""Uniform features whose valleys p-values are taken from."""


def multimodality_pvalues(X: NDArray[np.floating]) -> NDArray[np.float64]:
    """Compute a p-value for more than one mode of each feature; 1 where it cannot be told.

    The density around row i of the sorted feature is ``f_i = 1 / (x_(i+m) − x_(i))``. A valley is as deep as the lower
    of the highest densities on its two sides exceeds the density in it,
    ``max_i min(max_{l<i} f_l, max_{l>i} f_l) / f_i``. Of all features with one mode the uniform one has the deepest
    valleys by chance, so it is the null, which depends on the number of rows alone. The deepest valley over
    :data:`SCALES`, each by its rank under the null, counts. NaN in X is missing.
    """
    d = X.shape[1]
    parallel = Parallel(None if d > MIN_FEATURES else 1, require="sharedmem")
    parts = parallel(delayed(_block_pvalues)(X[:, start : start + BLOCK]) for start in range(0, d, BLOCK))
    return np.concatenate([np.empty(0), *parts])


def _block_pvalues(X: NDArray[np.floating]) -> NDArray[np.float64]:
    pvalues, ordered = np.ones(X.shape[1]), np.sort(X.T.astype(np.float64), axis=1)
    tied = np.any(ordered[:, 1:] == ordered[:, :-1], axis=1)
    if tied.any():
        ordered[tied] = _thinned(ordered[tied])
    counts = (~np.isnan(ordered)).sum(axis=1)
    for count in np.unique(counts[counts >= SIZES[0]]):
        features, rows = np.flatnonzero(counts == count), ordered[counts == count, :count]
        if tied[features].any():
            rows[tied[features]] = _spread_ties(rows[tied[features]])
        size = max(size for size in SIZES if size <= count)
        null, smallest = _null_depths(size)
        evidence, _ = _deepest(rows[:, np.linspace(0, count - 1, size).astype(np.intp)], null)
        pvalues[features] = tail_probability(evidence, smallest, VALLEY_SHARE)
    return pvalues


@lru_cache(maxsize=len(SIZES))
def _null_depths(size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, for uniform features, the ordered depths at each scale and the ordered evidence over scales."""
    evidence, null = _deepest(np.sort(np.random.default_rng(size).random((UNIFORM_DRAWS, size)), axis=1))
    return null, np.sort(evidence)


def _thinned(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ordered features without most cells of a value that is repeated far more than others around it.

    A limit of detection, a cap and a favourite round number are no modes: of such a value, twice as many cells stay as
    the more frequent neighbour has, or as the density around it puts where no other value is: of rates, simple
    fractions such as 1/3 are both frequent and far from others. Nothing stays of a feature that is not continuous.
    """
    (first, last), n = tied_places(rows), rows.shape[1]
    times, wide = last - first + 1, int(AROUND * n)
    before, after = (np.take_along_axis(times, np.clip(at, 0, n - 1), axis=1) for at in (first - 1, last + 1))
    before, after = np.where(first == 0, after, before), np.where(last == n - 1, before, after)
    (low, high), edges = _rooms(rows, first, last), (np.maximum(first - wide, 0), np.minimum(last + wide, n - 1))
    left, right = (np.take_along_axis(rows, at, axis=1) for at in edges)
    # Where no other value is, or cells are missing, there is no density.
    density = (first - edges[0] + edges[1] - last) / np.where(right > left, right - left, np.inf)
    usual = np.fmax(np.maximum(before, after), density * (low + high))
    surplus = np.arange(n) - first >= 2 * usual
    counts = (~np.isnan(rows)).sum(axis=1)
    surplus |= (times.max(axis=1) > np.maximum(1, MAX_REPEATED * counts))[:, None]
    return np.sort(np.where(surplus, np.nan, rows), axis=1)


def _rooms(
    rows: NDArray[np.float64], first: NDArray[np.intp], last: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return half the distances of ordered values to the next lower and the next higher one."""
    n = rows.shape[1]
    below, above = (
        np.take_along_axis(rows, at, axis=1) for at in (np.maximum(first - 1, 0), np.minimum(last + 1, n - 1))
    )
    low, high = (rows - below) / 2, (above - rows) / 2
    return np.where(first == 0, high, low), np.where(last == n - 1, low, high)


def _spread_ties(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ordered features whose repeated values fill the room halfway to their neighbours evenly.

    Else each rounded value would be a mode.
    """
    first, last = tied_places(rows)
    low, high = _rooms(rows, first, last)
    spread: NDArray[np.float64] = (
        rows - low + (np.arange(rows.shape[1]) - first + 0.5) / (last - first + 1) * (low + high)
    )
    return spread


def _deepest(
    rows: NDArray[np.float64], null: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the evidence of the deepest valley of each row of ordered values, and the ordered depths at each scale.

    It is ``−log`` of the smallest probability over scales of a valley as deep, under the ordered depths of the null, or
    of these rows themselves.
    """
    least, depths = 1e-12 * np.maximum(rows[:, -1:] - rows[:, :1], 1e-300), []
    for scale in SCALES:
        m = max(3, int(scale * rows.shape[1]))
        density = -np.log(np.maximum(rows[:, m:] - rows[:, :-m], least))
        left = np.maximum.accumulate(density, axis=1)
        right = np.maximum.accumulate(density[:, ::-1], axis=1)[:, ::-1]
        depths.append((np.minimum(left, right) - density).max(axis=1, initial=0.0))
    ordered = np.sort(depths, axis=1) if null is None else null
    smallest = np.min([tail_probability(*pair, VALLEY_SHARE) for pair in zip(depths, ordered, strict=True)], axis=0)
    return -np.log(smallest), ordered
