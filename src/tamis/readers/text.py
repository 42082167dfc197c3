"""Tables as text: delimiter, header, decimal mark and text columns are found in the first lines, then Arrow reads."""

import csv
import gzip
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import IO, Any

import numpy as np

from tamis.readers.table import Progress, ReadError, Request, Roles, Table, assign_roles, unheard
from tamis.sources.memory import Expanded, check_room

DELIMITERS = ",\t;| "
HEAD_BYTES = 2**18
HEAD_LINES = 50
LONGEST_LINE = 2**25
BLOCK_BYTES = 2**24
MISSING = ["", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "#N/A", "?"]
CONVERSION = re.compile(r"In CSV column #(\d+).*?(?:invalid value|cannot be).*?'(.*?)'", re.S)
RAGGED = re.compile(r"Expected (\d+) columns, got (\d+): (.*)", re.S)


@dataclass(frozen=True)
class Layout:
    """What the first lines of a text file tell about it."""

    delimiter: str
    decimal: str
    encoding: str
    names: list[str]
    header: bool
    text: list[int]
    longest_line: int


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Read a text table, block by block."""
    with _opened(path, unheard) as stream:
        layout = find_layout(_head(stream), request.delimiter)
    roles = assign_roles(layout.names, layout.text, request)
    blocks = []
    sides: dict[int, list[Any]] = {i: [] for i in (roles.index, roles.label) if i is not None}
    with _opened(path, progress) as stream:
        for batch in _batches(stream, layout, roles):
            blocks.append(_matrix(batch, roles))
            # Blocks are put together at the end, so that there are two of each for a moment.
            check_room(2 * sum(block.nbytes for block in blocks), inf, "the table")
            for column, parts in sides.items():
                parts.extend(batch.column(str(column)).to_pylist())
    if not blocks:
        raise ReadError("has a header, but no rows.")
    X = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    return oriented(X, [layout.names[i] for i in roles.features], layout.names, roles, sides, request)


def oriented(
    X: Any, features: list[str], names: list[str], roles: Roles, sides: dict[int, list[Any]], request: Request
) -> Table:
    """Make the table, turned if its features are in rows."""
    rows = None if roles.index is None else np.array([str(cell) for cell in sides[roles.index]], dtype=object)
    if request.transpose:
        found = rows if rows is not None else np.array([f"feature_{i}" for i in range(len(X))], dtype=object)
        return Table(np.ascontiguousarray(X.T), found, np.array(features, dtype=object))
    y = None if roles.label is None else label_array(sides[roles.label])
    return Table(
        X,
        np.array(features, dtype=object),
        rows,
        y,
        "sample" if roles.index is None else names[roles.index],
        "label" if roles.label is None else names[roles.label],
    )


def label_array(cells: Any) -> np.ndarray:
    """Give labels as text; a missing one is a label of its own."""
    return np.array(["" if cell is None else str(cell) for cell in cells], dtype=object)


@contextmanager
def _opened(path: Path, progress: Progress) -> Iterator[IO[bytes]]:
    with path.open("rb") as raw:
        counted = _Counted(raw, path.stat().st_size, progress)
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        if packed:
            with gzip.GzipFile(fileobj=counted) as stream:
                yield Expanded(stream, counted.total)  # type: ignore[misc]
        else:
            yield counted  # type: ignore[misc]


class _Counted(io.RawIOBase):
    """A file that tells how far it was read."""

    def __init__(self, raw: IO[bytes], total: int, progress: Progress):
        self.raw, self.total, self.progress = raw, total, progress

    def read(self, size: int = -1) -> bytes:
        data = self.raw.read(size)
        self.progress(self.raw.tell(), self.total)
        return data

    def readable(self) -> bool:
        return True


def _head(stream: IO[bytes]) -> bytes:
    """Give the first lines: all that begin in the first bytes, of which the last is completed."""
    found = bytearray(stream.read(HEAD_BYTES) or b"")
    ended = found.endswith(b"\n")
    while found and not ended and (more := stream.read(HEAD_BYTES)):
        found += more
        ended = b"\n" in more
        if len(found) > LONGEST_LINE:
            raise ReadError(f"has a line of more than {LONGEST_LINE} bytes, so that it is no table; save it anew.")
    head = bytes(found)
    if b"\0" in head.replace(b"\xff\xfe", b"", 1)[:4096] and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ReadError("is not a text file (it holds zero bytes).")
    end = head.rfind(b"\n")
    return head if end < 0 or len(head) < HEAD_BYTES else head[: end + 1]


def find_layout(head: bytes, delimiter: str | None = None) -> Layout:
    """Find out how a text table is written."""
    encoding = _encoding(head)
    lines = [line for line in head.decode(encoding).splitlines() if line.strip()][:HEAD_LINES]
    if not lines:
        raise ReadError("holds no lines.")
    delimiter = delimiter or _delimiter(lines)
    cells = _cells(lines, delimiter)
    # R leaves out the heading of the row names.
    if len(cells) > 1 and len(cells[1]) == len(cells[0]) + 1:
        cells[0] = ["", *cells[0]]
    _check_cells(cells, delimiter)
    decimal = _decimal(cells, delimiter)
    header = not all(_is_number(cell, decimal) for cell in cells[0])
    body = cells[1:] if header else cells
    if not body:
        raise ReadError("has a header, but no rows.")
    names = [name.strip() for name in cells[0]] if header else [f"feature_{i}" for i in range(len(cells[0]))]
    text = [i for i, column in enumerate(zip(*body, strict=True)) if not all(_is_number(c, decimal) for c in column)]
    return Layout(delimiter, decimal, encoding, names, header, text, max(map(len, lines)))


def _encoding(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The end of the head may cut a letter in two, which is no fault of the file.
        return "latin-1" if error.start < len(head) - 4 else "utf-8"
    return "utf-8-sig" if head.startswith(b"\xef\xbb\xbf") else "utf-8"


def _delimiter(lines: list[str]) -> str:
    """Take the mark that splits all lines into the same number of cells, the most of them; else the commonest."""
    sizes = {mark: [len(row) for row in _cells(lines, mark)] for mark in DELIMITERS}
    even = {
        mark: counts[-1] for mark, counts in sizes.items() if counts[-1] > 1 and len(set(counts[1:] or counts)) == 1
    }
    if even:
        return max(even, key=lambda mark: (even[mark] in (sizes[mark][0], sizes[mark][0] + 1), even[mark]))
    return max(",\t;|", key=lambda mark: sum(line.count(mark) for line in lines))


def _cells(lines: list[str], delimiter: str) -> list[list[str]]:
    """Split lines into cells; with a wrong delimiter a whole line is one cell, which may be long."""
    before = csv.field_size_limit(LONGEST_LINE)
    try:
        return list(csv.reader(lines, delimiter=delimiter))
    finally:
        csv.field_size_limit(before)


def _check_cells(cells: list[list[str]], delimiter: str) -> None:
    width = len(cells[0])
    for number, row in enumerate(cells, start=1):
        if len(row) != width:
            raise ReadError(
                f"line {number} has {len(row)} cell(s), but the first has {width} (delimiter {delimiter!r}); "
                "every line must have as many, or pass --delimiter."
            )
    if width == 1 and any(mark in cells[-1][0] for mark in ",;\t|"):
        raise ReadError(f"has one column only with the delimiter {delimiter!r}; pass another with --delimiter.")


def _decimal(cells: list[list[str]], delimiter: str) -> str:
    """Say whether numbers are written 1,5 rather than 1.5."""
    if delimiter == ",":
        return "."
    sample = [cell for row in cells[1:] for cell in row]
    commas = sum(_is_number(cell, ",") and "," in cell for cell in sample)
    return "," if commas > sum("." in cell and _is_number(cell, ".") for cell in sample) else "."


def _is_number(cell: str, decimal: str) -> bool:
    cell = cell.strip()
    if cell in MISSING:
        return True
    if "_" in cell or (decimal == "," and "." in cell):
        return False
    try:
        float(cell.replace(",", ".") if decimal == "," else cell)
    except ValueError:
        return False
    return True


def _batches(stream: IO[bytes], layout: Layout, roles: Roles) -> Iterator[Any]:
    """Let Arrow parse; columns are named by their position, since names in the file may repeat."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    wanted = {str(i): pa.float64() for i in roles.features}
    wanted |= {str(i): pa.string() for i in (roles.index, roles.label) if i is not None}
    try:
        reader = arrow_csv.open_csv(
            stream,
            arrow_csv.ReadOptions(
                block_size=max(BLOCK_BYTES, 8 * layout.longest_line),
                skip_rows=int(layout.header),
                column_names=[str(i) for i in range(len(layout.names))],
                encoding=layout.encoding.removesuffix("-sig"),
            ),
            arrow_csv.ParseOptions(delimiter=layout.delimiter),
            arrow_csv.ConvertOptions(
                column_types=wanted,
                include_columns=list(wanted),
                null_values=MISSING,
                decimal_point=layout.decimal,
                strings_can_be_null=False,
            ),
        )
        yield from reader
    except pa.ArrowInvalid as error:
        raise ReadError(_reworded(str(error), layout)) from error


def _reworded(message: str, layout: Layout) -> str:
    if "Empty CSV file" in message:
        return "has a header, but no rows."
    if ragged := RAGGED.search(message):
        width, found, line = ragged.groups()
        return f"the line {line.splitlines()[0][:40]!r} has {found} cell(s), but the first has {width}."
    if conversion := CONVERSION.search(message):
        name = layout.names[int(conversion.group(1))]
        return (
            f"the column {name!r} holds {conversion.group(2)!r} among its numbers; correct the file, or leave the "
            "column out with --drop."
        )
    return f"cannot be read as a text table ({message.splitlines()[0].rstrip('.')})."


def _matrix(batch: Any, roles: Roles) -> np.ndarray:
    numbers = batch.select([str(column) for column in roles.features])
    return numbers.to_tensor(null_to_nan=True, row_major=True).to_numpy()
