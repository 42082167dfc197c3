"""HDF5 files, opened after the lists in them were checked: over a damaged one the library would never end."""

import os
import re
from collections.abc import Iterator
from typing import IO, Any

from tamis.extras import require
from tamis.io.errors import TableError, reading

SIGNATURE = b"\x89HDF\r\n\x1a\n"
BLOCK_BYTES = 2**24
SCANNED = 2**28
"""Of larger files, the beginning and the end are scanned."""

LISTS = re.compile(rb"(GCOL)\x01\0\0\0|HEAP\0\0\0\0")
"""What a list of texts (a global heap) and a list of names (a local heap) begin with."""

HEADER, LAST = 16, 1
"""Bytes before every object, and what stands for "no further one"."""


def open_hdf(path: str | os.PathLike[str]) -> Any:
    """Open an HDF5 file for reading."""
    require("Reading HDF5", "h5py")
    import h5py

    with reading(path, "cannot be read as HDF5"):
        with open(path, "rb") as file:
            _check_lists(file)
        return h5py.File(path, "r")


def _check_lists(file: IO[bytes]) -> None:
    """Raise :class:`TableError` if a list in the file leads back to itself."""
    length = os.fstat(file.fileno()).st_size
    # MATLAB writes some text before the file, from whose beginning it counts.
    base = next((place for place in (0, 512, 1024, 2048) if _part(file, place, 8) == SIGNATURE), 0)
    for texts, place in _places(file, length):
        if _texts_never_end(file, place, length) if texts else _room_never_ends(file, place, length, base):
            raise TableError(f"the list at byte {place} leads back to itself; restore the file, or save it anew.")


def _places(file: IO[bytes], length: int) -> Iterator[tuple[bool, int]]:
    """Yield where lists begin, which is at multiples of eight, and whether they are lists of texts."""
    last = range(max(SCANNED, length - SCANNED), length, BLOCK_BYTES)
    for start in (*range(0, min(SCANNED, length), BLOCK_BYTES), *last):
        for found in LISTS.finditer(_part(file, start, BLOCK_BYTES + 7)):  # whole lists in the next block are not seen
            if (start + found.start()) % 8 == 0:
                yield found[1] is not None, start + found.start()


def _part(file: IO[bytes], start: int, size: int) -> bytes:
    file.seek(start)
    return file.read(size)


def _number(content: bytes, place: int) -> int:
    return int.from_bytes(content[place : place + 8], "little")


def _texts_never_end(file: IO[bytes], place: int, length: int) -> bool:
    """Go from text to text; a stretch of no bytes that holds none leads nowhere else."""
    size = _number(_part(file, place, HEADER), 8)
    objects = _part(file, place + HEADER, size - HEADER) if HEADER <= size <= length - place else b""
    place = 0
    while place + HEADER <= len(objects):
        size, used = _number(objects, place + 8), objects[place : place + 2] != b"\0\0"
        step = HEADER + size + -size % 8 if used else size
        if step == 0:
            return True
        place += step
    return False


def _room_never_ends(file: IO[bytes], place: int, length: int, base: int) -> bool:
    """Go from one free stretch among the names to the next, each of which is to be passed once."""
    head = _part(file, place, 32)
    size, room, start = (_number(head, i) for i in (8, 16, 24))
    if size > length or base + start > length:
        return False
    names, seen = _part(file, base + start, size), set()
    while room != LAST and room + HEADER <= len(names):
        if room in seen:
            return True
        seen.add(room)
        room = _number(names, room)
    return False
