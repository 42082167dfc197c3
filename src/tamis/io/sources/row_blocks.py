"""A user's own iterable of row blocks."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from tamis.columns import ColumnStatistics, block_statistics
from tamis.io.errors import TableError
from tamis.io.sources.source import TableSource, stacked


class RowBlocks(TableSource):
    """Rows that come in blocks from an iterable that can be gone through again and again.

    It is gone through once at first, to count the rows and to summarise the columns. Blocks are taken in their order,
    and rows are shuffled within a buffer; an iterable that gives its blocks in a new order every time shuffles better.

    Parameters
    ----------
    blocks : iterable of arrays, sparse matrices or torch tensors
        All with the same columns; a block in a tuple or list of one (as a torch ``DataLoader`` gives it) is unpacked.
    names : sequence of str, optional
        A name per column.
    place : str
        What messages call the table.
    """

    def __init__(self, blocks: Iterable[Any], names: Sequence[str] | None = None, place: str = "X"):
        if iter(blocks) is blocks:
            raise TableError(
                f"{place}: is an iterator, spent after one pass; pass an object that can be gone through again."
            )
        self._blocks = blocks
        sizes, parts, held = list[int](), list[ColumnStatistics](), 0
        for number, raw in enumerate(blocks):
            block = as_block(raw, f"{place}: block {number}")
            if parts and block.shape[1] != len(parts[0].mean):
                raise TableError(
                    f"{place}: block {number} has {block.shape[1]} column(s) where the first has {len(parts[0].mean)}."
                )
            held += block.data.nbytes if issparse(block) else block.nbytes
            parts.append(block_statistics(block, sum(sizes)))
            sizes.append(block.shape[0])
        if not parts:
            raise TableError(f"{place}: holds no blocks.")
        self._borders = np.cumsum([0, *sizes])
        shape = (int(self._borders[-1]), len(parts[0].mean))
        super().__init__(place, shape, names, held / max(1, shape[0]))
        self._statistics = reduce(ColumnStatistics.merged, parts)
        self._next, self._iterator = 0, iter(())

    def runs(self) -> list[NDArray[np.intp]]:
        """Give one run: the blocks in their order."""
        return [np.unique(self._borders)]

    def _read(self, start: int, stop: int) -> Any:
        number = int(np.searchsorted(self._borders, start, side="right")) - 1
        parts = []
        while start < stop:
            first, last = int(self._borders[number]), int(self._borders[number + 1])
            parts.append(self._block(number)[start - first : min(stop, last) - first])
            start, number = min(stop, last), number + 1
        return stacked([part for part in parts if part.shape[0]])

    def _block(self, number: int) -> Any:
        """Go on to a block, or begin anew if it lies behind; one that is asked for twice is gone for again."""
        if number < self._next:
            self._next, self._iterator = 0, iter(self._blocks)
        elif self._next == 0:
            self._iterator = iter(self._blocks)
        raw: Any = None
        while self._next <= number:
            raw = next(self._iterator, None)
            if raw is None:
                raise TableError(
                    f"{self.place}: ended before block {number}; there were {len(self._borders) - 1} blocks before."
                )
            self._next += 1
        block = as_block(raw, f"{self.place}: block {number}")
        size = int(self._borders[number + 1] - self._borders[number])
        if block.shape != (size, self.shape[1]):
            raise TableError(
                f"{self.place}: block {number} is {block.shape[0]} x {block.shape[1]}, and was {size} x "
                f"{self.shape[1]} before; blocks must keep their sizes."
            )
        return block


def as_block(raw: Any, place: str) -> Any:
    """Give a block as an array or a CSR matrix of numbers."""
    if isinstance(raw, tuple | list) and len(raw) == 1:
        raw = raw[0]
    block = csr_array(raw) if issparse(raw) else np.asarray(raw)
    if block.ndim != 2 or block.dtype.kind not in "biuf":
        raise TableError(f"{place} is {block.dtype} of shape {block.shape}, not a matrix of real numbers.")
    return block


def looks_like_blocks(X: Any) -> bool:
    """Tell whether an object can be gone through, has a length, and is no table, list or text."""
    if isinstance(X, list | tuple | str | bytes | dict | set | frozenset | Iterator):
        return False
    known = ("shape", "__array__", "__array_interface__", "__dataframe__", "__arrow_c_stream__", "columns")
    return hasattr(X, "__iter__") and hasattr(X, "__len__") and not any(hasattr(X, name) for name in known)
