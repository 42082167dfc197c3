"""Dense arrays that are read by slicing: NumPy files and memory maps, HDF5 data sets, Zarr arrays."""

import mmap
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.io.errors import TableError
from tamis.io.sources.chunks import check_array
from tamis.io.sources.npy import read_header, stored_length
from tamis.io.sources.source import TableSource


class SlicedArray(TableSource):
    """Anything with ``shape``, ``dtype`` and slices of rows.

    Parameters
    ----------
    array : h5py.Dataset, zarr.Array, ndarray or the like
        Two dimensions.
    place, names, files
        See :class:`TableSource`.
    """

    def __init__(
        self,
        array: Any,
        place: str,
        names: Sequence[str] | NDArray | None = None,
        files: Sequence[str | os.PathLike[str]] = (),
    ):
        check_shape(array.shape, array.dtype, place)
        if not isinstance(array, np.ndarray):
            check_array(array, "the matrix", in_pieces=True)
        super().__init__(place, array.shape, names, array.shape[1] * array.dtype.itemsize, files)
        self._array = array

    def _read(self, start: int, stop: int) -> Any:
        return np.asarray(self._array[start:stop])


class FlatFile(TableSource):
    """A dense table that lies in a file row after row, or column after column, read by position.

    A memory map of a file that shrinks kills the process; a read that comes back short is an error with a sentence.

    Parameters
    ----------
    path : str or path
        The file.
    shape, dtype, offset
        What it holds, from which byte on.
    by_columns : bool
        Whether it lies column after column.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        shape: tuple[int, int],
        dtype: np.dtype,
        offset: int,
        by_columns: bool = False,
    ):
        super().__init__(os.fspath(path), shape, None, shape[1] * dtype.itemsize, [path])
        self._dtype, self._offset, self._by_columns = dtype, offset, by_columns
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115

    def _read(self, start: int, stop: int) -> Any:
        n, width = self.shape
        if not self._by_columns:
            values = self._values(start * width, (stop - start) * width)
            whole = len(values) // width
            return values[: whole * width].reshape(whole, width)
        columns = [self._values(column * n + start, stop - start) for column in range(width)]
        whole = min(map(len, columns))
        return np.stack([column[:whole] for column in columns], axis=1)

    def _values(self, first: int, count: int) -> NDArray:
        """Read consecutive values, fewer if the file ends."""
        size, begin = count * self._dtype.itemsize, self._offset + first * self._dtype.itemsize
        content = bytearray()
        while len(content) < size:
            part = os.pread(self._file.fileno(), size - len(content), begin + len(content))
            if not part:
                break
            content += part
        return np.frombuffer(content, self._dtype, len(content) // self._dtype.itemsize)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


def numpy_file(path: str | os.PathLike[str]) -> TableSource:
    """Open a .npy file."""
    with open(path, "rb") as stream:
        shape, by_columns, dtype = read_header(stream, stored_length(stream))
        offset = stream.tell()
    check_shape(shape, dtype, os.fspath(path))
    return FlatFile(path, (shape[0], shape[1]), dtype, offset, by_columns)


def memory_map(array: np.memmap) -> TableSource:
    """Read a memory map by position if it shows a file as it is, and through the map otherwise."""
    place = os.fspath(array.filename) if array.filename is not None else "X"
    check_shape(array.shape, array.dtype, place)
    by_columns = not array.flags.c_contiguous and array.flags.f_contiguous
    whole = array.flags.c_contiguous or array.flags.f_contiguous
    if isinstance(array.base, mmap.mmap) and whole and array.filename is not None:
        return FlatFile(array.filename, array.shape, array.dtype, int(array.offset), by_columns)
    return SlicedArray(array, place, files=[] if array.filename is None else [array.filename])


def check_shape(shape: Sequence[int], dtype: Any, place: str) -> None:
    """Raise :class:`TableError` unless an array is a matrix of real numbers with something in it."""
    if len(shape) != 2:
        raise TableError(f"{place}: has {len(shape)} dimension(s); a table has two, samples and features.")
    if min(shape) < 1:
        raise TableError(f"{place}: has {shape[0]} rows and {shape[1]} features; a table needs both.")
    if np.dtype(dtype).kind not in "biuf":
        raise TableError(f"{place}: holds {dtype}, not real numbers.")
