"""Sparse matrices by rows (CSR), stored as three arrays in an HDF5 or Zarr group, as AnnData does."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tamis.sources.arrays import SlicedArray
from tamis.sources.source import SourceError, TableSource

PARTS = ("data", "indices", "indptr")


class CompressedRows(TableSource):
    """A CSR matrix whose values and column numbers stay on disk; only where rows begin is held (8 bytes a row).

    Parameters
    ----------
    group : h5py.Group or zarr.Group
        With the arrays ``data``, ``indices`` and ``indptr`` and the attribute ``shape``.
    place, names, files
        See :class:`TableSource`.
    """

    def __init__(
        self,
        group: Any,
        place: str,
        names: Sequence[str] | NDArray | None = None,
        files: Sequence[str | os.PathLike[str]] = (),
    ):
        self._data, self._indices = group["data"], group["indices"]
        self._starts = np.asarray(group["indptr"][:])
        shape = shape_of(group, place)
        if len(self._starts) != shape[0] + 1 or self._starts[-1] > min(self._data.shape[0], self._indices.shape[0]):
            raise SourceError(f"{place}: the sparse matrix is damaged: its arrays do not fit together.")
        cell = self._data.dtype.itemsize + self._indices.dtype.itemsize
        super().__init__(place, shape, names, cell * max(1, int(self._starts[-1])) / max(1, shape[0]), files)

    def _read(self, start: int, stop: int) -> Any:
        first, last = int(self._starts[start]), int(self._starts[stop])
        data, indices = np.asarray(self._data[first:last]), np.asarray(self._indices[first:last])
        if len(data) < last - first or len(indices) < last - first:
            raise SourceError(f"{self.place}: rows {start} to {stop - 1} are cut short.")
        if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < self.shape[1]:
            raise SourceError(f"{self.place}: rows {start} to {stop - 1} name columns that are not there.")
        block = csr_array((data, indices, self._starts[start : stop + 1] - first), shape=(stop - start, self.shape[1]))
        block.sum_duplicates()
        return block


def shape_of(group: Any, place: str) -> tuple[int, int]:
    """Give the shape of a CSR group; raise :class:`SourceError` if it is none, or stored by columns."""
    if not all(part in group for part in PARTS):
        raise SourceError(f"{place}: is a group without {', '.join(PARTS)}; name a matrix in it.")
    kind = str(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "csr")))
    if kind.startswith("csc"):
        raise SourceError(f"{place}: is stored by columns (CSC), which cannot be read row by row; save it as CSR.")
    shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
    if shape is None:
        raise SourceError(f"{place}: is a sparse matrix without the attribute shape.")
    return int(shape[0]), int(shape[1])


def stored_matrix(
    item: Any, place: str, names: Sequence[str] | NDArray | None = None, files: Sequence[str | os.PathLike[str]] = ()
) -> TableSource:
    """Read an array of an HDF5 or Zarr file by slices, and a group as a CSR matrix."""
    if hasattr(item, "dtype"):
        return SlicedArray(item, place, names, files)
    return CompressedRows(item, place, names, files)
