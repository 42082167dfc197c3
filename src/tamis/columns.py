"""Statistics of the features of a table, from one pass over its rows."""

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

Array = NDArray[np.float64]

BLOCK_VALUES = 2**21
"""Values held dense at a time (16 MB in float64); sparse and dense tables go through equal blocks."""

MIN_BLOCK_ROWS = 64
"""Sparse tables of which a block would hold fewer rows are summarised as they are."""

MAX_MAGNITUDE = 1e307
"""Larger values can differ by more than a float64 holds."""

MIN_SPREAD = 1e-292
"""Smaller standard deviations have lost digits: values that differ by less are subnormal numbers."""

MAX_UNSCALED = 1e15
"""Larger values, if they are not scaled, have no digits left for differences of one, and their products overflow."""

REMEDIES = {
    "inf": "Replace inf by NaN (for example by numpy.where(numpy.isinf(X), numpy.nan, X))",
    "NaN": "Fill the gaps (for example with sklearn.impute.SimpleImputer)",
}

UNSCALABLE = "scaled in double precision. Multiply these features by a constant, or drop them."
NOT_AS_THEY_ARE = (
    "computed with as they are. Use scale='standard' where the method has it, or multiply these features by a constant."
)
"""What cannot be done with values that are too large or too near to each other, and the remedy."""


class ColumnStatistics(NamedTuple):
    """Statistics of every feature over some rows, of the cells that are not missing."""

    n_rows: int
    mean: Array
    std: Array  # with the divisor n
    low: Array
    high: Array
    missing: NDArray[np.intp]  # number of cells that are NaN
    non_finite: NDArray[np.intp]  # number of cells that are NaN or infinite
    bad_row: int  # the first row with such a cell, -1 if there is none
    constant: NDArray[np.bool_]  # whether there is one value only

    def scaling(self, scale: str | None) -> tuple[NDArray[np.intp], Array, Array]:
        """Return the features that vary, what to subtract from them and what to divide them by.

        They are z-scored ("standard"), centred ("center") or left as they are (None).
        """
        features = np.flatnonzero(~self.constant)
        center = np.zeros(len(features)) if scale is None else self.mean[features]
        return features, center, self.std[features] if scale == "standard" else np.ones(len(features))

    @np.errstate(invalid="ignore", over="ignore")
    def merged(self, other: "ColumnStatistics") -> "ColumnStatistics":
        """Return the statistics of these rows followed by others.

        With shares a and b of the rows, ``m = a m_a + b m_b`` and ``s² = a s_a² + b s_b² + a b (m_b − m_a)²``, which
        does not cancel as ``mean(x²) − m²`` does.
        """
        n_rows, missing = self.n_rows + other.n_rows, self.missing + other.missing
        b = (other.n_rows - other.missing) / np.maximum(n_rows - missing, 1)
        a = 1 - b
        low, high = np.fmin(self.low, other.low), np.fmax(self.high, other.high)
        bad_row = other.bad_row if self.bad_row < 0 else self.bad_row
        shift = other.mean - self.mean
        within = np.hypot(np.sqrt(a) * self.std, np.sqrt(b) * other.std)
        mean, std = self.mean + b * shift, np.hypot(within, np.sqrt(a * b) * shift)
        non_finite = self.non_finite + other.non_finite
        return ColumnStatistics(n_rows, mean, std, low, high, missing, non_finite, bad_row, ~(low < high))


def summarise_columns(X: Any, block_values: int = BLOCK_VALUES) -> ColumnStatistics:
    """Compute the statistics of a table block by block; a table that is read in pieces has its own.

    A dense and a sparse copy of one table have equal bits, hence equal selections.
    """
    if hasattr(X, "column_statistics"):
        found: ColumnStatistics = X.column_statistics()
        return found
    n_rows = max(1, block_values // max(1, X.shape[1]))
    # Of a very wide sparse table a dense block would hold a few rows only.
    if issparse(X) and n_rows < MIN_BLOCK_ROWS < X.shape[0]:
        return block_statistics(X)
    blocks = ((X[start : start + n_rows], start) for start in range(0, X.shape[0], n_rows))
    dense = ((block.toarray() if issparse(block) else np.ascontiguousarray(block), start) for block, start in blocks)
    return reduce(ColumnStatistics.merged, (block_statistics(block, start) for block, start in dense))


@np.errstate(invalid="ignore", over="ignore")
def block_statistics(block: Any, first_row: int = 0) -> ColumnStatistics:
    """Compute the statistics of rows, dense or CSR.

    The unit of a feature is a power of two, which is exact, so that no square overflows or vanishes.
    """
    if issparse(block):
        return _sparse_statistics(block, first_row)
    # Single precision becomes double below, in pieces that fit in the cache.
    block = block if block.dtype == np.float32 else block.astype(np.float64, copy=False)
    low, high = (edge.astype(np.float64) for edge in (block.min(axis=0), block.max(axis=0)))
    missing = non_finite = np.zeros(block.shape[1], np.intp)
    bad_row = -1
    gaps: Any = slice(0)  # no cell
    if not (np.isfinite(low) & np.isfinite(high)).all():
        bad, gaps = ~np.isfinite(block), np.isnan(block)
        missing, non_finite = gaps.sum(axis=0), bad.sum(axis=0)
        bad_row = first_row + int(bad.any(axis=1).argmax())
        low, high = (edge.reduce(block, axis=0).astype(np.float64) for edge in (np.fmin, np.fmax))
    unit = np.ldexp(1.0, np.frexp(np.fmax(-low, high))[1] - 1)
    count, scaled = np.maximum(len(block) - missing, 1), block / unit
    scaled[gaps] = 0.0
    mean = scaled.sum(axis=0) / count
    scaled -= mean
    scaled[gaps] = 0.0
    std = np.sqrt(np.square(scaled, out=scaled).sum(axis=0) / count)
    return ColumnStatistics(len(block), mean * unit, std * unit, low, high, missing, non_finite, bad_row, ~(low < high))


def _sparse_statistics(block: Any, first_row: int) -> ColumnStatistics:
    """Compute the statistics of a CSR block from its n_j stored values v, ``n s² = Σ (v − m)² + (n − n_j) m²``."""
    n, d = block.shape
    values, columns = block.data.astype(np.float64), block.indices
    bad, gaps = ~np.isfinite(values), np.isnan(values)
    bad_row = first_row + int(np.searchsorted(block.indptr, bad.argmax(), side="right")) - 1 if bad.any() else -1
    non_finite, missing = np.bincount(columns[bad], minlength=d), np.bincount(columns[gaps], minlength=d)
    zeros = n - np.bincount(columns, minlength=d)
    values, columns = values[~gaps], columns[~gaps]
    low, high = np.where(zeros > 0, 0.0, np.inf), np.where(zeros > 0, 0.0, -np.inf)
    np.minimum.at(low, columns, values)
    np.maximum.at(high, columns, values)
    unit = np.ldexp(1.0, np.frexp(np.maximum(-low, high))[1] - 1)
    count, scaled = np.maximum(n - missing, 1), values / unit[columns]
    mean = np.bincount(columns, scaled, minlength=d) / count
    squares = np.bincount(columns, np.square(scaled - mean[columns]), minlength=d) + zeros * mean**2
    mean, std = mean * unit, np.sqrt(squares / count) * unit
    return ColumnStatistics(n, mean, std, low, high, missing, non_finite, bad_row, ~(low < high))


def check_cells(
    statistics: ColumnStatistics, scale: str | None, allows_missing: bool, named: Callable[[NDArray[np.intp]], str]
) -> None:
    """Raise a ValueError that names the features that cannot be computed with, once they are scaled as told."""
    infinite = statistics.non_finite - statistics.missing
    faults = {"NaN": not allows_missing and statistics.missing.any(), "inf": infinite.any()}
    if any(faults.values()):
        bad = np.flatnonzero(infinite if allows_missing else statistics.non_finite)
        # The first row that is not finite may hold NaN, which is no fault where cells may be missing.
        where = "" if allows_missing and statistics.missing.any() else f", the first in row {statistics.bad_row}"
        advice = ". ".join(text for fault, text in REMEDIES.items() if faults[fault])
        what = " and ".join(fault for fault, found in faults.items() if found)
        raise ValueError(f"X holds {what}{where}: {named(bad)}. {advice} or drop these features.")
    largest = np.where(statistics.constant, 0.0, np.maximum(-statistics.low, statistics.high))
    spread = np.where(statistics.constant, 1.0, statistics.std)
    limits = [(MAX_MAGNITUDE, MIN_SPREAD, UNSCALABLE)]
    limits += [(MAX_UNSCALED, 1 / MAX_UNSCALED, NOT_AS_THEY_ARE)] if scale != "standard" else []
    for most, least, fault in limits:
        if (outside := np.flatnonzero((largest > most) | (spread < least))).size:
            what = f"values beyond {most:g}, or that differ by less than {least:g}, cannot be"
            raise ValueError(f"{named(outside)}: {what} {fault}")
