"""Rows of a Dask array or DataFrame, whose chunks are computed by its workers."""

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.columns import ColumnStatistics, block_statistics
from tamis.io.sources.source import TableSource


class DaskRows(TableSource):
    """A Dask array or DataFrame that is never gathered: only statistics, some rows and one chunk at a time are.

    Statistics of all chunks are computed where the chunks are; a task whose worker dies is done again elsewhere, and
    has the same result.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Numbers.
    """

    def __init__(self, X: Any):
        names = list(X.columns) if hasattr(X, "columns") else None
        if names is not None:
            X = X.to_dask_array(lengths=True)
        elif np.isnan(X.shape[0]):
            X.compute_chunk_sizes()
        self._array = X.rechunk({1: -1})
        super().__init__("X", X.shape, names, X.shape[1] * X.dtype.itemsize)

    def runs(self) -> list[NDArray[np.intp]]:
        """Return the chunks, which may come in any order."""
        borders = np.concatenate([[0], np.cumsum(self._array.chunks[0])]).astype(np.intp)
        return [borders[i : i + 2] for i in range(len(borders) - 1) if borders[i] < borders[i + 1]]

    def column_statistics(self, heard: Any = lambda _: None) -> ColumnStatistics:  # noqa: ARG002
        """Return the statistics of the features, merged from those of the chunks, which are tasks of their own."""
        if self._statistics is None:
            from dask.base import compute
            from dask.delayed import delayed

            blocks, starts = self._array.to_delayed()[:, 0], [int(run[0]) for run in self.runs()]
            full = [block for block, rows in zip(blocks, self._array.chunks[0], strict=True) if rows]
            parts: Any = compute(*map(delayed(block_statistics), full, starts))  # type: ignore[no-untyped-call]
            self._statistics = reduce(ColumnStatistics.merged, parts)
        return self._statistics

    def take(self, rows: NDArray[np.intp]) -> Any:
        """Return rows by sorted positions, taken where the chunks are."""
        return self._array[np.asarray(rows)].compute()

    def _read(self, start: int, stop: int) -> Any:
        return self._array[start:stop].compute()
