"""Sparse matrices in compressed form (CSR, CSC), whose parts are checked in full before any of them is used."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array

from tamis.io.errors import TableError
from tamis.io.memory import NAME_BYTES, check_room, check_stored
from tamis.io.sources.source import Names, Paths, TableSource

PARTS = ("data", "indices", "indptr")


def checked_csr(parts: Iterable[Any], shape: Any, kind: str = "csr") -> csr_array:
    """Return a CSR matrix from the parts of a CSR or CSC one; raise :class:`TableError` if they do not fit together.

    scipy's compiled loops trust these parts: a wrong one reads or writes memory that is not theirs.
    """
    n, d = checked_shape(shape)
    major, minor = (n, d) if kind == "csr" else (d, n)
    data, indices, indptr = (np.asarray(part).ravel() for part in parts)
    starts = checked_starts(indptr, major, min(len(data), len(indices)))
    data, indices = _numbers(data[: starts[-1]]), _positions(indices[: starts[-1]], minor)
    # Rows and columns without entries cost nothing in a file, but something in memory.
    check_room(16 * n + NAME_BYTES * d, data.nbytes + indices.nbytes + starts.nbytes, "the sparse matrix")
    matrix = (csr_array if kind == "csr" else csc_array)((data, indices, starts), shape=(n, d))
    matrix.sum_duplicates()
    return csr_array(matrix)


def checked_coo(parts: Iterable[Any], shape: Any) -> csr_array:
    """Return a CSR matrix from the cells of a table; raise :class:`TableError` if one lies outside of it."""
    n, d = checked_shape(shape)
    data, rows, columns = (np.asarray(part).ravel() for part in parts)
    if not len(data) == len(rows) == len(columns):
        raise _damaged("its cells are not rows, columns and numbers")
    check_room(16 * n + NAME_BYTES * d, 3 * data.nbytes, "the sparse matrix")
    return csr_array(coo_array((_numbers(data), (_positions(rows, n), _positions(columns, d))), shape=(n, d)))


def checked_shape(shape: Any) -> tuple[int, int]:
    """Return a stored shape as two numbers; raise :class:`TableError` if it is none of a matrix."""
    sizes = [int(size) for size in np.asarray(shape).ravel()]
    if len(sizes) != 2 or not all(0 <= size < 2**62 for size in sizes):
        raise _damaged(f"its shape is {sizes}")
    return sizes[0], sizes[1]


def checked_starts(indptr: Any, n: int, n_stored: int) -> NDArray[np.int64]:
    """Return where rows begin; raise :class:`TableError` unless they ascend from 0 to what is stored."""
    indptr = np.asarray(indptr).ravel()
    if indptr.dtype.kind not in "iu" or len(indptr) != n + 1:
        raise _damaged(f"its arrays do not fit together ({len(indptr)} starts of {n} rows or columns)")
    starts: NDArray[np.int64] = indptr.astype(np.int64)
    if starts[0] != 0 or starts[-1] > n_stored or (np.diff(starts) < 0).any():
        raise _damaged(f"its arrays do not fit together (its starts do not ascend from 0 to {n_stored})")
    return starts


def _positions(indices: NDArray[Any], minor: int) -> NDArray[Any]:
    if indices.dtype.kind not in "iu":
        raise _damaged(f"its positions are {indices.dtype}, not whole numbers")
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < minor:
        raise _damaged(f"it names position {int(indices.max())} (or one below 0) of {minor}, which is not there")
    return indices


def _numbers(data: NDArray[Any]) -> NDArray[Any]:
    if data.dtype.kind not in "biuf":
        raise TableError(f"holds a sparse matrix of {data.dtype}, not of real numbers; save it as numbers.")
    return data


def _damaged(fault: str) -> TableError:
    return TableError(f"the sparse matrix is damaged: {fault}; restore the file, or save it anew.")


class CompressedRows(TableSource):
    """A CSR matrix whose values and column numbers stay on disk; only where rows begin is held (8 bytes a row).

    The group has the arrays ``data``, ``indices`` and ``indptr``.
    """

    def __init__(self, group: Any, shape: tuple[int, int], place: str, names: Names = None, files: Paths = ()):
        self._data, self._indices = group["data"], group["indices"]
        check_stored(group["indptr"], "the list of where rows begin")
        for part in (self._data, self._indices):
            check_stored(part, "the sparse matrix", in_pieces=True)
        stored = min(self._data.shape[0], self._indices.shape[0])
        self._starts = checked_starts(group["indptr"][:], shape[0], stored)
        cell = self._data.dtype.itemsize + self._indices.dtype.itemsize
        super().__init__(place, shape, names, cell * max(1, int(self._starts[-1])) / max(1, shape[0]), files)

    def _read(self, start: int, stop: int) -> Any:
        first, last = int(self._starts[start]), int(self._starts[stop])
        parts = self._data[first:last], self._indices[first:last], self._starts[start : stop + 1] - first
        return checked_csr(parts, (stop - start, self.shape[1]))


def layout_of(group: Any) -> tuple[tuple[int, int], str]:
    """Return the shape of a stored group, and whether it is CSR or CSC; raise :class:`TableError` if it is neither."""
    if not all(part in group for part in PARTS):
        raise TableError(f"is a group without {', '.join(PARTS)}; name a matrix in it.")
    if any(not hasattr(group[part], "dtype") or len(group[part].shape) != 1 for part in PARTS):
        raise _damaged(f"{', '.join(PARTS)} are not three lists of numbers")
    kind = str(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "csr")))[:3]
    shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
    if shape is None or kind not in ("csr", "csc"):
        raise TableError(f"is stored as {kind!r} of shape {shape}, which is no matrix that is read; save it as CSR.")
    return checked_shape(shape), kind
