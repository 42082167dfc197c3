"""Text tables: the head tells the layout, Arrow finds the type of every column, and what is no number stays text."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from tamis.io.errors import TableError
from tamis.io.readers.arrow import frame_of
from tamis.io.readers.compression import opened
from tamis.io.readers.frame import Frame, decimals_of_text, table_of
from tamis.io.readers.kinds import MISSING
from tamis.io.readers.layout import Layout, asked_decimal, find_layout, windows_encoding
from tamis.io.readers.report import ASSUMED, Finding, counted
from tamis.io.readers.roles import Roles, assign_roles
from tamis.io.readers.table import Progress, Request, Table, unheard

HEAD_BYTES = 2**18
MIN_HEAD_LINES = 5
MAX_HEAD_BYTES = 2**26
BLOCK_BYTES = 2**24
WIDE = 4000
"""From so many columns on, every row is parsed as one column: Arrow spends time and memory on each column."""

RAGGED = re.compile(r"Expected (\d+) columns, got (\d+): (.*)", re.S)


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Read a text table; columns whose decimal mark turns out to be doubtful are read again as text."""
    with opened(path, unheard, request.key) as stream:
        layout = find_layout(_head(stream), request)
    layout, frame = _frame(layout, path, request, progress)
    if doubtful := _doubtful_columns(frame, layout, request):
        frame = _frame(replace(layout, text=[*layout.text, *doubtful]), path, request, progress)[1]
    return table_of(frame, request)


def _head(stream: IO[bytes]) -> bytes:
    """Read the first lines: all that begin in the first bytes, and a few if they are long."""
    head = stream.read(HEAD_BYTES) or b""
    wide_letters = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if b"\0" in head[:4096] and not wide_letters:
        raise TableError("is not a text file (it holds zero bytes).")
    complete = len(head) < HEAD_BYTES
    while not complete and head.count(b"\n") < MIN_HEAD_LINES:
        more = stream.read(max(HEAD_BYTES, len(head)))
        head, complete = head + more, not more
        if len(head) > MAX_HEAD_BYTES:
            raise TableError(f"has no {MIN_HEAD_LINES} lines in its first {MAX_HEAD_BYTES} bytes, so it is no table.")
    end = head.rfind(b"\n")
    return head if end < 0 or complete or wide_letters else head[: end + 1]


def _frame(layout: Layout, path: Path, request: Request, progress: Progress) -> tuple[Layout, Frame]:
    """Read all columns with a layout, or with one that is mended after Arrow stumbled."""
    roles = assign_roles(layout.names, request, first_is_text=0 in layout.text)
    frame = _wide_frame(layout, roles, path, request, progress) if len(layout.names) >= WIDE else None
    while frame is None:
        try:
            table = _parsed(layout, {*layout.text, *roles.sides}, path, request, progress)
            frame = frame_of(table, roles, unheard)
        except pa.ArrowInvalid as error:
            layout = _mended(layout, path, request, error)
    findings = (*layout.findings, *roles.findings)
    return layout, replace(frame, findings=findings, decimals=_decimals(layout, frame.matrix))


def _parsed(layout: Layout, text: set[int], path: Path, request: Request, progress: Progress) -> Any:
    """Return the Arrow table of a file; columns are named by their position, since names in the file may repeat."""
    width = len(layout.names) + layout.trailing
    plain = request.comment or layout.runs
    with _table_stream(path, request, layout, progress) as stream:
        table = arrow_csv.read_csv(
            stream,
            arrow_csv.ReadOptions(
                block_size=max(BLOCK_BYTES, min(2**30, 2**12 * width)),
                skip_rows=layout.skipped,
                column_names=[str(place) for place in range(width)],
                encoding="utf-8" if plain else layout.encoding.removesuffix("-sig"),
            ),
            arrow_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=layout.multiline),
            _conversion(layout, request, {str(place): pa.string() for place in text}),
        )
    if any(pa.types.is_binary(kind) for kind in table.schema.types):
        raise pa.ArrowInvalid("invalid UTF8 data")
    if not table.num_rows:
        raise TableError("has a header, but no rows.")
    return table.select(range(len(layout.names)))


def _conversion(layout: Layout, request: Request, types: dict[str, Any]) -> Any:
    return arrow_csv.ConvertOptions(
        column_types=types,
        null_values=[*MISSING, *request.na_values],
        decimal_point=layout.decimal,
        strings_can_be_null=False,
        true_values=[],
        false_values=[],
    )


def _wide_frame(layout: Layout, roles: Roles, path: Path, request: Request, progress: Progress) -> Frame | None:
    """Read a plain table of very many columns row by row; None if it holds something that must be read otherwise."""
    text = sorted({*layout.text, *roles.sides})
    plain = [place for place in roles.features if place not in set(text)]
    with _table_stream(path, request, layout, progress) as stream:
        lines = b"".join(iter(lambda: stream.read(BLOCK_BYTES), b"")).split(b"\n")[layout.skipped :]
    convert = _conversion(layout, request, {"cell": pa.float64()})
    width, rows, words = len(layout.names) + layout.trailing, [], []
    try:
        for line in filter(bytes.strip, lines):
            cells = line.rstrip(b"\r").split(layout.delimiter.encode())
            if len(cells) != width or b'"' in line or layout.encoding == "utf-16":
                return None
            words.append([cells[place].decode(layout.encoding) for place in text])
            for place in text:
                cells[place] = b""
            rows.append(_parsed_row(b"\n".join(cells) + b"\n", convert)[plain])
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    others = {
        place: pa.array(column, pa.string()) for place, column in zip(text, zip(*words, strict=True), strict=True)
    }
    return Frame(roles, np.array(rows), plain, others)


def _parsed_row(cells: bytes, convert: Any) -> NDArray[Any]:
    """Parse cells that stand one a line; no letter parts or quotes them."""
    options = arrow_csv.ReadOptions(column_names=["cell"], use_threads=False, block_size=len(cells) + 1)
    parse = arrow_csv.ParseOptions(delimiter="\x1f", quote_char=False, ignore_empty_lines=False)
    return np.asarray(arrow_csv.read_csv(pa.BufferReader(cells), options, parse, convert).column(0).to_numpy())


@contextmanager
def _table_stream(path: Path, request: Request, layout: Layout, progress: Progress) -> Iterator[IO[bytes]]:
    """Open a file as Arrow can split it: without comments, and with one mark between cells."""
    with opened(path, progress, request.key) as stream:
        if not (request.comment or layout.runs):
            yield stream
            return
        lines = re.split(r"\r\n|\n|\r", stream.read().decode(layout.encoding))
        if request.comment:
            lines = [line for line in lines if not line.startswith(request.comment)]
        if layout.runs:
            lines = [layout.delimiter.join(line.split()) for line in lines]
        yield io.BytesIO("\n".join(lines).encode())


def _doubtful_columns(frame: Frame, layout: Layout, request: Request) -> list[int]:
    """Return numeric columns with fractions whose point may be a thousands mark, so that their cells must be examined.

    So it is if no comma parts the cells and no number of the head tells, or if other columns have decimal commas.
    """
    if asked_decimal(request) or layout.decimal == ",":
        return []
    open_marks = layout.delimiter != "," and not layout.decimals
    if not open_marks and "," not in decimals_of_text(frame, request):
        return []
    return [frame.plain[i] for i in np.flatnonzero(_fractions(frame.matrix).any(axis=0))]


def _fractions(matrix: NDArray[Any]) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return np.asarray((matrix % 1 != 0) & np.isfinite(matrix))


def _decimals(layout: Layout, matrix: NDArray[Any]) -> frozenset[str]:
    """Return the decimal marks that the numbers show: those of the head, else what the fractions were read with."""
    if layout.decimals or not _fractions(matrix).any():
        return layout.decimals
    return frozenset({layout.decimal})


def _mended(layout: Layout, path: Path, request: Request, error: Exception) -> Layout:
    """Return a layout with which a file may be read after all: other letters, or line breaks in cells."""
    message, findings = str(error), layout.findings
    if "UTF8" in message and request.encoding is None and layout.encoding.startswith("utf-8"):
        with opened(path, unheard, request.key) as stream:
            encoding, more = windows_encoding(stream.read(2**26))
        return replace(layout, encoding=encoding, findings=(*findings, *more))
    ragged = RAGGED.search(message)
    if ragged and not layout.multiline and '"' in message:
        more = [Finding(ASSUMED, "line breaks between quotation marks belong to the cells")]
        return replace(layout, multiline=True, findings=(*findings, *more))
    if "Empty CSV file" in message:
        raise TableError("has a header, but no rows.") from error
    if not ragged:
        raise TableError(f"cannot be read as a text table ({message.splitlines()[0].rstrip('.')}).") from error
    width, found, line = ragged.groups()
    shown = line.splitlines()[0][:40] if line.strip() else ""
    raise TableError(
        f"the line {shown!r} has {counted(int(found), 'cell')}, but the first line of the table has {width}; every "
        "line must have as many, or pass --comment if it is a comment."
    ) from error
