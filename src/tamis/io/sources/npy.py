"""What the header of a .npy file declares, compared with what the file holds."""

import os
from math import prod
from typing import IO

import numpy as np
from numpy.lib import format as npy

from tamis.io.errors import TableError

READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_header(stream: IO[bytes], stored: int) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Read the header, up to the first value; raise :class:`TableError` if it declares what is not there.

    Parameters
    ----------
    stream : binary file
        At its beginning.
    stored : int
        How many bytes it holds.

    Returns
    -------
    shape : tuple of int
        Of the array.
    fortran_order : bool
        Whether it lies column after column.
    dtype : numpy.dtype
        Of its values.
    """
    version = npy.read_magic(stream)
    if version not in READERS:
        raise TableError(f"is of version {version[0]}.{version[1]} of the format; save it anew with numpy.save.")
    shape, fortran_order, dtype = READERS[version](stream)
    if dtype.hasobject:
        raise TableError("holds Python objects, which could run code; save it as numbers or text.")
    needed, there = prod(shape) * dtype.itemsize, stored - stream.tell()
    if min(shape, default=0) < 0 or needed > there:
        raise TableError(f"says that it holds {needed} bytes of numbers, but has {there}; restore it, or save it anew.")
    return shape, fortran_order, dtype


def stored_length(stream: IO[bytes]) -> int:
    """Return the bytes of an open file."""
    return os.fstat(stream.fileno()).st_size
