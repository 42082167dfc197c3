"""Text tables with very many features: the cells of some rows are read as one long column of numbers.

Arrow spends microseconds on every column of every block, which is longer than it needs for the cells if there are
few rows and many features. Here a delimiter becomes a line break, so that there is one column, which is then folded.
"""

import csv
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from tamis.io.errors import TableError
from tamis.io.readers.report import counted

if TYPE_CHECKING:
    from tamis.io.readers.text import Plan

BLOCK_BYTES = 2**25


def wide_blocks(stream: IO[bytes], plan: "Plan") -> Iterator[tuple[np.ndarray, dict[int, Any]]]:
    """Yield the numbers of some rows, and their text by column."""
    from tamis.io.readers.text import NotPlainError

    blank = _blank(plan)
    columns = np.array(plan.numbers)
    for lines in _lines(stream, plan):
        cells, words = _cells(lines, plan, blank)
        try:
            values = _long_column(cells, plan, pa.float64())
        except pa.ArrowInvalid as error:
            raise NotPlainError(str(error)) from error
        table = values.to_numpy(zero_copy_only=False).reshape(len(lines), plan.layout.width)
        whole = len(columns) == plan.layout.width
        yield table if whole else np.ascontiguousarray(table[:, columns]), words


def wide_strangers(stream: IO[bytes], plan: "Plan", pattern: str) -> set[int]:
    """Return the columns that hold something else than numbers."""
    blank, missing = _blank(plan), pa.array(list(plan.missing))
    found: set[int] = set()
    for lines in _lines(stream, plan):
        cells = _long_column(_cells(lines, plan, blank)[0], plan, pa.string())
        plain = pc.or_(pc.match_substring_regex(cells, pattern), pc.is_in(cells, value_set=missing))
        strange = np.flatnonzero(~plain.to_numpy(zero_copy_only=False).astype(bool))
        found |= set((strange % plan.layout.width).tolist())
    return found & set(plan.numbers)


def _blank(plan: "Plan") -> list[int]:
    """Return the columns whose cells are emptied before the numbers are read."""
    numbers = set(plan.numbers)
    return [place for place in range(plan.layout.width) if place not in numbers]


def _lines(stream: IO[bytes], plan: "Plan") -> Iterator[list[bytes]]:
    """Yield the rows of some blocks, without those that come before the table."""
    rest, skip = b"", plan.layout.skipped
    while block := stream.read(BLOCK_BYTES):
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        passed, skip = lines[:skip], max(0, skip - len(lines))
        lines = [line.rstrip(b"\r") for line in lines[len(passed) :] if line.strip()]
        if lines:
            yield lines
    if rest.strip() and not skip:
        yield [rest.rstrip(b"\r")]


def _cells(lines: list[bytes], plan: "Plan", blank: list[int]) -> tuple[bytes, dict[int, Any]]:
    """Return all cells of some rows, one a line, and those of text columns, which are emptied."""
    mark, width = plan.layout.delimiter.encode(), plan.layout.width
    if not blank and not any(b'"' in line for line in lines):
        for line in lines:
            _check_width(line.count(mark) + 1, width, line)
        return b"\n".join(line.replace(mark, b"\n") for line in lines) + b"\n", {}
    words: dict[int, list[str]] = {place: [] for place in plan.text}
    rows = []
    for line in lines:
        cells = _split(line, plan)
        _check_width(len(cells), width, line)
        for place in plan.text:
            words[place].append(cells[place].decode(plan.layout.encoding.removesuffix("-sig"), "replace"))
        for place in blank:
            cells[place] = b""
        rows.append(b"\n".join(cells))
    return b"\n".join(rows) + b"\n", {place: pa.array(column, pa.string()) for place, column in words.items()}


def _split(line: bytes, plan: "Plan") -> list[bytes]:
    if b'"' not in line:
        return line.split(plan.layout.delimiter.encode())
    csv.field_size_limit(2**31 - 1)
    row = next(csv.reader([line.decode(plan.layout.encoding, "replace")], delimiter=plan.layout.delimiter))
    return [cell.encode(plan.layout.encoding.removesuffix("-sig"), "replace") for cell in row]


def _check_width(found: int, width: int, line: bytes) -> None:
    if found != width:
        raise TableError(
            f"the line {line[:40].decode('utf-8', 'replace')!r} has {counted(found, 'cell')}, but the first line of "
            f"the table has {width}; every line must have as many, or pass --comment if it is a comment."
        )


def _long_column(cells: bytes, plan: "Plan", kind: Any) -> Any:
    table = arrow_csv.read_csv(
        pa.BufferReader(cells),
        arrow_csv.ReadOptions(column_names=["cell"], use_threads=False, block_size=len(cells) + 1),
        # No letter parts cells or quotes them: every line is one.
        arrow_csv.ParseOptions(delimiter="\x1f", quote_char=False, ignore_empty_lines=False),
        arrow_csv.ConvertOptions(
            column_types={"cell": kind}, null_values=list(plan.missing), decimal_point=plan.layout.decimal,
            strings_can_be_null=False,
        ),
    )  # fmt: skip
    return table.column("cell").combine_chunks()
