"""Dense arrays that are read by slicing: NumPy files and memory maps, HDF5 data sets, Zarr arrays."""

import mmap
import os
from collections.abc import Sequence
from math import prod
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from tamis.io.errors import TableError
from tamis.io.sources.source import Names, Paths, TableSource

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class SlicedArray(TableSource):
    """Anything of two dimensions with ``shape``, ``dtype`` and slices of rows."""

    def __init__(self, array: Any, place: str, names: Names = None, files: Paths = ()):
        check_shape(array.shape, array.dtype, place)
        super().__init__(place, array.shape, names, array.shape[1] * array.dtype.itemsize, files)
        self._array = array

    def _read(self, start: int, stop: int) -> Any:
        return self._array[start:stop]


class FlatFile(TableSource):
    """A dense table that lies in a file row after row, or column after column, from a byte on, read by position.

    A memory map of a file that shrinks kills the process; a read that comes back short is an error with a sentence.
    """

    def __init__(self, path: Any, shape: tuple[int, ...], dtype: np.dtype[Any], offset: int, by_columns: bool = False):
        check_shape(shape, dtype, os.fspath(path))
        super().__init__(os.fspath(path), (shape[0], shape[1]), None, shape[1] * dtype.itemsize, [path])
        self._dtype, self._offset, self._by_columns = dtype, offset, by_columns

    def _read(self, start: int, stop: int) -> Any:
        n, width = self.shape
        if not self._by_columns:
            values = self._values(start * width, (stop - start) * width)
            whole = len(values) // width
            return values[: whole * width].reshape(whole, width)
        columns = [self._values(column * n + start, stop - start) for column in range(width)]
        whole = min(map(len, columns))
        return np.stack([column[:whole] for column in columns], axis=1)

    def _values(self, first: int, count: int) -> NDArray[Any]:
        """Read consecutive values, fewer if the file ends."""
        return np.fromfile(self.place, self._dtype, count, offset=self._offset + first * self._dtype.itemsize)


def numpy_file(path: str | os.PathLike[str]) -> TableSource:
    """Open a .npy file."""
    with open(path, "rb") as stream:
        shape, by_columns, dtype = read_header(stream, os.path.getsize(path))
        return FlatFile(path, shape, dtype, stream.tell(), by_columns)


def memory_map(array: np.memmap[Any, Any]) -> TableSource:
    """Read a memory map by position if it shows a file as it is, and through the map otherwise."""
    by_rows, by_columns = array.flags.c_contiguous, array.flags.f_contiguous
    if array.filename is None:
        return SlicedArray(array, "X")
    if isinstance(array.base, mmap.mmap) and (by_rows or by_columns):
        return FlatFile(array.filename, array.shape, array.dtype, int(array.offset), not by_rows)
    return SlicedArray(array, os.fspath(array.filename), files=[array.filename])


def check_shape(shape: Sequence[int], dtype: Any, place: str) -> None:
    """Raise :class:`TableError` unless an array is a matrix of real numbers with something in it."""
    if len(shape) != 2 or min(shape) < 1 or np.dtype(dtype).kind not in "biuf":
        raise TableError(f"{place}: holds {dtype} of shape {tuple(shape)}, not samples × features of real numbers.")


def read_header(stream: IO[bytes], stored: int) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, Fortran order and type of a .npy stream, read up to its first value.

    Raise :class:`TableError` if it declares more than the stored bytes.
    """
    version = npy.read_magic(stream)
    if version not in HEADERS:
        raise TableError(f"is of version {version[0]}.{version[1]} of the format; save it anew with numpy.save.")
    shape, fortran_order, dtype = HEADERS[version](stream)
    if dtype.hasobject:
        raise TableError("holds Python objects, which could run code; save it as numbers or text.")
    needed, there = prod(shape) * dtype.itemsize, stored - stream.tell()
    if min(shape, default=0) < 0 or needed > there:
        raise TableError(f"says that it holds {needed} bytes of numbers, but has {there}; restore it, or save it anew.")
    return shape, fortran_order, dtype
