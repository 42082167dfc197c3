"""How a text table is written: encoding, lines before the header, delimiter, header and decimal mark, from its head."""

import csv
import re
from collections import Counter
from dataclasses import dataclass

from tamis.io.errors import TableError
from tamis.io.readers.kinds import MISSING
from tamis.io.readers.report import ASSUMED, Finding, counted, listed
from tamis.io.readers.table import Request

DELIMITERS = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar", " ": "a space"}
HEAD_LINES = 50
HEAD_CELLS = 600_000
"""So many cells of the head are examined; of a wide table those are fewer lines."""

UNIT = re.compile(r"^[^\d$€£¥₹(+,.'-][^,;]*$")
"""A cell of a row of units begins with no digit, sign or currency."""

PADDED = re.compile(r"^\s*0\d+\s*$")
"""Digits behind a zero, as in codes: 01099 is a place, not a number."""

EXPONENT = r"(?:[eE][+-]?\d+)?$"
OPEN_MARK = re.compile(r"^[+-]?[1-9]\d{0,2}[.,]\d{3}$")
CLEAR_MARKS = {
    ",": re.compile(r"^[+-]?(?:\d*,\d+|\d+,|\d{1,3}(?:\.\d{3})+,\d*)" + EXPONENT),
    ".": re.compile(r"^[+-]?(?:\d*\.\d+|\d+\.|\d{1,3}(?:,\d{3})+\.\d*)" + EXPONENT),
}


@dataclass(frozen=True)
class Layout:
    """What the first lines of a text file tell about it."""

    delimiter: str
    decimal: str
    encoding: str
    names: list[str]  # as the file has them: they may repeat or be empty
    skipped: int  # lines before the first row of the table, the header and a row of units among them
    text: list[int]  # columns with a cell that is no plain number
    decimals: frozenset[str]  # decimal marks that some cells show beyond doubt
    runs: bool  # whether cells are parted by any number of spaces
    multiline: bool  # whether cells hold line breaks between quotation marks
    trailing: bool  # whether every row ends with a delimiter
    findings: tuple[Finding, ...]


def find_layout(head: bytes, request: Request) -> Layout:
    """Find how a text table is written from its first lines, which must be complete, and from what the user says."""
    encoding, findings = find_encoding(head, request.encoding)
    numbered = _lines(head.decode(encoding, "replace"), request)
    lines = [text for _, text in numbered]
    delimiter, runs = _find_delimiter(lines, request.delimiter)
    if request.skip_rows is None and (start := _lines_before_table(lines, delimiter, runs)):
        text = f"{counted(start, 'line')} before the header passed over, the first being {lines[0].strip()[:40]!r}"
        findings.append(Finding(ASSUMED, text, "--skip-rows"))
        numbered, lines = numbered[start:], lines[start:]
    cells, trailing = _without_trailing(_split(lines, delimiter, runs))
    if len(cells) > 1 and len(cells[1]) == len(cells[0]) + 1:
        cells[0] = ["", *cells[0]]  # R leaves out the heading of the row names.
    _check_widths(cells, numbered, delimiter, request)
    shown = _decimals_in(cells[1:])
    decimal = "," if delimiter != "," and (asked_decimal(request) or "".join(shown)) == "," else "."
    header = has_header(cells, decimal) if request.header is None else request.header
    body = cells[header:]
    units = header and _is_units_row(body, decimal)
    if not body[units:]:
        raise TableError("has a header, but no rows.")
    names = [name.strip() if header else f"feature_{i}" for i, name in enumerate(cells[0])]
    names[0] = names[0].lstrip("# ") if header else names[0]
    findings += _layout_findings(delimiter, decimal, header, units, trailing, request, cells)
    skipped = numbered[header + units][0] if header + units < len(numbered) else 0
    text_columns = _text_columns(body[units:], decimal, shown, delimiter, request)
    multiline = any("\n" in line for line in lines)
    return Layout(
        delimiter, decimal, encoding, names, skipped, text_columns, frozenset(shown), runs, multiline, trailing,
        tuple(findings),
    )  # fmt: skip


def find_encoding(head: bytes, asked: str | None) -> tuple[str, list[Finding]]:
    """Return the encoding of a text file; text that is not Unicode is taken for the usual one of Windows."""
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
    except UnicodeDecodeError as error:
        # The end of the head may cut a letter in two, which is no fault of the file.
        if error.start < len(head) - 4:
            return windows_encoding(head)
    return ("utf-8-sig" if head.startswith(b"\xef\xbb\xbf") else "utf-8"), []


def windows_encoding(head: bytes) -> tuple[str, list[Finding]]:
    """Return the encoding of a text that is not Unicode."""
    try:
        head.decode("cp1252")
        found = "cp1252"
    except UnicodeDecodeError:
        found = "latin-1"
    return found, [Finding(ASSUMED, f"the text is not UTF-8 and was read as {found}", "--encoding")]


def asked_decimal(request: Request) -> str | None:
    """Return the decimal mark that the user named, or that follows from the thousands mark."""
    return request.decimal or {",": ".", ".": ","}.get(request.thousands or "")


def _lines(text: str, request: Request) -> list[tuple[int, str]]:
    """Return the lines that are not empty or comments, each with its number from 0."""
    every = re.split(r"\r\n|\n|\r", text)
    if request.comment:
        every = [line for line in every if not line.startswith(request.comment)]
    lines = [(n, line) for n, line in _joined(every) if line.strip() and n >= (request.skip_rows or 0)]
    if not lines:
        raise TableError("holds no lines.")
    room = max(3, HEAD_CELLS // (1 + max(lines[-1][1].count(mark) for mark in DELIMITERS)))
    comments = next((i for i, (_, line) in enumerate(lines) if not line.startswith("#")), 0)
    return lines[: min(room, HEAD_LINES + comments)]


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


def _split(lines: list[str], delimiter: str, runs: bool = False) -> list[list[str]]:
    """Split lines into cells; a cell between quotation marks may hold delimiters and line breaks."""
    if runs:
        return [line.split() for line in lines]
    csv.field_size_limit(2**31 - 1)
    try:
        return list(csv.reader([line + "\n" for line in lines], delimiter=delimiter))
    except csv.Error as error:
        raise TableError(f"cannot be split at the delimiter {delimiter!r} ({error}).") from error


def _find_delimiter(lines: list[str], asked: str | None) -> tuple[str, bool]:
    """Return the mark that splits most lines into the same number of cells, and whether it comes in runs.

    Lines at the beginning may be titles, so that the last ones decide.
    """
    if asked is not None:
        return asked, False
    tail = [line for line in lines[len(lines) // 2 :] if not line.startswith("#")] or lines[-1:]
    sizes = {mark: _widths(tail, mark) for mark in DELIMITERS}
    even = {mark: counts[-1] for mark, counts in sizes.items() if counts[-1] > 1 and len(set(counts)) == 1}
    words = {len(line.split()) for line in tail}
    if not set(even) - {" "} and len(words) == 1 and words != {1} and any(re.search("  |\t", line) for line in tail):
        return " ", True
    if not even:
        return max(",\t;|", key=lambda mark: sum(line.count(mark) for line in tail)), False
    first = next((line for line in lines if not line.startswith("#")), lines[0])
    missing = {mark: even[mark] - _widths([first], mark)[0] for mark in even}
    order = {mark: (missing[mark] == 0, missing[mark] == 1, _share_of_numbers(tail, mark), even[mark]) for mark in even}
    return max(order, key=order.__getitem__), False


def _widths(lines: list[str], mark: str) -> list[int]:
    """Return the number of cells of every line; none if quotation marks do not fit the delimiter."""
    try:
        return [len(row) for row in _split(lines, mark)]
    except TableError:
        return [0]


def _share_of_numbers(lines: list[str], mark: str, limit: int = 1000) -> float:
    """Return the share of cells that are numbers with either decimal mark: a wrong delimiter cuts them in two."""
    cells = [cell for row in _split(lines[:20], mark) for cell in row[:limit]]
    return sum(is_number(cell, ".") or is_number(cell, ",") for cell in cells) / len(cells)


def _lines_before_table(lines: list[str], delimiter: str, runs: bool) -> int:
    """Return how many lines come before the header: comments, and titles with fewer cells than the table has.

    A title is passed over only if a header follows it, or if it is one single cell: else the header itself is
    defective, and the user must see to it.
    """
    widths = [len(_split([line], delimiter, runs)[0]) for line in lines]
    usual = Counter(widths[len(widths) // 2 :]).most_common(1)[0][0]
    start, last = 0, len(lines) - 1
    while start < last and lines[start].startswith("#"):
        if usual > 1 and widths[start] == usual and not lines[start + 1].startswith("#"):
            break  # A line that begins with # is the header in files of genome tools.
        start += 1
    titled = start
    while titled < last and widths[titled] < usual - 1:
        titled += 1
    if titled in (start, last) or widths[titled] not in (usual, usual - 1):
        return start
    single = all(width == 1 for width in widths[start:titled])
    return titled if single or has_header(_split(lines[titled:], delimiter, runs), ".") else start


def is_number(cell: str, decimal: str) -> bool:
    """Return whether Arrow reads a cell as a number or a missing one."""
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
    """Return whether the first line names the features.

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


def _without_trailing(cells: list[list[str]]) -> tuple[list[list[str]], bool]:
    """Take off the empty last cell that a delimiter at the end of every row makes."""
    header, body = cells[0], cells[1:]
    width = max((len(row) for row in body), default=0)
    if width < 2 or any(len(row) != width or row[-1].strip() for row in body):
        return cells, False
    if len(header) == width and not header[-1].strip():
        return [row[:-1] for row in cells], True
    if len(header) == width - 1 and header[0].strip():
        return [header, *(row[:-1] for row in body)], True
    return cells, False


def _check_widths(cells: list[list[str]], numbered: list[tuple[int, str]], delimiter: str, request: Request) -> None:
    width = len(cells[0])
    for row, (number, _) in zip(cells, numbered, strict=False):
        if len(row) != width:
            raise TableError(
                f"line {number + 1} has {counted(len(row), 'cell')}, but the first line of the table has {width} (the "
                f"delimiter is {DELIMITERS.get(delimiter, repr(delimiter))}); every line must have as many, or "
                "pass --delimiter, --skip-rows or --comment."
            )
    if width == 1 and request.delimiter is not None and any(mark in cells[-1][0] for mark in ",;\t|"):
        raise TableError(f"has one feature only with the delimiter {delimiter!r}; pass another with --delimiter.")


def _decimals_in(rows: list[list[str]]) -> set[str]:
    """Return the decimal marks that some cells show beyond doubt."""
    found: set[str] = set()
    for cell in (cell.strip() for row in rows for cell in row):
        for mark, pattern in CLEAR_MARKS.items():
            if mark in cell and mark not in found and pattern.match(cell) and not OPEN_MARK.match(cell):
                found.add(mark)
    return found


def _is_units_row(body: list[list[str]], decimal: str) -> bool:
    """Return whether a row of units, such as kg or °C, stands between the header and the numbers."""
    if len(body) < 3 or all(is_number(cell, decimal) for cell in body[0]):
        return False
    columns = zip(*body, strict=True)
    units = [c[0].strip() for c in columns if any(map(str.strip, c[1:])) and all(is_number(x, decimal) for x in c[1:])]
    return any(units) and all(not unit or UNIT.match(unit) for unit in units)


def _text_columns(body: list[list[str]], decimal: str, shown: set[str], delimiter: str, request: Request) -> list[int]:
    """Return the columns that are read as text: words, and numbers whose marks have to be found out."""
    if asked_decimal(request) == "," and delimiter == ",":
        return list(range(len(body[0])))  # Arrow would read 1.5 as a number, which it is not then.
    open_marks = delimiter != "," and not shown and asked_decimal(request) is None
    return [
        place
        for place, column in enumerate(zip(*body, strict=True))
        if not all(is_number(cell, decimal) for cell in column)
        or any(cell.lstrip()[:1] == "0" and PADDED.match(cell) for cell in column)
        or (open_marks and any(OPEN_MARK.match(cell.strip()) for cell in column))
    ]


def _layout_findings(
    delimiter: str, decimal: str, header: bool, units: bool, trailing: bool, request: Request, cells: list[list[str]]
) -> list[Finding]:
    """Return what was assumed of the layout, where a reader of the file might think otherwise."""
    body = cells[header:]
    commas = (cell.strip() for row in body for cell in row if CLEAR_MARKS[","].match(cell.strip()))
    example = next((cell for cell in commas if is_number(cell, ",")), "1,5") if decimal == "," else ""
    number_above = header and any(cell.strip() and is_number(cell, ".") for cell in cells[0])
    assumed = (
        (delimiter not in ",\t", f"cells are parted by {DELIMITERS.get(delimiter)}", "--delimiter", request.delimiter),
        (decimal == ",", f"the decimal mark is a comma, as in {example!r}", "--decimal .", asked_decimal(request)),
        (not header, "the first line holds numbers, so that there is no header", "--header", request.header),
        (units, f"the line below the header holds units ({listed(body[0])}) and was passed over", "", None),
        (trailing, "the delimiter at the end of every line stands for nothing", "", None),
        (number_above, "the first line is the header, though it holds a number", "--no-header", request.header),
    )
    return [Finding(ASSUMED, text, option) for holds, text, option, asked in assumed if holds and asked is None]
