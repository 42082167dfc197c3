"""Tables that come in blocks of rows: a user's own iterable, or the chunks of Dask."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from tamis.columns import ColumnStatistics, block_statistics
from tamis.io.errors import TableError
from tamis.io.sources.source import TableSource, as_block, pieces, stacked


class RowBlocks(TableSource):
    """Rows that come in blocks from an iterable that can be gone through again and again.

    It is gone through once at first, to count the rows and to summarise the features. Blocks are taken in their order,
    and rows are shuffled within a buffer; an iterable that yields its blocks in a new order every time shuffles better.

    Parameters
    ----------
    blocks : iterable of arrays, sparse matrices or torch tensors
        All with the same features; a block in a tuple or list of one (as a torch ``DataLoader`` yields it) is unpacked.
    names : sequence of str, optional
        A name per feature.
    place : str
        What messages call the table.
    """

    def __init__(self, blocks: Iterable[Any], names: Sequence[str] | None = None, place: str = "X"):
        if iter(blocks) is blocks:
            raise TableError(f"{place}: is an iterator, spent after one pass; pass an object with several passes.")
        self._blocks = blocks
        parts, held = list[ColumnStatistics](), 0
        for number, raw in enumerate(blocks):
            block = _unpacked(raw, f"{place}: block {number}")
            if parts and (width := block.shape[1]) != (expected := len(parts[0].mean)):
                raise TableError(f"{place}: block {number} has {width} features where the first has {expected}.")
            held += block.data.nbytes if issparse(block) else block.nbytes
            parts.append(block_statistics(block, sum(part.n_rows for part in parts)))
        if not parts:
            raise TableError(f"{place}: holds no blocks.")
        self._borders = np.cumsum([0, *(part.n_rows for part in parts)])
        n = int(self._borders[-1])
        super().__init__(place, (n, len(parts[0].mean)), names, held / max(1, n))
        self._statistics = reduce(ColumnStatistics.merged, parts)
        self._next, self._iterator = 0, iter(())

    def runs(self) -> list[NDArray[np.intp]]:
        """Return one run: the blocks in their order."""
        return [np.unique(self._borders)]

    def _read(self, start: int, stop: int) -> Any:
        parts = []
        for number, first, end in pieces(self._borders, start, stop):
            begun = self._borders[number]
            parts.append(self._block(number)[first - begun : end - begun])
        return stacked([part for part in parts if part.shape[0]])

    def _block(self, number: int) -> Any:
        """Go on to a block, or begin anew if it lies behind; one that is asked for twice is gone for again."""
        if number < self._next or self._next == 0:
            self._next, self._iterator = 0, iter(self._blocks)
        raw: Any = next(islice(self._iterator, number - self._next, None), None)
        self._next = number + 1
        if raw is None:
            known = len(self._borders) - 1
            raise TableError(f"{self.place}: ended before block {number}; there were {known} blocks before.")
        block = _unpacked(raw, f"{self.place}: block {number}")
        expected = (int(self._borders[number + 1] - self._borders[number]), self.shape[1])
        if block.shape != expected:
            sizes = f"{block.shape[0]} x {block.shape[1]}, and was {expected[0]} x {expected[1]} before"
            raise TableError(f"{self.place}: block {number} is {sizes}; blocks must keep their sizes.")
        return block


def _unpacked(raw: Any, place: str) -> Any:
    return as_block(raw[0] if isinstance(raw, tuple | list) and len(raw) == 1 else raw, place)


def looks_like_blocks(X: Any) -> bool:
    """Return whether an object can be gone through, has a length, and is no table, list or text."""
    if isinstance(X, list | tuple | str | bytes | dict | set | frozenset | Iterator):
        return False
    known = ("__array__", "__array_interface__", "__dataframe__", "__arrow_c_stream__", "columns")
    return hasattr(X, "__iter__") and hasattr(X, "__len__") and not any(hasattr(X, name) for name in known)


class DaskRows(TableSource):
    """A Dask array or DataFrame that is never gathered: only statistics, some rows and one chunk at a time are.

    Statistics of all chunks are computed where the chunks are; a task whose worker dies is done again elsewhere, and
    has the same result.
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
