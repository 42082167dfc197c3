"""The varying columns of a table, centred and scaled, given in dense blocks whatever the table is stored as."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from tamis.columns import BLOCK_VALUES, ColumnStatistics

Array = NDArray[np.float64]

CACHE_VALUES = 2**16
"""Values of a block of columns (512 kB), which a sparse graph is multiplied by fastest while they are in the cache."""

FEWEST_COLUMNS = 32
"""A block has at least so many columns, even if they exceed the cache."""


class ScaledTable:
    """Columns ``(x − center) / spread`` of a dense array or CSR matrix, as float64.

    A dense array is scaled once, into a copy. A CSR matrix stays sparse, and its blocks are made dense when they are
    taken. Both give the same bits, hence the same selections.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The table; it is not changed.
    columns : ndarray of int
        The columns to show.
    mean, center, spread : ndarray
        For each of these columns, its mean, what to subtract and what to divide by.
    """

    def __init__(self, X: Any, columns: NDArray[np.intp], mean: Array, center: Array, spread: Array):
        self.columns, self.center, self.spread = columns, center, spread
        self.mean = (mean - center) / spread
        self.shape, self.n_columns = (X.shape[0], len(columns)), X.shape[1]
        self._sparse: Any = None
        self._by_column: Any = None
        self._whole: Array | None = None
        taken = X if len(columns) == X.shape[1] else X[:, columns]
        if issparse(X):
            self._sparse = taken
        else:
            self._whole = self._scaled(taken, center, spread)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are stored sparse."""
        return self._whole is None

    def expand(self, scores: Array) -> Array:
        """Return scores of the table's columns as scores of all columns of X, ``-inf`` for those left out."""
        expanded = np.full(self.n_columns, -np.inf)
        expanded[self.columns] = scores
        return expanded

    def row_blocks(self, block_values: int = BLOCK_VALUES) -> Iterator[tuple[slice, Array]]:
        """Yield consecutive rows with their positions; do not write into them."""
        for rows in _slices(self.shape[0], self.shape[1], block_values):
            yield rows, self.take_rows(rows)

    def column_blocks(self, block_values: int | None = None) -> Iterator[tuple[slice, Array]]:
        """Yield consecutive columns with their positions; do not write into them."""
        if block_values is None:
            block_values = max(CACHE_VALUES, FEWEST_COLUMNS * self.shape[0])
        if self._whole is None and self._by_column is None:
            self._by_column = self._sparse.tocsc()
        for columns in _slices(self.shape[1], self.shape[0], block_values):
            if self._whole is not None:
                yield columns, np.ascontiguousarray(self._whole[:, columns])
            else:
                block = self._by_column[:, columns].toarray()
                yield columns, self._scaled(block, self.center[columns], self.spread[columns])

    def take_rows(self, rows: slice | NDArray[np.intp]) -> Array:
        """Give some rows, dense; do not write into them."""
        if self._whole is not None:
            return self._whole[rows]
        return self._scaled(self._sparse[rows].toarray(), self.center, self.spread)

    def dense(self) -> Array:
        """Give the whole table, dense (8 bytes a cell); do not write into it."""
        return self.take_rows(slice(None))

    def subset(self, columns: NDArray[np.intp]) -> "ScaledTable":
        """Give a table of some of the columns, by their position in this one."""
        part = ScaledTable.__new__(ScaledTable)
        part.columns, part.mean = self.columns[columns], self.mean[columns]
        part.center, part.spread = self.center[columns], self.spread[columns]
        part.shape, part.n_columns = (self.shape[0], len(columns)), self.n_columns
        part._by_column = None
        part._sparse = None if self._sparse is None else self._sparse[:, columns]
        part._whole = None if self._whole is None else np.ascontiguousarray(self._whole[:, columns])
        return part

    @staticmethod
    def _scaled(block: Any, center: Array, spread: Array) -> Array:
        scaled = np.array(block, dtype=np.float64, order="C")
        if center.any():
            scaled -= center
        if (spread != 1).any():
            scaled /= spread
        return scaled


def scaling(statistics: ColumnStatistics, scale: str | None) -> tuple[NDArray[np.intp], Array, Array]:
    """Give the columns that vary, what to subtract from them and what to divide them by.

    They are z-scored ("standard"), centred ("center") or left as they are (None).
    """
    columns = np.flatnonzero(~statistics.constant)
    mean, std = statistics.mean[columns], statistics.std[columns]
    # Values so small that their squares vanish have no spread that could be divided by.
    spread = np.where(std > 0, std, 1.0) if scale == "standard" else np.ones_like(std)
    return columns, np.zeros_like(mean) if scale is None else mean, spread


def scale_table(X: Any, statistics: ColumnStatistics, scale: str | None) -> ScaledTable:
    """Show the columns that vary, scaled as :func:`scaling` says."""
    columns, center, spread = scaling(statistics, scale)
    return ScaledTable(X, columns, statistics.mean[columns], center, spread)


def _slices(length: int, width: int, block_values: int) -> Iterator[slice]:
    step = max(1, block_values // max(1, width))
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))
