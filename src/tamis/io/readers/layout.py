"""How a text table is written: encoding, lines before the header, delimiter, header and decimal mark, from its head."""

import re
from dataclasses import dataclass

from tamis.io.errors import TableError
from tamis.io.readers.lines import (
    find_delimiter,
    find_encoding,
    first_line_of_table,
    has_header,
    head_lines,
    is_number,
    split_lines,
)
from tamis.io.readers.report import ASSUMED, Finding, counted, listed
from tamis.io.readers.table import Request

NAMES_OF_MARKS = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar", " ": "a space"}

UNIT = re.compile(r"^[^\d$€£¥₹(+,.'-][^,;]*$")
"""What a cell of a row of units looks like: it begins with no digit, sign or currency."""

PADDED = re.compile(r"^\s*0\d+\s*$")
"""Digits behind a zero, as in codes: 01099 is a place, not a number."""

OPEN_MARK = re.compile(r"^[+-]?[1-9]\d{0,2}[.,]\d{3}$")
COMMA = re.compile(r"^[+-]?(?:\d*,\d+|\d+,|\d{1,3}(?:\.\d{3})+,\d*)(?:[eE][+-]?\d+)?$")
POINT = re.compile(r"^[+-]?(?:\d*\.\d+|\d+\.|\d{1,3}(?:,\d{3})+\.\d*)(?:[eE][+-]?\d+)?$")


@dataclass(frozen=True)
class Layout:
    """What the first lines of a text file tell about it.

    Attributes
    ----------
    delimiter, decimal, encoding : str
        Marks between and in cells, and how the bytes are read.
    names : list of str
        As the file has them: they may repeat or be empty.
    skipped : int
        Lines before the first row of the table, the header and a row of units among them.
    text : list of int
        Columns with a cell that is no plain number.
    decimals : frozenset of str
        Decimal marks that some cells show beyond doubt.
    longest_line : int
        In letters.
    runs : bool
        Whether cells are parted by any number of spaces.
    multiline : bool
        Whether cells hold line breaks between quotation marks.
    trailing : bool
        Whether every row ends with a delimiter after which nothing comes.
    findings : tuple of Finding
        What was assumed.
    """

    delimiter: str
    decimal: str
    encoding: str
    names: list[str]
    skipped: int
    text: list[int]
    decimals: frozenset[str]
    longest_line: int
    runs: bool = False
    multiline: bool = False
    trailing: bool = False
    findings: tuple[Finding, ...] = ()

    @property
    def width(self) -> int:
        """Number of cells in a row."""
        return len(self.names) + self.trailing


def find_layout(head: bytes, request: Request) -> Layout:
    """Find out how a text table is written.

    Parameters
    ----------
    head : bytes
        Its first lines, complete ones.
    request : Request
        What the user says of it goes before what the head shows.
    """
    encoding, findings = find_encoding(head, request.encoding)
    numbered = head_lines(head.decode(encoding, "replace"), request)
    delimiter, runs = find_delimiter([text for _, text in numbered], request.delimiter)
    if request.skip_rows is None:
        start = first_line_of_table([text for _, text in numbered], delimiter, runs)
        findings += _skipped(numbered, start)
        numbered = numbered[start:]
    lines = [text for _, text in numbered]
    cells = split_lines(lines, delimiter, runs)
    return _described(cells, numbered, delimiter, runs, encoding, request, findings)


def _described(
    cells: list[list[str]], numbered: list[tuple[int, str]], delimiter: str, runs: bool, encoding: str,
    request: Request, findings: list[Finding],
) -> Layout:  # fmt: skip
    cells, trailing = _without_trailing(cells)
    cells = _with_corner(cells)
    _check_widths(cells, numbered, delimiter, request)
    shown = decimals_in(cells[1:])
    decimal = asked_decimal(request) or ("," if shown == {","} else ".")
    decimal = "." if delimiter == "," else decimal
    header = has_header(cells, decimal) if request.header is None else request.header
    body = cells[1:] if header else cells
    units = header and _is_units_row(body, decimal)
    if not body[units:]:
        raise TableError("has a header, but no rows.")
    names = [name.strip() if header else f"feature_{i}" for i, name in enumerate(cells[0])]
    if header and names[0].startswith("#"):
        names[0] = names[0].lstrip("# ")
    rows = numbered[min(len(numbered) - 1, header + units)][0] if header + units < len(numbered) else 0
    findings = findings + _said(delimiter, decimal, header, units, trailing, request, body)
    if header and request.header is None and any(is_number(cell, ".") and cell.strip() for cell in cells[0]):
        findings.append(Finding(ASSUMED, "the first line is the header, though it holds a number", "--no-header"))
    text = _text_columns(body[units:], decimal, shown, delimiter, request)
    longest = max(len(line) for _, line in numbered)
    multiline = any("\n" in line for _, line in numbered)
    return Layout(
        delimiter, decimal, encoding, names, rows, text, frozenset(shown), longest, runs, multiline, trailing,
        tuple(findings),
    )  # fmt: skip


def asked_decimal(request: Request) -> str | None:
    """Return the decimal mark that the user named, or that follows from the thousands mark."""
    return request.decimal or {",": ".", ".": ","}.get(request.thousands or "")


def _skipped(numbered: list[tuple[int, str]], start: int) -> list[Finding]:
    if not start:
        return []
    first = numbered[0][1].strip()[:40]
    text = f"{counted(start, 'line')} before the header passed over, the first being {first!r}"
    return [Finding(ASSUMED, text, "--skip-rows")]


def _without_trailing(cells: list[list[str]]) -> tuple[list[list[str]], bool]:
    """Take off the empty last cell that a delimiter at the end of every row makes."""
    body, header = cells[1:], cells[0]
    width = max((len(row) for row in body), default=0)
    if width < 2 or any(len(row) != width or row[-1].strip() for row in body):
        return cells, False
    if len(header) == width and not header[-1].strip():
        return [row[:-1] for row in cells], True
    if len(header) == width - 1 and header[0].strip():
        return [header, *(row[:-1] for row in body)], True
    return cells, False


def _with_corner(cells: list[list[str]]) -> list[list[str]]:
    """Name the column of row names, whose heading R leaves out, by nothing."""
    if len(cells) > 1 and len(cells[1]) == len(cells[0]) + 1:
        return [["", *cells[0]], *cells[1:]]
    return cells


def _check_widths(cells: list[list[str]], numbered: list[tuple[int, str]], delimiter: str, request: Request) -> None:
    width = len(cells[0])
    for row, (number, _) in zip(cells, numbered, strict=False):
        if len(row) != width:
            raise TableError(
                f"line {number + 1} has {counted(len(row), 'cell')}, but the first line of the table has {width} (the "
                f"delimiter is {NAMES_OF_MARKS.get(delimiter, repr(delimiter))}); every line must have as many, or "
                "pass --delimiter, --skip-rows or --comment."
            )
    if width == 1 and request.delimiter is not None and any(mark in cells[-1][0] for mark in ",;\t|"):
        raise TableError(f"has one feature only with the delimiter {delimiter!r}; pass another with --delimiter.")


def decimals_in(rows: list[list[str]]) -> set[str]:
    """Return the decimal marks that some cells show beyond doubt."""
    found: set[str] = set()
    for row in rows:
        for cell in row:
            cell = cell.strip()
            if "," not in found and "," in cell and COMMA.match(cell) and not OPEN_MARK.match(cell):
                found.add(",")
            elif "." not in found and "." in cell and POINT.match(cell) and not OPEN_MARK.match(cell):
                found.add(".")
        if len(found) == 2:
            break
    return found


def _is_units_row(body: list[list[str]], decimal: str) -> bool:
    """Tell whether a row of units, such as kg or °C, stands between the header and the numbers."""
    if len(body) < 3 or all(is_number(cell, decimal) for cell in body[0]):
        return False
    numeric = [i for i in range(len(body[0])) if all(is_number(row[i], decimal) for row in body[1:])]
    numeric = [i for i in numeric if any(row[i].strip() for row in body[1:])]
    units = [body[0][i].strip() for i in numeric]
    return any(units) and all(not unit or UNIT.match(unit) for unit in units)


def _text_columns(body: list[list[str]], decimal: str, shown: set[str], delimiter: str, request: Request) -> list[int]:
    """Return the columns that are read as text: words, and numbers whose marks have to be found out."""
    if asked_decimal(request) == "," and delimiter == ",":
        return list(range(len(body[0])))  # Arrow would read 1.5 as a number, which it is not then.
    open_marks = delimiter != "," and not shown and asked_decimal(request) is None
    found = []
    for place, column in enumerate(zip(*body, strict=True)):
        undecided = open_marks and any(OPEN_MARK.match(cell.strip()) for cell in column)
        padded = any(cell.lstrip()[:1] == "0" and PADDED.match(cell) for cell in column)
        if undecided or padded or not all(is_number(cell, decimal) for cell in column):
            found.append(place)
    return found


def _said(
    delimiter: str, decimal: str, header: bool, units: bool, trailing: bool, request: Request, body: list[list[str]]
) -> list[Finding]:
    """Return what was assumed of the layout, where a reader of the file might think otherwise."""
    found = []
    if request.delimiter is None and delimiter not in ",\t":
        found.append(Finding(ASSUMED, f"cells are parted by {NAMES_OF_MARKS[delimiter]}", "--delimiter"))
    if asked_decimal(request) is None and decimal == ",":
        example = next((c for row in body for c in row if COMMA.match(c.strip()) and is_number(c, ",")), "1,5").strip()
        found.append(Finding(ASSUMED, f"the decimal mark is a comma, as in {example!r}", "--decimal ."))
    if not header and request.header is None:
        found.append(Finding(ASSUMED, "the first line holds numbers, so that there is no header", "--header"))
    if units:
        found.append(Finding(ASSUMED, f"the line below the header holds units ({listed(body[0])}) and was passed over"))
    if trailing:
        found.append(Finding(ASSUMED, "the delimiter at the end of every line stands for nothing"))
    return found
