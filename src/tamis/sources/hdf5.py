"""HDF5 files, opened after a look at the places where texts are kept, over which the library never ends if damaged."""

import os
from collections.abc import Iterator
from typing import IO, Any

from tamis.sources.errors import TableError, reading

BLOCK_BYTES = 2**24
SCANNED = 2**28
"""Of larger files, the beginning and the end are looked at."""

HEAP, HEADER = b"GCOL\x01\0\0\0", 16
"""A heap is a list of objects with a header each, and so is the room that is left in it."""


def open_hdf(path: str | os.PathLike[str]) -> Any:
    """Open an HDF5 file for reading."""
    import h5py

    with reading(path, "cannot be read as HDF5"):
        with open(path, "rb") as file:
            check_heaps(file)
        return h5py.File(path, "r")


def check_heaps(file: IO[bytes]) -> None:
    """Raise :class:`TableError` if a list of texts does not end within its bounds."""
    length = os.fstat(file.fileno()).st_size
    for place in _places(file, length):
        file.seek(place + len(HEAP))
        size = int.from_bytes(file.read(8), "little")
        if size > length - place or not _ends(file.read(size - HEADER)):
            raise TableError(f"the texts that are kept at byte {place} are damaged; restore the file, or save it anew.")


def _places(file: IO[bytes], length: int) -> Iterator[int]:
    """Yield where heaps begin, which is at multiples of eight."""
    start, left = 0, b""
    while block := _block(file, start):
        content, base = left + block, start - len(left)
        found = content.find(HEAP)
        while found >= 0:
            if (base + found) % 8 == 0:
                yield base + found
            found = content.find(HEAP, found + 1)
        left, start = content[-len(HEAP) + 1 :], start + len(block)
        if SCANNED <= start < length - SCANNED:
            left, start = b"", length - SCANNED


def _block(file: IO[bytes], start: int) -> bytes:
    file.seek(start)
    return file.read(BLOCK_BYTES)


def _ends(objects: bytes) -> bool:
    """Tell whether every object leads to the next one, and the last to the end."""
    place = 0
    while len(objects) - place >= HEADER:
        size = int.from_bytes(objects[place + 8 : place + 16], "little")
        used = int.from_bytes(objects[place : place + 2], "little") > 0
        step = HEADER + size + -size % 8 if used else size
        if step < HEADER or step > len(objects) - place:
            return False
        place += step
    return True
