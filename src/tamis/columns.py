"""What one pass over the rows tells about the columns: mean, spread, constant and non-finite ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

BLOCK_VALUES = 2**21
"""Values held dense at a time (16 MB in float64); sparse and dense tables go through equal blocks."""


def row_blocks(X: Any, block_values: int = BLOCK_VALUES) -> Iterator[NDArray[np.float64]]:
    """Yield consecutive rows of a dense or CSR matrix as fresh dense float64 arrays."""
    rows = max(1, block_values // max(1, X.shape[1]))
    for start in range(0, X.shape[0], rows):
        block = X[start : start + rows]
        yield np.array(block.toarray() if issparse(block) else block, dtype=np.float64)


@dataclass(frozen=True)
class ColumnStatistics:
    """Mean, standard deviation (divisor n), constant mask and number of non-finite cells of every column.

    ``bad_row`` is the first row with a non-finite cell, -1 if there is none.
    """

    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    constant: NDArray[np.bool_]
    non_finite: NDArray[np.intp]
    bad_row: int = -1


class ColumnSummary:
    """Statistics of the rows seen so far, which come in blocks.

    Means m and sums of squared deviations S of parts a and b are merged by
    ``S = S_a + S_b + (m_b − m_a)² n_a n_b / (n_a + n_b)``, which does not cancel as ``Σx² − n m²`` does.
    """

    def __init__(self, n_columns: int):
        self.count, self.bad_row = 0, -1
        self.mean, self.deviations = np.zeros(n_columns), np.zeros(n_columns)
        self.low, self.high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
        self.non_finite = np.zeros(n_columns, dtype=np.intp)

    def add(self, block: Any, first_row: int = 0) -> None:
        """Take in rows, dense or CSR; a CSR block is not made dense."""
        with np.errstate(invalid="ignore", over="ignore"):
            other = _of_sparse(block, first_row) if issparse(block) else _of_dense(np.asarray(block), first_row)
            self.merge(other)

    def merge(self, other: "ColumnSummary") -> None:
        """Take in the rows that another summary has seen, which come after those of this one."""
        if not other.count:
            return
        total = self.count + other.count
        with np.errstate(invalid="ignore", over="ignore"):
            shift = other.mean - self.mean
            self.deviations += other.deviations + shift**2 * (self.count * other.count / total)
            self.mean += shift * (other.count / total)
            self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        self.count = total
        self.non_finite += other.non_finite
        self.bad_row = other.bad_row if self.bad_row < 0 else self.bad_row

    def statistics(self) -> ColumnStatistics:
        """Give the statistics of all rows seen."""
        with np.errstate(invalid="ignore", over="ignore"):
            std = np.sqrt(self.deviations / max(1, self.count))
        return ColumnStatistics(self.mean, std, self.low == self.high, self.non_finite, self.bad_row)


def _of_dense(block: NDArray, first_row: int) -> ColumnSummary:
    found = ColumnSummary(block.shape[1])
    block = block.astype(np.float64, copy=False)
    found.count, found.mean = len(block), block.mean(axis=0)
    found.deviations = ((block - found.mean) ** 2).sum(axis=0)
    found.low, found.high = block.min(axis=0), block.max(axis=0)
    bad = ~np.isfinite(block)
    found.non_finite = bad.sum(axis=0)
    if found.non_finite.any():
        found.bad_row = first_row + int(bad.any(axis=1).argmax())
    return found


def _of_sparse(block: Any, first_row: int) -> ColumnSummary:
    """Summarise a CSR block from its stored values v: ``S_j = Σ (v − m_j)² + (n − n_j) m_j²``."""
    rows, d = block.shape
    found, values, columns = ColumnSummary(d), block.data.astype(np.float64), block.indices
    stored = np.bincount(columns, minlength=d)
    found.count, found.mean = rows, np.bincount(columns, values, minlength=d) / rows
    squares = np.square(values - found.mean[columns])
    found.deviations = np.bincount(columns, squares, minlength=d) + (rows - stored) * found.mean**2
    np.minimum.at(found.low, columns, values)
    np.maximum.at(found.high, columns, values)
    empty = stored < rows
    found.low[empty], found.high[empty] = np.minimum(found.low[empty], 0), np.maximum(found.high[empty], 0)
    bad = ~np.isfinite(values)
    found.non_finite = np.bincount(columns[bad], minlength=d)
    if bad.any():
        found.bad_row = first_row + int(np.searchsorted(block.indptr, bad.argmax(), side="right")) - 1
    return found


def summarise_columns(X: Any, block_values: int = BLOCK_VALUES) -> ColumnStatistics:
    """Compute :class:`ColumnStatistics` block by block.

    A dense and a sparse copy of one table give equal bits, hence equal selections. A table that is read in pieces
    summarises itself.
    """
    if hasattr(X, "column_statistics"):
        return X.column_statistics()
    summary, first_row = ColumnSummary(X.shape[1]), 0
    for block in row_blocks(X, block_values):
        summary.add(block, first_row)
        first_row += len(block)
    return summary.statistics()
