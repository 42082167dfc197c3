"""Lines and cells of a text table: encoding, delimiter, and what comes before the header."""

import csv
import re
from collections import Counter

from tamis.io.errors import TableError
from tamis.io.readers.kinds import MISSING
from tamis.io.readers.report import ASSUMED, Finding
from tamis.io.readers.table import Request

DELIMITERS = ",\t;| "
HEAD_LINES = 50
HEAD_CELLS = 600_000
"""So many cells of the head are looked at; a wide table gives fewer lines."""


def find_encoding(head: bytes, asked: str | None) -> tuple[str, list[Finding]]:
    """Return the encoding of a text file; what is not Unicode is taken for the usual one of Windows."""
    if asked:
        try:
            "".encode(asked)
        except LookupError as error:
            raise TableError(f"--encoding {asked} is not a known encoding; try utf-8, latin-1 or cp1252.") from error
        return asked, []
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16", []
    try:
        head.decode("utf-8-sig")
        return ("utf-8-sig" if head.startswith(b"\xef\xbb\xbf") else "utf-8"), []
    except UnicodeDecodeError as error:
        # The end of the head may cut a letter in two, which is no fault of the file.
        if error.start >= len(head) - 4:
            return "utf-8", []
    return windows_encoding(head)


def windows_encoding(head: bytes) -> tuple[str, list[Finding]]:
    """Return the encoding of a text that is not Unicode."""
    try:
        head.decode("cp1252")
        found = "cp1252"
    except UnicodeDecodeError:
        found = "latin-1"
    return found, [Finding(ASSUMED, f"the text is not UTF-8 and was read as {found}", "--encoding")]


def head_lines(text: str, request: Request) -> list[tuple[int, str]]:
    """Return the lines that are not empty or comments, each with its number from 0."""
    every = re.split(r"\r\n|\n|\r", text)
    if request.comment:
        every = [line for line in every if not line.startswith(request.comment)]
    lines = [(n, line) for n, line in _joined(every) if line.strip() and n >= (request.skip_rows or 0)]
    if not lines:
        raise TableError("holds no lines.")
    room = max(3, HEAD_CELLS // (1 + max(lines[-1][1].count(mark) for mark in DELIMITERS)))
    return lines[: min(room, HEAD_LINES + _comments(lines))]


def _joined(lines: list[str], limit: int = 20) -> list[tuple[int, str]]:
    """Join lines that a cell between quotation marks goes over, each with the number of its first line."""
    found, place = [], 0
    while place < len(lines):
        stop = place + 1
        if lines[place].count('"') % 2:
            ends = (n for n in range(place + 1, min(len(lines), place + limit)) if lines[n].count('"') % 2)
            stop = next(ends, place) + 1
        found.append((place, "\n".join(lines[place:stop])))
        place = stop
    return found


def _comments(lines: list[tuple[int, str]]) -> int:
    return next((i for i, (_, line) in enumerate(lines) if not line.startswith("#")), 0)


def split_lines(lines: list[str], delimiter: str, runs: bool) -> list[list[str]]:
    """Split lines into cells; a cell between quotation marks may hold delimiters and line breaks."""
    if runs:
        return [line.split() for line in lines]
    try:
        return list(csv.reader([line + "\n" for line in lines], delimiter=delimiter))
    except csv.Error as error:
        raise TableError(f"cannot be split at the delimiter {delimiter!r} ({error}).") from error


def find_delimiter(lines: list[str], asked: str | None) -> tuple[str, bool]:
    """Return the mark that splits most lines into the same number of cells, the most of them, and if it comes in runs.

    Lines at the beginning may be titles, so that the last ones decide.
    """
    if asked is not None:
        return asked, False
    csv.field_size_limit(2**31 - 1)
    tail = [line for line in lines[len(lines) // 2 :] if not line.startswith("#")] or lines[-1:]
    sizes = {mark: _widths(tail, mark) for mark in DELIMITERS}
    even = {mark: counts[-1] for mark, counts in sizes.items() if counts[-1] > 1 and len(set(counts)) == 1}
    words = {len(line.split()) for line in tail}
    solid = {mark: count for mark, count in even.items() if mark != " "}
    if not solid and len(words) == 1 and words != {1} and any("  " in line or "\t" in line for line in tail):
        return " ", True
    if even:
        first = [row for row in lines if not row.startswith("#")] or lines
        widths = {mark: len(split_lines(first[:1], mark, False)[0]) for mark in even}
        fits = {mark: (widths[mark] == even[mark], widths[mark] == even[mark] - 1) for mark in even}
        return max(even, key=lambda mark: (*fits[mark], _share_of_numbers(tail, mark), even[mark])), False
    return max(",\t;|", key=lambda mark: sum(line.count(mark) for line in tail)), False


def _widths(lines: list[str], mark: str) -> list[int]:
    """Return the number of cells of every line; none if quotation marks do not fit the delimiter."""
    try:
        return [len(row) for row in split_lines(lines, mark, False)]
    except TableError:
        return [0]


def _share_of_numbers(lines: list[str], mark: str, limit: int = 1000) -> float:
    """Return the share of cells that are numbers with either decimal mark: a wrong delimiter cuts them in two."""
    cells = [cell for row in split_lines(lines[:20], mark, False) for cell in row[:limit]]
    return sum(is_number(cell, ".") or is_number(cell, ",") for cell in cells) / len(cells)


def first_line_of_table(lines: list[str], delimiter: str, runs: bool) -> int:
    """Return how many lines come before the header: comments, and titles with fewer cells than the table has.

    A title is passed over only if a header follows it, or if it is one single cell: else the header itself is
    defective, and the user must see to it.
    """
    widths = [len(split_lines([line], delimiter, runs)[0]) for line in lines]
    usual = Counter(widths[len(widths) // 2 :]).most_common(1)[0][0]
    start = 0
    while start < len(lines) - 1 and lines[start].startswith("#") and not _is_header(start, lines, widths, usual):
        start += 1
    titled = start
    while titled < len(lines) - 1 and widths[titled] < usual - 1:
        titled += 1
    if titled == start or titled >= len(lines) - 1:
        return start
    header = split_lines(lines[titled : titled + 1], delimiter, runs)[0]
    single = all(width == 1 for width in widths[start:titled])
    is_header = has_header([header, *split_lines(lines[titled + 1 :], delimiter, runs)], ".")
    return titled if widths[titled] in (usual, usual - 1) and (single or is_header) else start


def _is_header(place: int, lines: list[str], widths: list[int], usual: int) -> bool:
    """Tell whether a line that begins with # is the header, as in files of genome tools."""
    return usual > 1 and widths[place] == usual and not lines[place + 1].startswith("#")


def is_number(cell: str, decimal: str) -> bool:
    """Tell whether Arrow reads a cell as a number or a missing one."""
    if decimal == ",":
        if "." in cell:
            return False
        cell = cell.replace(",", ".")
    try:
        float(cell)
    except ValueError:
        return cell.strip() in MISSING
    return "_" not in cell


def has_header(cells: list[list[str]], decimal: str) -> bool:
    """Tell whether the first line names the features.

    It does if it holds a word, and no number but years or 1, 2, 3. Other whole numbers may be names of samples: then
    the words decide, which are not names if they occur again below.
    """
    first, below = cells[0], cells[1:]
    numbers = [cell.strip() for cell in first if cell.strip() and is_number(cell, decimal)]
    words = [(place, cell) for place, cell in enumerate(first) if not is_number(cell, decimal)]
    if not words or not below:
        return bool(words)
    if not all(number.isdigit() for number in numbers) or len(set(numbers)) < len(numbers):
        return False
    values = [int(number) for number in numbers]
    years = all(1500 <= value <= 2200 for value in values)
    counted = values == list(range(values[0], values[0] + len(values))) if values else True
    again = any(len(row) > place and row[place] == cell for place, cell in words for row in below)
    return (years or counted) if again and len(values) > 1 else not (again and values)
