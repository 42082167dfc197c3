"""The varying features of a table, centred and scaled, in dense blocks however the table is stored."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import gen_batches

from tamis.columns import BLOCK_VALUES, ColumnStatistics

Array = NDArray[np.float64]

CACHE_VALUES = 2**16
"""Values of a block of columns (512 kB): a sparse graph multiplies fastest what fits into the cache."""

MIN_COLUMNS = 32
"""Smallest number of columns of a block, even if they exceed the cache."""


@dataclass(frozen=True)
class ScaledTable:
    """Columns ``(x − center) / spread`` of a dense array or CSR matrix, as float64; do not write into the blocks.

    A dense array is scaled once, into a copy. A CSR matrix stays sparse, and its blocks are scaled when they are
    taken. Both have the same bits, hence the same selections.
    """

    stored: Any  # the columns: scaled if dense, as they were if sparse
    columns: NDArray[np.intp]  # their positions among the features of X
    n_features: int
    mean: Array  # of each scaled column
    center: Array
    spread: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.stored.shape[0], len(self.columns)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are stored sparse."""
        return bool(issparse(self.stored))

    def row_blocks(self, block_values: int = BLOCK_VALUES) -> Iterator[tuple[slice, Array]]:
        """Yield consecutive rows with their positions."""
        n, d = self.shape
        for rows in gen_batches(n, max(1, block_values // d)):
            yield rows, self.take_rows(rows)

    def column_blocks(self, block_values: int | None = None) -> Iterator[tuple[slice, Array]]:
        """Yield consecutive columns with their positions."""
        n, d = self.shape
        stored = self.stored.tocsc() if self.is_sparse else self.stored
        for columns in gen_batches(d, max(1, (block_values or max(CACHE_VALUES, MIN_COLUMNS * n)) // n)):
            block = stored[:, columns]
            if self.is_sparse:
                yield columns, _scaled(block.toarray(), self.center[columns], self.spread[columns])
            else:
                yield columns, np.ascontiguousarray(block)

    def take_rows(self, rows: slice | NDArray[np.intp]) -> Array:
        """Return some rows, dense."""
        block = self.stored[rows]
        return _scaled(block.toarray(), self.center, self.spread) if self.is_sparse else block

    def dense(self) -> Array:
        """Return the whole table, dense (8 bytes a cell)."""
        return self.take_rows(slice(None))

    def subset(self, columns: NDArray[np.intp]) -> "ScaledTable":
        """Return a table of some of the columns, by their position in this one."""
        stored = self.stored[:, columns] if self.is_sparse else np.ascontiguousarray(self.stored[:, columns])
        parts = {name: getattr(self, name)[columns] for name in ("columns", "mean", "center", "spread")}
        return replace(self, stored=stored, **parts)

    def expand(self, scores: Array) -> Array:
        """Return scores of the columns as scores of all features of X, ``-inf`` for those left out."""
        expanded = np.full(self.n_features, -np.inf)
        expanded[self.columns] = scores
        return expanded


def scale_table(X: Any, statistics: ColumnStatistics, scale: str | None) -> ScaledTable:
    """Return the features that vary, scaled as :meth:`ColumnStatistics.scaling` says."""
    columns, center, spread = statistics.scaling(scale)
    mean = statistics.mean[columns]
    stored = X if len(columns) == X.shape[1] else X[:, columns]
    if not issparse(X):
        stored = _scaled(stored, center, spread)
    return ScaledTable(stored, columns, X.shape[1], (mean - center) / spread, center, spread)


def _scaled(block: Any, center: Array, spread: Array) -> Array:
    scaled = np.array(block, dtype=np.float64, order="C")
    scaled -= center
    scaled /= spread
    return scaled
