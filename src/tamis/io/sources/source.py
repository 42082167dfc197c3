"""The protocol of a table that is read in pieces, and what all such tables share."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from tamis.columns import ColumnStatistics, block_statistics
from tamis.io.errors import TableError, reading
from tamis.io.sources.prefetch import prefetch

Paths = Sequence[str | os.PathLike[str]]
Names = Sequence[str] | NDArray[Any] | None

BLOCK_BYTES = 2**22
"""Stored bytes that are read in one go, about."""

POOL_ROWS, POOL_BYTES = 2**13, 2**28
"""Rows that samples of a long table are drawn from, if they have no more stored bytes than that."""

AGAIN = "see that the table is whole and did not change meanwhile, and fit again"


class TableSource(ABC):
    """A table of numbers that is read a few rows at a time.

    An adapter implements :meth:`_read`. What the rest of tamis asks of a table also works here: ``shape``,
    ``source[rows]`` for a slice, a mask or positions, and ``source[:, columns]``; the latter reads all rows.

    Parameters
    ----------
    place : str
        What messages call the table, such as its path.
    shape : (int, int)
        Rows and features.
    names : sequence of str, optional
        A name per feature.
    row_bytes : float
        Stored bytes of a row, which decide how many are read at a time.
    files : sequence of path
        The files behind the table; that they are whole is checked before every read.
    """

    def __init__(
        self, place: str, shape: tuple[int, int], names: Names = None, row_bytes: float = 8.0, files: Paths = ()
    ):
        self.place, self.shape = place, (int(shape[0]), int(shape[1]))
        self.names = None if names is None else np.array([str(name) for name in names], dtype=object)
        if self.names is not None and len(self.names) != self.shape[1]:
            raise TableError(f"{place}: has {len(self.names)} names for {self.shape[1]} features; save it anew.")
        self.row_bytes = max(1.0, float(row_bytes))
        self._stamps = {os.fspath(path): _stamp(path) for path in files}
        self._statistics: ColumnStatistics | None = None
        self._pool: tuple[NDArray[np.intp], Any] | None = None
        self.opened_by: tuple[Callable[..., Any], tuple[Any, ...]] | None = None

    @abstractmethod
    def _read(self, start: int, stop: int) -> Any:
        """Return consecutive rows, as a dense array or a CSR matrix of numbers."""

    def runs(self) -> list[NDArray[np.intp]]:
        """Return the borders of the blocks that are best read together, one array for each stretch of rows.

        Blocks within a run are read fastest in their order; runs may come in any order.
        """
        borders = self.borders(0, self.shape[0])
        return [borders[i : i + 2] for i in range(len(borders) - 1)]

    def borders(self, start: int, stop: int) -> NDArray[np.intp]:
        """Cut a stretch of rows into blocks of about :data:`BLOCK_BYTES`."""
        step = max(1, int(BLOCK_BYTES / self.row_bytes))
        return np.append(np.arange(start, stop, step), stop).astype(np.intp)

    def read(self, start: int, stop: int) -> Any:
        """Return the rows from ``start`` to ``stop - 1``; raise :class:`TableError` if they cannot be had."""
        where = f"{self.place}: rows {start} to {stop - 1}"
        self._check_files(where)
        try:
            with reading(self.place, "could not be read", AGAIN, f"rows {start} to {stop - 1} "):
                block = as_block(self._read(start, stop), where)
        finally:
            self._check_files(where)  # That a file is gone explains more than what its reader stumbled over.
        if block.shape != (stop - start, self.shape[1]):
            found = f"{block.shape[0]} x {block.shape[1]} of {stop - start} x {self.shape[1]}"
            raise TableError(f"{where} could not be read: only {found} numbers are there; {AGAIN}.")
        return block

    def _check_files(self, where: str) -> None:
        for path, before in self._stamps.items():
            try:
                now = _stamp(path)
                fault = "" if now == before else "changed meanwhile; leave it alone and fit again"
                if now[0] < before[0]:
                    fault = f"shrank from {before[0]} to {now[0]} bytes; restore it and fit again"
            except OSError as error:
                fault = f"vanished ({error.strerror}); put it back and fit again"
            if fault:
                raise TableError(f"{where} could not be read: {path} {fault}.")

    def blocks(self) -> Iterator[tuple[int, Any]]:
        """Yield all blocks with their first rows, in order, the next one being read in the background."""
        pairs = [(int(a), int(b)) for run in self.runs() for a, b in pairwise(run)]
        yield from prefetch((start, self.read(start, stop)) for start, stop in pairs)

    def column_statistics(self, heard: Callable[[int], object] = lambda _: None) -> ColumnStatistics:
        """Return mean, spread, constant and non-finite features from one pass, which is made once.

        ``heard`` is told how many rows were read.
        """
        if self._statistics is None:
            drawn, parts = self._drawn(), list[Any]()

            # Statistics are merged one by one: those of a block are as large as it is if it holds few rows.
            def statistics() -> Iterator[ColumnStatistics]:
                for start, block in self.blocks():
                    own = slice(*np.searchsorted(drawn, [start, start + block.shape[0]]))
                    parts.append(block[drawn[own] - start])
                    yield block_statistics(block, start)
                    heard(start + block.shape[0])

            self._statistics = reduce(ColumnStatistics.merged, statistics())
            self._pool = (drawn, stacked(parts))
        return self._statistics

    def _drawn(self) -> NDArray[np.intp]:
        n, pays = self.shape[0], self.shape[0] > POOL_ROWS and POOL_ROWS * self.row_bytes <= POOL_BYTES
        return np.sort(np.random.default_rng(0).choice(n, POOL_ROWS if pays else 0, replace=False))

    def sample(self, size: int, rng: np.random.Generator) -> tuple[Any, NDArray[np.intp]]:
        """Return random rows and their sorted positions; those of a long table are drawn from some that are read once.

        A pass over the table for its statistics reads them on the way.
        """
        if self._pool is None:
            drawn = self._drawn()
            self._pool = (drawn, self.take(drawn) if len(drawn) else None)
        positions, rows = self._pool
        if len(positions) < size:
            positions = np.sort(rng.permutation(self.shape[0])[:size])
            return self.take(positions), positions
        chosen = np.sort(rng.permutation(len(positions))[:size])
        return rows[chosen], positions[chosen]

    def take(self, rows: NDArray[np.intp]) -> Any:
        """Return rows by sorted positions; whole blocks are read on the way."""
        rows = np.asarray(rows)
        parts = []
        for start, stop in (pair for run in self.runs() for pair in pairwise(run)):
            first, last = np.searchsorted(rows, [start, stop])
            if first < last:
                parts.append(self.read(int(start), int(stop))[rows[first:last] - start])
        return stacked(parts)

    def column_names(self) -> NDArray[Any]:
        """Return the names of the features; nameless ones are numbered as the readers of files do."""
        return nameless(self.shape[1]) if self.names is None else self.names

    def __reduce__(self) -> Any:
        # Open files do not travel to other processes; the way to open them does.
        return super().__reduce__() if self.opened_by is None else self.opened_by

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            rows, columns = key
            whole = isinstance(rows, slice) and rows == slice(None)
            return stacked([block[:, columns] for _, block in self.blocks()]) if whole else self[rows][:, columns]
        if isinstance(key, slice):
            start, stop, step = key.indices(self.shape[0])
            if step == 1 and start < stop:
                return self.read(start, stop)
        rows = np.atleast_1d(np.arange(self.shape[0])[key])
        order = np.argsort(rows, kind="stable")
        return self.take(rows[order])[np.argsort(order)] if len(rows) else self.read(0, 1)[:0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.place!r}, {self.shape[0]} x {self.shape[1]})"


def pieces(borders: NDArray[np.intp], start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Yield the numbers of the blocks that hold some rows, with the first of these rows in it and the end of them."""
    numbers = range(int(np.searchsorted(borders, start, side="right")) - 1, int(np.searchsorted(borders, stop)))
    yield from ((i, max(start, int(borders[i])), min(stop, int(borders[i + 1]))) for i in numbers)


def nameless(count: int) -> NDArray[Any]:
    """Return names for features that have none."""
    return np.array([f"feature_{i}" for i in range(count)], dtype=object)


def _stamp(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Return the size of a file, and when it was changed."""
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def as_block(raw: Any, place: str) -> Any:
    """Return rows as an array or a CSR matrix of numbers."""
    block = csr_array(raw) if issparse(raw) else np.asarray(raw)
    if block.ndim != 2 or block.dtype.kind not in "biuf":
        raise TableError(f"{place} is {block.dtype} of shape {block.shape}, not a matrix of real numbers.")
    return block


def stacked(parts: Sequence[Any]) -> Any:
    """Put blocks on top of each other, which may be dense or CSR."""
    if len(parts) == 1:
        return parts[0]
    return csr_array(vstack(parts, format="csr")) if issparse(parts[0]) else np.concatenate(parts)
