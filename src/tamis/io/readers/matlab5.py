"""MATLAB files of version 5 (``save -v6`` and ``-v7``): variables are listed first, and read when they are asked for.

Every length that the file declares is compared with what is there; scipy's compiled reader trusts them, and crashes.
"""

import zlib
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.io.errors import TableError
from tamis.io.memory import check_room
from tamis.io.readers.arrays import Member, Members
from tamis.io.sources.sparse import checked_csr

MATRIX, COMPRESSED = 14, 15
STORED = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8", 16: "u1", 17: "u2",
    18: "u4",
}  # fmt: skip
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
CELL, TEXT, SPARSE = 1, 4, 5
COMPLEX = 0x800
HEAD_BYTES = 2**12
"""Unpacked bytes that hold the name and the shape of a variable."""
MAX_DEPTH = 20
"""Cells within cells within cells."""


class Variable(NamedTuple):
    """The beginning of a matrix: its class and flags, shape, name, and where its values begin."""

    kind: int
    is_complex: bool
    shape: tuple[int, ...]
    name: str
    start: int


class Elements:
    """The tagged parts of some bytes of a file, one after the other."""

    def __init__(self, content: bytes, order: str):
        self.content, self.order = content, order

    def at(self, place: int) -> tuple[int, int, int, int]:
        """Return the type of a part, where its content begins and ends, and where the next part begins."""
        word, length = np.frombuffer(self.content, self.order + "u4", 2, place).tolist()
        if word >> 16:
            # A short part has its length and its content in one word each.
            return word & 0xFFFF, place + 4, self._end(place + 4, min(4, word >> 16)), place + 8
        end = self._end(place + 8, length)
        return word, place + 8, end, end if word == COMPRESSED else end + -length % 8

    def _end(self, start: int, length: int) -> int:
        if start + length > len(self.content):
            raise TableError(f"ends at byte {len(self.content)} inside a part of {length} bytes; save it anew.")
        return start + length

    def numbers(self, place: int) -> tuple[NDArray[Any], int]:
        """Return the numbers of a part, and where the next one begins."""
        kind, start, end, after = self.at(place)
        if kind not in STORED:
            raise TableError(f"holds a part of the unknown type {kind}; save it anew.")
        dtype = np.dtype(self.order + STORED[kind])
        return np.frombuffer(self.content, dtype, (end - start) // dtype.itemsize, start), after

    def variable(self) -> Variable:
        """Return the beginning of the matrix."""
        flags, place = self.numbers(0)
        shape, place = self.numbers(place)
        name, place = self.numbers(place)
        if len(flags) != 2 or shape.dtype.kind not in "iu" or len(shape) < 2 or shape.min() < 0:
            raise TableError("holds a variable without a shape; save it anew.")
        kind, text = int(flags[0]), name.astype(np.uint8).tobytes().decode("utf-8", "replace")
        return Variable(kind & 0xFF, bool(kind & COMPLEX), tuple(shape.tolist()), text, place)


def members(path: Path) -> Members:
    """Return the arrays of a file; structures, functions and objects are left alone."""
    content = path.read_bytes()
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        raise TableError("is no MATLAB file of version 5 or 7.3; save it with save -v7.")
    file, found, place = Elements(content, order), {}, 128
    while place + 8 <= len(content):
        variable = _unpacked(file, place, whole=False).variable()
        if variable.kind in (CELL, TEXT, SPARSE, *CLASSES):
            found[variable.name] = Member(*_declared(variable), partial(_load, file, place, variable.name))
        place = file.at(place)[3]
    return found


def _load(file: Elements, place: int, name: str) -> Any:
    return _value(_unpacked(file, place, whole=True), name)


def _unpacked(file: Elements, place: int, whole: bool) -> Elements:
    """Return the content of a matrix, or its beginning."""
    kind, start, end, _ = file.at(place)
    if kind == MATRIX:
        return Elements(file.content[start : end if whole else min(end, start + HEAD_BYTES)], file.order)
    if kind != COMPRESSED:
        raise TableError(f"holds a part of type {kind} at byte {place} where a variable should be; save it anew.")
    packed, unpacking = file.content[start:end], zlib.decompressobj()
    head = unpacking.decompress(packed, HEAD_BYTES)
    inner, length = np.frombuffer(head, file.order + "u4", 2).tolist()
    if inner != MATRIX:
        raise TableError(f"holds a packed part of type {inner} at byte {place}; save it anew.")
    if whole:
        check_room(length, len(packed), "a packed variable")
        head += unpacking.decompress(unpacking.unconsumed_tail, max(1, length + 8 - len(head)))
    return Elements(head[8 : 8 + length], file.order)


def _declared(variable: Variable) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if variable.kind == TEXT:
        return variable.shape[:-1], np.dtype(object)  # Text in rows is a text for every row.
    if variable.kind == CELL:
        return variable.shape, np.dtype(object)
    return variable.shape, np.dtype("c16" if variable.is_complex else CLASSES.get(variable.kind, "f8"))


def _value(part: Elements, name: str, depth: int = 0) -> Any:
    variable = part.variable()
    if variable.is_complex and variable.kind in (SPARSE, *CLASSES):
        raise TableError(f"the variable {name!r} holds complex numbers; save its real part.")
    if variable.kind == CELL:
        return _cells(part, variable, name, depth)
    if variable.kind not in (SPARSE, TEXT, *CLASSES):
        return ""
    values, place = part.numbers(variable.start)
    if variable.kind == SPARSE:
        starts, place = part.numbers(place)
        return checked_csr(part.numbers(place)[0].astype(np.float64), values, starts, variable.shape, "csc")
    size = prod(variable.shape)
    if len(values) < size:
        raise TableError(f"the variable {name!r} declares {size} values, but has {len(values)}; save it anew.")
    values = values[:size].reshape(variable.shape, order="F")
    return _texts(values) if variable.kind == TEXT else values.astype(CLASSES[variable.kind])


def _cells(part: Elements, variable: Variable, name: str, depth: int) -> NDArray[Any]:
    count, place = prod(variable.shape), variable.start
    # Every cell takes eight bytes at least.
    if depth == MAX_DEPTH or 8 * count > len(part.content):
        raise TableError(f"the variable {name!r} declares {count} cells that are not there; save it anew.")
    cells = np.empty(count, dtype=object)
    for i in range(count):
        _, start, end, place = part.at(place)
        cells[i] = _value(Elements(part.content[start:end], part.order), name, depth + 1) if start < end else ""
    return cells.reshape(variable.shape, order="F")


def _texts(codes: NDArray[Any]) -> NDArray[Any]:
    """Return a text for every row of letters."""
    rows = codes.reshape(-1, codes.shape[-1])
    texts = ["".join(chr(code) if code < 0x110000 else "�" for code in row.tolist()).rstrip() for row in rows]
    return np.array(texts, dtype=object).reshape(codes.shape[:-1])
