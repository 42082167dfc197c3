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
    """Mean, standard deviation (divisor n), constant mask and number of non-finite cells of every column."""

    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    constant: NDArray[np.bool_]
    non_finite: NDArray[np.intp]


def summarise_columns(X: Any, block_values: int = BLOCK_VALUES) -> ColumnStatistics:
    """Compute :class:`ColumnStatistics` block by block.

    Means m and sums of squared deviations S of blocks a and b are merged by
    ``S = S_a + S_b + (m_b − m_a)² n_a n_b / (n_a + n_b)``, which does not cancel as ``Σx² − n m²`` does.
    A dense and a sparse copy of one table give equal bits, hence equal selections.
    """
    d = X.shape[1]
    count, mean, deviations = 0, np.zeros(d), np.zeros(d)
    low, high, non_finite = np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d, dtype=np.intp)
    with np.errstate(invalid="ignore", over="ignore"):
        for block in row_blocks(X, block_values):
            rows, block_mean = len(block), block.mean(axis=0)
            shift = block_mean - mean
            deviations += ((block - block_mean) ** 2).sum(axis=0) + shift**2 * (count * rows / (count + rows))
            mean += shift * (rows / (count + rows))
            count += rows
            low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
            non_finite += (~np.isfinite(block)).sum(axis=0)
        return ColumnStatistics(mean, np.sqrt(deviations / count), low == high, non_finite)
