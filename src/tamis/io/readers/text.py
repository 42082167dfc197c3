"""Text tables: the head tells the layout, Arrow parts the cells, and what is no plain number stays text."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from tamis.io.errors import TableError
from tamis.io.readers.compression import opened
from tamis.io.readers.frame import Frame, table_of
from tamis.io.readers.kinds import has_mark, plain_numbers
from tamis.io.readers.layout import WINDOWS, Layout, find_layout, without_comments
from tamis.io.readers.numbers import marks_of_features
from tamis.io.readers.surplus import TOTAL, samples_of
from tamis.io.readers.table import Progress, Request, Roles, Table, assign_roles, unheard
from tamis.io.request import OTHER_MARK
from tamis.reprs import counted

HEAD_BYTES = 2**18
MIN_HEAD_LINES = 5
MAX_HEAD_BYTES = 2**26
BLOCK_BYTES = 2**24
WIDE = 4000
"""From so many columns on, every row is parsed as one column: Arrow spends time and memory on each column."""

RAGGED = re.compile(r"Expected (\d+) columns, got (\d+): (.*)", re.S)


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Read a text table."""
    with opened(path, unheard, request.key) as stream:
        layout = find_layout(_head(stream, request.encoding or ""), request)
    roles = assign_roles(layout.names, request, first_is_text=0 in layout.text)
    frame = _wide_frame(layout, roles, path, request, progress) if len(layout.names) >= WIDE else None
    if frame is None:
        layout, table = _parsed(layout, path, request, progress)
        table, surplus = samples_of(table, layout.names, request, layout.decimal)
        frame = _frame(table, roles, layout, request)._replace(findings=tuple(surplus))
    return table_of(frame._replace(findings=(*layout.findings, *roles.findings, *frame.findings)), request)


def _head(stream: IO[bytes], encoding: str) -> bytes:
    """Read the first lines: all that begin in the first bytes, and a few if they are long."""
    head = stream.read(HEAD_BYTES)
    wide_letters = head.startswith((b"\xff\xfe", b"\xfe\xff")) or encoding.lower().startswith(("utf-16", "utf16"))
    if b"\0" in head[:4096] and not wide_letters:
        remedy = "restore it, or pass --encoding utf-16-le if it is text of Windows"
        raise TableError(f"is not a text file (it holds zero bytes); {remedy}.")
    complete = len(head) < HEAD_BYTES
    while not complete and head.count(b"\n") < MIN_HEAD_LINES:
        more = stream.read(max(HEAD_BYTES, len(head)))
        head, complete = head + more, not more
        if len(head) > MAX_HEAD_BYTES:
            raise TableError(f"has no {MIN_HEAD_LINES} lines in its first {MAX_HEAD_BYTES} bytes, so it is no table.")
    end = head.rfind(b"\n")
    return head if end < 0 or complete or wide_letters else head[: end + 1]


def _parsed(layout: Layout, path: Path, request: Request, progress: Progress) -> tuple[Layout, Any]:
    """Return a table of text, and the layout with the encoding that it was read with."""
    try:
        return layout, _cells(layout, path, request, progress)
    except UnicodeDecodeError as error:
        fault = f"is not text in the encoding {layout.encoding}"
        raise TableError(f"{fault}; pass --encoding, such as shift_jis, gb18030 or cp1251.") from error
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error) or request.encoding or not layout.encoding.startswith("utf-8"):
            raise _misshapen(str(error)) from error
    layout = layout._replace(encoding="cp1252", findings=(*layout.findings, WINDOWS))
    return _parsed(layout, path, request, progress)


def _cells(layout: Layout, path: Path, request: Request, progress: Progress) -> Any:
    """Return the cells of a file as text, by columns that are named by their position, since names may repeat."""
    width = len(layout.names) + layout.trailing
    names = [str(place) for place in range(width)]
    encoding = "utf-8" if request.comment or layout.runs else layout.encoding.removesuffix("-sig")
    size = max(BLOCK_BYTES, min(2**30, 2**12 * width))
    # Of a file of one block, threads have nothing to share, and one that still runs at the end would abort the program.
    places: dict[str, Any] = {"block_size": size, "use_threads": path.stat().st_size > size}
    options = arrow_csv.ReadOptions(**places, skip_rows=layout.skipped, column_names=names, encoding=encoding)
    parse = arrow_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True)
    convert = arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    with _table_stream(path, request, layout, progress) as stream:
        table = arrow_csv.read_csv(stream, options, parse, convert)
    for cell in (column[-1].as_py() for column in table.columns):
        if any(width > 1 and line.count(layout.delimiter) == width - 1 for line in cell.splitlines()[1:]):
            fault = f"the quotation mark before {cell.splitlines()[0][:40]!r} is never closed"
            raise TableError(f"{fault}, so that all rows after it are one cell; close it, or remove it.")
    return table.select(names[: len(layout.names)])


@contextmanager
def _table_stream(path: Path, request: Request, layout: Layout, progress: Progress) -> Iterator[IO[bytes]]:
    """Open a file as Arrow can split it: without comments, and with one mark between cells."""
    with opened(path, progress, request.key) as stream:
        if not (request.comment or layout.runs):
            yield stream
            return
        lines = without_comments(stream.read().decode(layout.encoding), request.comment)
        if layout.runs:
            lines = [layout.delimiter.join(line.split()) for line in lines]
        yield io.BytesIO("\n".join(lines).encode())


def _misshapen(message: str) -> TableError:
    """Return what to say of a file that Arrow cannot split into cells."""
    if not (ragged := RAGGED.search(message)):
        return TableError(f"cannot be read as a text table ({message.splitlines()[0].rstrip('.')}).")
    width, found, line = ragged.groups()
    shown = line.splitlines()[0][:40] if line.strip() else ""
    fault = f"the line {shown!r} has {counted(int(found), 'cell')}, but the first line of the table has {width}"
    return TableError(f"{fault}; every line must have as many, or pass --comment if it is a comment.")


def _frame(table: Any, roles: Roles, layout: Layout, request: Request) -> Frame:
    """Part columns of text into plain numbers and everything else."""
    mark, missing = layout.decimal, request.missing_words
    parsed = {place: plain_numbers(table.column(place), mark, missing) for place in roles.features}
    numbers = {place: values for place, values in parsed.items() if values is not None}
    others = {i: table.column(i).combine_chunks() for i in sorted({*roles.sides, *roles.features} - set(numbers))}
    marked = {place: table.column(place) for place in numbers if has_mark(table.column(place), mark)}
    frame = Frame(roles, np.empty((table.num_rows, 0)), [], others, decimals=layout.decimals)
    # The decimal mark of plain numbers may be a thousands mark, so that every feature must be examined: if text shows
    # the other mark, or if no comma parts the cells and no number shows the mark beyond doubt.
    asked = request.asked_decimal
    doubtful = marked and not asked and OTHER_MARK[mark] in frame.marks_of_text(missing)
    if marked and not (asked or doubtful or layout.delimiter == "," or layout.decimals):
        doubtful = mark not in marks_of_features(column.combine_chunks() for column in marked.values())
    if doubtful:
        others |= {place: column.combine_chunks() for place, column in marked.items()}
        numbers = {place: values for place, values in numbers.items() if place not in marked}
    elif marked:
        frame = frame._replace(decimals=layout.decimals or frozenset(mark))
    del table, parsed, marked  # The text of plain numbers is not needed any more.
    return frame._replace(matrix=np.stack([*numbers.values()], axis=1), plain=[*numbers]) if numbers else frame


def _wide_frame(layout: Layout, roles: Roles, path: Path, request: Request, progress: Progress) -> Frame | None:
    """Read a plain table of very many columns row by row; None if it holds something that must be read otherwise."""
    text = sorted({*layout.text, *roles.sides})
    plain = [place for place in roles.features if place not in set(text)]
    with _table_stream(path, request, layout, progress) as stream:
        lines = b"".join(iter(lambda: stream.read(BLOCK_BYTES), b"")).split(b"\n")[layout.skipped :]
    width, rows, words = len(layout.names) + layout.trailing, [], []
    try:
        for line in filter(bytes.strip, lines):
            cells = line.rstrip(b"\r").split(layout.delimiter.encode())
            if len(cells) != width or b'"' in line or layout.encoding == "utf-16":
                return None
            words.append([cells[place].decode(layout.encoding) for place in text])
            for place in text:
                cells[place] = b""
            rows.append(_parsed_row(b"\n".join(cells) + b"\n", layout.decimal, request)[plain])
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    if not words or any(TOTAL.fullmatch(cell) for row in (words[0], words[-1]) for cell in row):
        return None
    columns = zip(text, zip(*words, strict=True), strict=True)
    frame = Frame(roles, np.array(rows), plain, {place: pa.array(column, pa.string()) for place, column in columns})
    sure = request.asked_decimal or layout.decimals == {layout.decimal}
    return frame._replace(decimals=layout.decimals) if sure or layout.delimiter == "," else None


def _parsed_row(cells: bytes, mark: str, request: Request) -> NDArray[Any]:
    """Parse cells that stand one a line; no letter parts or quotes them."""
    options = arrow_csv.ReadOptions(column_names=["cell"], use_threads=False, block_size=len(cells) + 1)
    parse = arrow_csv.ParseOptions(delimiter="\x1f", quote_char=False, ignore_empty_lines=False)
    kinds = {"cell": pa.float64()}
    convert = arrow_csv.ConvertOptions(column_types=kinds, null_values=request.missing_words, decimal_point=mark)
    return np.asarray(arrow_csv.read_csv(pa.BufferReader(cells), options, parse, convert).column(0).to_numpy())
