"""Dense arrays that are read by slicing: NumPy files and memory maps, HDF5 data sets, Zarr arrays."""

import mmap
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.sources.source import SourceError, TableSource


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
        check_matrix(array, place)
        super().__init__(place, array.shape, names, array.shape[1] * array.dtype.itemsize, files)
        self._array = array

    def _read(self, start: int, stop: int) -> Any:
        return np.asarray(self._array[start:stop])


class FlatFile(TableSource):
    """A dense table that lies in a file row after row, read by position.

    A memory map of a file that shrinks kills the process; a read that comes back short is an error with a sentence.

    Parameters
    ----------
    path : str or path
        The file.
    shape, dtype, offset
        What it holds, from which byte on.
    """

    def __init__(self, path: str | os.PathLike[str], shape: tuple[int, int], dtype: np.dtype, offset: int):
        super().__init__(os.fspath(path), shape, None, shape[1] * dtype.itemsize, [path])
        self._dtype, self._offset, self._file = dtype, offset, open(path, "rb", buffering=0)  # noqa: SIM115

    def _read(self, start: int, stop: int) -> Any:
        width = self.shape[1]
        size, begin = width * self._dtype.itemsize, self._offset + start * width * self._dtype.itemsize
        rows = bytearray()
        while len(rows) < (stop - start) * size:
            part = os.pread(self._file.fileno(), (stop - start) * size - len(rows), begin + len(rows))
            if not part:
                break
            rows += part
        whole = len(rows) // size
        return np.frombuffer(rows, self._dtype, whole * width).reshape(whole, width)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


def numpy_file(path: str | os.PathLike[str]) -> TableSource:
    """Open a .npy file."""
    # A memory map reads the header alone, and makes sure that the file is as long as the header says.
    return memory_map(np.lib.format.open_memmap(path, mode="r"))


def memory_map(array: np.memmap) -> TableSource:
    """Read a memory map by position if it shows a file as it is, and through the map otherwise."""
    place = os.fspath(array.filename) if array.filename is not None else "X"
    check_matrix(array, place)
    if isinstance(array.base, mmap.mmap) and array.flags.c_contiguous and array.filename is not None:
        return FlatFile(array.filename, array.shape, array.dtype, int(array.offset))
    return SlicedArray(array, place, files=[] if array.filename is None else [array.filename])


def check_matrix(array: Any, place: str) -> None:
    """Raise :class:`SourceError` unless an array is a matrix of real numbers with something in it."""
    if len(array.shape) != 2:
        raise SourceError(f"{place}: has {len(array.shape)} dimension(s); a table has two, samples and features.")
    if np.dtype(array.dtype).kind not in "biuf":
        raise SourceError(f"{place}: holds {array.dtype}, not real numbers.")
