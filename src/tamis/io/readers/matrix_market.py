"""MatrixMarket files (.mtx, .mtx.gz): every line is checked before it becomes a number.

scipy's reader is quicker, but runs over the end of a file that ends inside a number, and takes ``1.5abc`` for 1.5.
"""

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from tamis.io.errors import TableError
from tamis.io.memory import NAME_BYTES, Expanded, check_room, file_size

BLOCK_BYTES = 2**22
LONGEST_LINE = 2**16
MAX_COMMENTS = 10**5

NUMBER = rb"[+-]?(?:(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?|(?i:nan|inf(?:inity)?))"
INTEGER = rb"\d{1,18}"
GAP, END = rb"[ \t]++", rb"[ \t\r]*+\n"
FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric")


@dataclass(frozen=True)
class Heading:
    """What the first lines declare, and how many lines they are."""

    coordinates: bool
    field: str
    symmetry: str
    shape: tuple[int, int]
    n_lines: int
    n_entries: int

    @property
    def width(self) -> int:
        """Return the numbers in a line."""
        return 1 if not self.coordinates else 2 if self.field == "pattern" else 3


def load(path: Path) -> Any:
    """Read a matrix: CSR from coordinates, a dense array from an array."""
    stored = file_size(path)
    with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as raw:
        stream = Expanded(raw, stored)
        heading = _heading(stream)
        n, d = heading.shape
        check_room(16 * n + NAME_BYTES * d + 48 * heading.n_entries, stored, f"the matrix of {n} × {d}")
        values = _values(stream, heading)
    return _coordinates(values, heading) if heading.coordinates else _array(values[:, 0], heading)


def _heading(stream: Expanded) -> Heading:
    # Split as bytes: of letters beyond ASCII, some count as blanks in text.
    first = [part.decode("latin-1") for part in stream.readline(LONGEST_LINE).lower().split()]
    if len(first) != 5 or first[:2] != ["%%matrixmarket", "matrix"] or first[2] not in ("coordinate", "array"):
        raise TableError("does not begin with '%%MatrixMarket matrix coordinate' or '... array'; save it anew.")
    if first[3] not in FIELDS or first[4] not in SYMMETRIES or (first[3] == "pattern" and first[2] == "array"):
        raise TableError(f"holds a {first[4]} matrix of {first[3]}, not of real numbers; save it as real and general.")
    number, line = 2, stream.readline(LONGEST_LINE)
    while (line.startswith(b"%") or (line and not line.strip())) and number < MAX_COMMENTS:
        number, line = number + 1, stream.readline(LONGEST_LINE)
    sizes = line.split()
    coordinates = first[2] == "coordinate"
    if len(sizes) != 2 + coordinates or not all(re.fullmatch(INTEGER, size) for size in sizes):
        raise TableError(f"line {number} is {_shown(line)}, not the size of the matrix; correct it, or save it anew.")
    n, d, *declared = map(int, sizes)
    if first[4] != "general" and n != d:
        raise TableError(f"line {number} declares {n} × {d}, but a {first[4]} matrix is square; correct it.")
    return Heading(coordinates, first[3], first[4], (n, d), number, declared[0] if declared else _cells(n, d, first[4]))


def _cells(n: int, d: int, symmetry: str) -> int:
    return {"general": n * d, "symmetric": n * (n + 1) // 2, "skew-symmetric": n * (n - 1) // 2}[symmetry]


def _values(stream: Expanded, heading: Heading) -> NDArray[np.float64]:
    """Read all entries, one a line; raise :class:`TableError` with the first line that is none."""
    entry = GAP.join([INTEGER] * (2 * heading.coordinates) + [NUMBER] * (heading.field != "pattern"))
    good = re.compile(rb"(?:[ \t]*+(?:%[^\n]*+|" + entry + rb")?" + END + rb")*+")
    comments = re.compile(rb"^[ \t]*+%[^\n]*+", re.MULTILINE)
    blocks, n_read, number = [np.empty((0, heading.width))], 0, heading.n_lines
    for block in _whole_lines(stream):
        end = good.match(block).end()  # type: ignore[union-attr]
        if end < len(block):
            raise TableError(_bad_line(block, end, number + block.count(b"\n", 0, end) + 1, heading))
        numbers = np.fromstring(comments.sub(b"", block) if b"%" in block else block, sep=" ")
        blocks.append(numbers.reshape(-1, heading.width))
        n_read, number = n_read + len(blocks[-1]), number + block.count(b"\n")
        if n_read > heading.n_entries:
            break
    if n_read != heading.n_entries:
        more = "more" if n_read > heading.n_entries else f"{n_read}"
        raise TableError(f"declares {heading.n_entries} entries, but holds {more}; restore it, or save it anew.")
    return np.concatenate(blocks)


def _whole_lines(stream: Expanded) -> Iterator[bytes]:
    """Yield the rest of a file in blocks of whole lines; the last one gets its end if it lacks it."""
    left = b""
    while block := stream.read(BLOCK_BYTES):
        block = left + block
        end = block.rfind(b"\n") + 1
        left = block[end:]
        if len(left) > LONGEST_LINE:
            raise TableError(f"a line is longer than {LONGEST_LINE} bytes, so that it is no entry; save it anew.")
        if end:
            yield block[:end]
    if left:
        yield left + b"\n"


def _bad_line(block: bytes, start: int, number: int, heading: Heading) -> str:
    wanted = {1: "a number", 2: "a row and a column", 3: "a row, a column and a number"}[heading.width]
    line = block[start : block.find(b"\n", start)]
    return f"line {number} is {_shown(line)}, not {wanted}; correct it, or save the file anew."


def _shown(line: bytes) -> str:
    return repr(line.decode("latin-1").strip()[:40])


def _coordinates(values: NDArray[np.float64], heading: Heading) -> csr_array:
    n, d = heading.shape
    rows, columns = values[:, 0].astype(np.int64) - 1, values[:, 1].astype(np.int64) - 1
    outside = np.flatnonzero((rows < 0) | (rows >= n) | (columns < 0) | (columns >= d))
    if outside.size:
        i = outside[0]
        raise TableError(
            f"entry {i + 1} is in row {rows[i] + 1} and column {columns[i] + 1} of a matrix of {n} × {d}; correct it."
        )
    cells = np.ones(len(values)) if heading.field == "pattern" else _typed(values[:, 2], heading.field)
    if heading.symmetry != "general":
        off = rows != columns
        sign = -1 if heading.symmetry == "skew-symmetric" else 1
        rows, columns = np.append(rows, columns[off]), np.append(columns, rows[off])
        cells = np.append(cells, sign * cells[off])
    return csr_array(coo_array((cells, (rows, columns)), shape=(n, d)))


def _array(values: NDArray[np.float64], heading: Heading) -> NDArray:
    n, d = heading.shape
    cells = _typed(values, heading.field)
    if heading.symmetry == "general":
        return np.ascontiguousarray(cells.reshape(d, n).T)
    skew = heading.symmetry == "skew-symmetric"
    matrix = np.zeros((n, n), dtype=cells.dtype)
    # The lower triangle is stored column after column, which is the upper one row after row.
    matrix.T[np.triu_indices(n, k=int(skew))] = cells
    return matrix + (-1 if skew else 1) * np.tril(matrix, -1).T


def _typed(values: NDArray[np.float64], field: str) -> NDArray:
    """Return whole numbers as such, as far as they were read without loss."""
    exact = "integer" in field and np.isfinite(values).all() and np.abs(values).max(initial=0) < 2**53
    return values.astype(np.int64) if exact and (values == np.floor(values)).all() else values
