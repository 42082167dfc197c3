"""Tables as text: the head tells the layout, Arrow reads the numbers block by block, and what is left stays text."""

import io
import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from tamis.io.errors import TableError
from tamis.io.memory import check_room
from tamis.io.readers.compression import opened
from tamis.io.readers.frame import Frame, decimals_of_text, table_of
from tamis.io.readers.kinds import MISSING
from tamis.io.readers.layout import Layout, asked_decimal, find_layout
from tamis.io.readers.lines import windows_encoding
from tamis.io.readers.numbers import plain_number
from tamis.io.readers.report import ASSUMED, Finding, counted
from tamis.io.readers.roles import Roles, assign_roles
from tamis.io.readers.table import Progress, Request, Table, unheard

HEAD_BYTES = 2**18
HEAD_MIN_LINES = 5
LONGEST_HEAD = 2**26
BLOCK_BYTES = 2**24
WIDE = 4000
"""From so many features on, rows are read as one long column, since Arrow spends some time on each column."""

RAGGED = re.compile(r"Expected (\d+) columns, got (\d+): (.*)", re.S)


@dataclass(frozen=True)
class Plan:
    """How the columns of a text file are read: as numbers, as text, or not at all."""

    layout: Layout
    roles: Roles
    numbers: list[int]
    text: list[int]
    missing: tuple[str, ...]


class NotPlainError(ValueError):
    """A column that looked like numbers holds something else further down."""


Blocks = Iterator[tuple[np.ndarray, dict[int, Any]]]
"""Parts of a table: the numbers of some rows, and their text by column."""


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Read a text table."""
    return table_of(read_frame(path, request, progress), request)


def read_frame(path: Path, request: Request, progress: Progress) -> Frame:
    """Read the columns that have a role; those that turn out not to be numbers are read again as text."""
    with opened(path, unheard, request.key) as stream:
        layout = find_layout(_head(stream), request)
    for attempt in range(4):
        plan = _plan(layout, request)
        try:
            frame = _frame(plan, path, request, progress)
            doubtful = _doubtful(frame, layout, request)
            if not doubtful:
                return frame
            layout = replace(layout, text=sorted({*layout.text, *doubtful}))
        except NotPlainError:
            layout = replace(layout, text=sorted({*layout.text, *_not_plain(plan, path, request)}))
        except TableError as error:
            better = _mended(layout, path, request, error)
            if better is None or attempt == 3:
                raise
            layout = better
    raise TableError("cannot be read as a text table.")


def _plan(layout: Layout, request: Request) -> Plan:
    roles = assign_roles(layout.names, request, first_is_text=0 in layout.text)
    words = {*layout.text, *roles.sides}
    numbers = [place for place in roles.features if place not in words]
    text = sorted({*roles.sides, *(place for place in roles.features if place in words)})
    return Plan(layout, roles, sorted(numbers), text, (*MISSING, *request.na_values))


def _frame(plan: Plan, path: Path, request: Request, progress: Progress) -> Frame:
    from tamis.io.readers.wide import wide_blocks

    blocks: list[np.ndarray] = []
    texts: dict[int, list[Any]] = {place: [] for place in plan.text}
    reader: Callable[[IO[bytes], Plan], Blocks] = wide_blocks if _is_wide(plan.layout) else _blocks
    with _table_stream(path, request, plan.layout, progress) as stream:
        for numbers, words in reader(stream, plan):
            blocks.append(numbers)
            # Blocks are put together at the end, so that there are two of each for a moment.
            check_room(2 * sum(block.nbytes for block in blocks), inf, "the table")
            for place, cells in words.items():
                texts[place].append(cells)
    if not sum(len(block) for block in blocks):
        raise TableError("has a header, but no rows.")
    matrix = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    others = {place: pa.chunked_array(parts, pa.string()).combine_chunks() for place, parts in texts.items()}
    findings = (*plan.layout.findings, *plan.roles.findings)
    return Frame(plan.roles, matrix, plan.numbers, others, findings, _decimals(plan.layout, matrix))


def _doubtful(frame: Frame, layout: Layout, request: Request) -> list[int]:
    """Return plain columns with fractions whose point might part thousands, so that their cells must be looked at.

    So it is if no comma parts the cells and no number of the head tells, or if other columns have decimal commas.
    """
    if asked_decimal(request) or layout.decimal == ",":
        return []
    open_marks = layout.delimiter != "," and not layout.decimals
    if not open_marks and "," not in decimals_of_text(frame, request):
        return []
    with np.errstate(invalid="ignore"):
        fractions = ((frame.matrix % 1 != 0) & np.isfinite(frame.matrix)).any(axis=0)
    return [place for place, found in zip(frame.plain, fractions, strict=True) if found]


def _is_wide(layout: Layout) -> bool:
    return layout.width >= WIDE and not (layout.multiline or layout.encoding.startswith("utf-16"))


def _decimals(layout: Layout, matrix: np.ndarray) -> frozenset[str]:
    """Return the decimal marks that the numbers show: those of the head, else what the fractions were read with."""
    if layout.decimals or not matrix.size:
        return layout.decimals
    finite = matrix[np.isfinite(matrix)]
    return frozenset({layout.decimal}) if (finite % 1 != 0).any() else frozenset()


def _head(stream: IO[bytes]) -> bytes:
    """Read the first lines: all that begin in the first bytes, and a few if they are long."""
    head = stream.read(HEAD_BYTES) or b""
    if b"\0" in head[:4096] and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableError("is not a text file (it holds zero bytes).")
    complete = len(head) < HEAD_BYTES
    while not complete and head.count(b"\n") < HEAD_MIN_LINES:
        more = stream.read(max(HEAD_BYTES, len(head)))
        head, complete = head + more, not more
        if len(head) > LONGEST_HEAD:
            raise TableError(
                f"has no {HEAD_MIN_LINES} lines in its first {LONGEST_HEAD} bytes, so that it is no table."
            )
    end = head.rfind(b"\n")
    return head if end < 0 or complete or head.startswith((b"\xff\xfe", b"\xfe\xff")) else head[: end + 1]


@contextmanager
def _table_stream(path: Path, request: Request, layout: Layout, progress: Progress) -> Iterator[IO[bytes]]:
    """Open a file as Arrow can split it: without comments, and with one mark between cells."""
    with opened(path, progress, request.key) as stream:
        if request.comment or layout.runs:
            yield _Rewritten(stream, layout, request.comment)  # type: ignore[misc]
        else:
            yield stream


class _Rewritten(io.RawIOBase):
    """A text file of which every line is rewritten while it is read."""

    def __init__(self, stream: IO[bytes], layout: Layout, comment: str | None):
        self.stream, self.decoder, self.rest = stream, getincrementaldecoder(layout.encoding)(), ""
        self.comment, self.runs, self.delimiter = comment, layout.runs, layout.delimiter

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:  # noqa: ARG002 (whole lines are given, however many are asked for)
        while block := self.stream.read(BLOCK_BYTES):
            lines = (self.rest + self.decoder.decode(block)).split("\n")
            self.rest = lines.pop()
            if kept := self._rewritten(lines):
                return kept
        last, self.rest = self.rest, ""
        return self._rewritten([last]) if last else b""

    def _rewritten(self, lines: list[str]) -> bytes:
        kept = [line for line in lines if not (self.comment and line.startswith(self.comment))]
        if self.runs:
            kept = [self.delimiter.join(line.split()) for line in kept]
        return "".join(line + "\n" for line in kept).encode()


def _blocks(stream: IO[bytes], plan: Plan) -> Blocks:
    """Let Arrow parse; columns are named by their position, since names in the file may repeat."""
    names, sides = [str(place) for place in plan.numbers], [str(place) for place in plan.text]
    for batch in _batches(stream, plan, plan.numbers, plan.text):
        words = {int(name): batch.column(name) for name in sides}
        numbers = np.empty((batch.num_rows, 0))
        if names:
            numbers = batch.select(names).to_tensor(null_to_nan=True, row_major=True).to_numpy()
        yield numbers, words


def _batches(stream: IO[bytes], plan: Plan, numbers: list[int], text: list[int]) -> Iterator[Any]:
    layout = plan.layout
    wanted = {str(place): pa.float64() for place in numbers} | {str(place): pa.string() for place in text}
    rewritten = isinstance(stream, _Rewritten)
    try:
        yield from arrow_csv.open_csv(
            stream,
            arrow_csv.ReadOptions(
                block_size=max(BLOCK_BYTES, 8 * layout.longest_line),
                skip_rows=layout.skipped,
                column_names=[str(place) for place in range(layout.width)],
                encoding="utf-8" if rewritten else layout.encoding.removesuffix("-sig"),
            ),
            arrow_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=layout.multiline),
            arrow_csv.ConvertOptions(
                column_types=wanted,
                include_columns=list(wanted),
                null_values=list(plan.missing),
                decimal_point=layout.decimal,
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        message = str(error)
        if "conversion error" in message and "UTF8" not in message:
            raise NotPlainError(message) from error
        raise TableError(_reworded(message)) from error


def _not_plain(plan: Plan, path: Path, request: Request) -> set[int]:
    """Go over the file as text, and return the columns that hold something else than numbers."""
    from tamis.io.readers.wide import wide_strangers

    pattern, missing = plain_number(plan.layout.decimal), pa.array(list(plan.missing))
    found: set[int] = set()
    with _table_stream(path, request, plan.layout, unheard) as stream:
        if _is_wide(plan.layout):
            return wide_strangers(stream, plan, pattern)
        for batch in _batches(stream, plan, [], plan.numbers):
            for place in plan.numbers:
                cells = batch.column(str(place))
                plain = pc.or_(pc.match_substring_regex(cells, pattern), pc.is_in(cells, value_set=missing))
                if place not in found and not pc.all(plain).as_py():
                    found.add(place)
    if not found:
        raise TableError("holds numbers that cannot be read.")
    return found


def _mended(layout: Layout, path: Path, request: Request, error: TableError) -> Layout | None:
    """Return a layout with which a file may be read after all, or None: other letters, or line breaks in cells."""
    message = str(error.__cause__ or "")
    if "UTF8" in message and request.encoding is None and not layout.encoding.startswith("cp"):
        with opened(path, unheard, request.key) as stream:
            encoding, findings = windows_encoding(stream.read(2**26))
        return replace(layout, encoding=encoding, findings=(*layout.findings, *findings))
    if RAGGED.search(message) and not layout.multiline and '"' in message:
        finding = Finding(ASSUMED, "line breaks between quotation marks belong to the cells")
        return replace(layout, multiline=True, findings=(*layout.findings, finding))
    return None


def _reworded(message: str) -> str:
    if "Empty CSV file" in message:
        return "has a header, but no rows."
    if ragged := RAGGED.search(message):
        width, found, line = ragged.groups()
        shown = line.splitlines()[0][:40] if line.strip() else ""
        return (
            f"the line {shown!r} has {counted(int(found), 'cell')}, but the first line of the table has {width}; every "
            "line must have as many, or pass --comment if it is a comment."
        )
    return f"cannot be read as a text table ({message.splitlines()[0].rstrip('.')})."
