"""MATLAB files of version 5 (``save -v6`` and ``-v7``): variables are listed first, and read when they are asked for.

Every length that the file declares is compared with what is there; scipy's compiled reader trusts them.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from tamis.io.errors import TableError
from tamis.io.memory import check_room
from tamis.io.readers.arrays import Members
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
DEEPEST = 20
"""Cells within cells within cells."""


@dataclass(frozen=True)
class Variable:
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

    def numbers(self, place: int) -> tuple[np.ndarray, int]:
        """Return the numbers of a part, and where the next one begins."""
        kind, start, end, after = self.at(place)
        if kind not in STORED:
            raise TableError(f"holds a part of the unknown type {kind}; save it anew.")
        dtype = np.dtype(self.order + STORED[kind])
        return np.frombuffer(self.content, dtype, (end - start) // dtype.itemsize, start), after

    def variable(self, place: int) -> Variable:
        """Return the beginning of the matrix at a place."""
        flags, place = self.numbers(place)
        shape, place = self.numbers(place)
        name, place = self.numbers(place)
        if len(flags) != 2 or shape.dtype.kind not in "iu" or len(shape) < 2 or shape.min() < 0:
            raise TableError("holds a variable without a shape; save it anew.")
        kind = int(flags[0])
        text = name.astype(np.uint8).tobytes().decode("utf-8", "replace")
        return Variable(kind & 0xFF, bool(kind & COMPLEX), tuple(shape.tolist()), text, place)


def members(path: Path) -> Members:
    """Return the arrays of a file; structures, functions and objects are left alone."""
    content = path.read_bytes()
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        raise TableError("is no MATLAB file of version 5 or 7.3; save it with save -v7.")
    file = Elements(content, order)
    places: dict[str, int] = {}
    shapes = {}
    for place in _places(file):
        head = _unpacked(file, place, whole=False)
        variable = head.variable(0)
        if variable.kind in (CELL, TEXT, SPARSE, *CLASSES):
            places[variable.name] = place
            shapes[variable.name] = _declared(variable)
    return Members(shapes, lambda name: _value(_unpacked(file, places[name], whole=True), 0, name))


def _places(file: Elements) -> Iterator[int]:
    place = 128
    while place + 8 <= len(file.content):
        yield place
        place = file.at(place)[3]


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


def _declared(variable: Variable) -> tuple[tuple[int, ...], np.dtype]:
    if variable.kind in (CELL, TEXT):
        # Text in rows is a text for every row.
        return (variable.shape[:-1] if variable.kind == TEXT else variable.shape), np.dtype(object)
    return variable.shape, np.dtype("c16" if variable.is_complex else CLASSES.get(variable.kind, "f8"))


def _value(part: Elements, place: int, name: str, depth: int = 0) -> Any:
    variable = part.variable(place)
    if variable.kind == SPARSE:
        return _sparse(part, variable)
    if variable.kind == CELL:
        return _cells(part, variable, name, depth)
    if variable.kind not in (TEXT, *CLASSES):
        return ""
    values, _ = part.numbers(variable.start)
    if len(values) < prod(variable.shape):
        raise TableError(
            f"the variable {name!r} is to be {variable.shape}, but has {len(values)} values; save it anew."
        )
    values = values[: prod(variable.shape)].reshape(variable.shape, order="F")
    if variable.kind == TEXT:
        return _texts(values)
    if variable.is_complex:
        raise TableError(f"the variable {name!r} holds complex numbers; save its real part.")
    return values.astype(CLASSES[variable.kind])


def _sparse(part: Elements, variable: Variable) -> Any:
    if variable.is_complex:
        raise TableError(f"the variable {variable.name!r} holds complex numbers; save its real part.")
    rows, place = part.numbers(variable.start)
    starts, place = part.numbers(place)
    values, _ = part.numbers(place)
    return checked_csr(values.astype(np.float64), rows, starts, variable.shape, "csc")


def _cells(part: Elements, variable: Variable, name: str, depth: int) -> np.ndarray:
    count, place, found = prod(variable.shape), variable.start, []
    # Every cell takes eight bytes at least.
    if depth == DEEPEST or 8 * count > len(part.content):
        raise TableError(f"the variable {name!r} declares {count} cells that are not there; save it anew.")
    for _ in range(count):
        _, start, end, place = part.at(place)
        inner = Elements(part.content[start:end], part.order)
        found.append(_value(inner, 0, name, depth + 1) if start < end else "")
    cells = np.empty(count, dtype=object)
    for i, cell in enumerate(found):
        cells[i] = cell
    return cells.reshape(variable.shape, order="F")


def _texts(codes: np.ndarray) -> np.ndarray:
    """Return a text for every row of letters."""
    rows = codes.reshape(-1, codes.shape[-1]) if codes.ndim else codes.reshape(1, -1)
    texts = ["".join(chr(code) if code < 0x110000 else "�" for code in row.tolist()).rstrip() for row in rows]
    return np.array(texts, dtype=object).reshape(codes.shape[:-1])
