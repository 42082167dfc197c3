"""Whether a feature has more than one mode, whatever the other features say."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tamis.structure.evidence import tail_probability

SCALES = (0.05, 0.1, 0.2)
"""Shares of the rows over which densities are estimated."""

MAX_REPEATED = 0.05
"""A feature of which one value takes a larger share of the rows is not continuous, and its modes mean little."""

SIZES = (50, 70, 100, 140, 200, 280, 400, 560, 800, 1120, 1600)
"""Numbers of sorted values that are looked at, spread evenly over those of a feature; more tell little more."""

DRAWS = 2000
BLOCK = 256


def multimodality_pvalues(X: NDArray[np.floating]) -> NDArray[np.float64]:
    """Compute a p-value for more than one mode of each feature; 1 where it cannot be told.

    The density around row i of the sorted feature is ``f_i = 1 / (x_(i+m) − x_(i))``. A valley is as deep as the lower
    of the highest densities on its two sides exceeds the density in it,
    ``max_i min(max_{l<i} f_l, max_{l>i} f_l) / f_i``.
    Of all features with one mode the uniform one has the deepest valleys by chance, so it is the null, which depends
    on the number of rows alone. The deepest valley over :data:`SCALES`, each by its rank under the null, counts.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Numbers; features with NaN are judged by their other rows.
    """
    pvalues = np.ones(X.shape[1])
    for start in range(0, X.shape[1], BLOCK):
        by_size: dict[int, list[tuple[int, NDArray]]] = {}
        for j in range(start, min(start + BLOCK, X.shape[1])):
            values = np.sort(X[np.isfinite(X[:, j]), j])
            if len(values) >= SIZES[0] and _is_continuous(values):
                size = max(size for size in SIZES if size <= len(values))
                by_size.setdefault(size, []).append((j, _quantiles(values, size)))
        for size, found in by_size.items():
            pvalues[[j for j, _ in found]] = _pvalues(_deepest(np.stack([values for _, values in found])), *_null(size))
    return pvalues


@lru_cache(maxsize=len(SIZES))
def _null(size: int) -> tuple[NDArray, NDArray]:
    """Return, for uniform features, the ordered depths at each scale and the ordered smallest tails over scales."""
    depths = _deepest(np.sort(np.random.default_rng(size).random((DRAWS, size)), axis=1))
    ordered = np.sort(depths, axis=1)
    return ordered, np.sort(_smallest_tail(depths, ordered))


def _is_continuous(values: NDArray) -> bool:
    """Tell whether no value of an ordered feature takes more than :data:`MAX_REPEATED` of the rows."""
    width = max(1, int(MAX_REPEATED * len(values)))
    return bool((values[width:] > values[:-width]).all())


def _quantiles(values: NDArray, size: int) -> NDArray[np.float64]:
    """Return evenly spread order statistics; repeated values fill the room halfway to their neighbours evenly.

    Rounded values would else seem to have a mode each.
    """
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) == len(values):
        return values[np.linspace(0, len(values) - 1, size).astype(np.intp)]
    middles = (distinct[1:] + distinct[:-1]) / 2
    borders = np.r_[2 * distinct[0] - middles[0], middles, 2 * distinct[-1] - middles[-1]]
    return np.interp((np.arange(size) + 0.5) * len(values) / size, np.r_[0, np.cumsum(counts)], borders)


def _deepest(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the logarithm of the deepest valley of each row of ordered values at each scale: (scales, rows)."""
    size = rows.shape[1]
    depths = []
    for scale in SCALES:
        m = max(3, int(scale * size))
        spacing = rows[:, m:] - rows[:, :-m]
        density = -np.log(np.maximum(spacing, 1e-12 * np.maximum(rows[:, -1:] - rows[:, :1], 1e-300)))
        left = np.maximum.accumulate(density, axis=1)
        right = np.maximum.accumulate(density[:, ::-1], axis=1)[:, ::-1]
        depths.append((np.minimum(left, right) - density).max(axis=1))
    return np.stack(depths)


def _pvalues(depths: NDArray, ordered: NDArray, smallest: NDArray) -> NDArray[np.float64]:
    """Compare the smallest tail probability over scales with those of the null draws."""
    return np.minimum(1.0, tail_probability(-np.log(_smallest_tail(depths, ordered)), np.sort(-np.log(smallest))))


def _smallest_tail(depths: NDArray, ordered: NDArray) -> NDArray[np.float64]:
    """Return the smallest probability over scales of a valley as deep."""
    return np.min([tail_probability(row, null) for row, null in zip(depths, ordered, strict=True)], axis=0)
