"""How a text table is written: encoding, lines before the header, delimiter, header and decimal mark, from its head."""

import csv
import re
from collections import Counter
from dataclasses import dataclass

from tamis.readers.findings import ASSUMED, Finding, counted, listed
from tamis.readers.kinds import MISSING
from tamis.readers.table import ReadError, Request

DELIMITERS = ",\t;| "
NAMES_OF_MARKS = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar", " ": "a space"}
HEAD_LINES = 50
HEAD_CELLS = 600_000
"""So many cells of the head are looked at; a wide table gives fewer lines."""

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
    numbered = _lines(head.decode(encoding, "replace"), request)
    delimiter, runs = _delimiter([text for _, text in numbered], request.delimiter)
    if request.skip_rows is None:
        start = _first_line_of_table([text for _, text in numbered], delimiter, runs)
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
        raise ReadError("has a header, but no rows.")
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


def has_header(cells: list[list[str]], decimal: str) -> bool:
    """Tell whether the first line names the features: it holds a word, and no number that only data have."""
    numbers = [cell.strip() for cell in cells[0] if cell.strip() and is_number(cell, decimal)]
    words = [cell for cell in cells[0] if not is_number(cell, decimal)]
    years = all(number.isdigit() for number in numbers) and len(set(numbers)) == len(numbers)
    return bool(words) and (years or len(cells) < 2)


def find_encoding(head: bytes, asked: str | None) -> tuple[str, list[Finding]]:
    """Return the encoding of a text file; what is not Unicode is taken for the usual one of Windows."""
    if asked:
        try:
            "".encode(asked)
        except LookupError as error:
            raise ReadError(f"--encoding {asked} is not a known encoding; try utf-8, latin-1 or cp1252.") from error
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


def _lines(text: str, request: Request) -> list[tuple[int, str]]:
    """Return the lines that are not empty or comments, each with its number from 0."""
    every = re.split(r"\r\n|\n|\r", text)
    if request.comment:
        every = [line for line in every if not line.startswith(request.comment)]
    lines = [(n, line) for n, line in _joined(every) if line.strip() and n >= (request.skip_rows or 0)]
    if not lines:
        raise ReadError("holds no lines.")
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
        raise ReadError(f"cannot be split at the delimiter {delimiter!r} ({error}).") from error


def _delimiter(lines: list[str], asked: str | None) -> tuple[str, bool]:
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
        order = {mark: (widths[mark] == even[mark], widths[mark] == even[mark] - 1, even[mark]) for mark in even}
        return max(even, key=lambda mark: order[mark]), False
    return max(",\t;|", key=lambda mark: sum(line.count(mark) for line in tail)), False


def _widths(lines: list[str], mark: str) -> list[int]:
    """Return the number of cells of every line; none if quotation marks do not fit the delimiter."""
    try:
        return [len(row) for row in split_lines(lines, mark, False)]
    except ReadError:
        return [0]


def _first_line_of_table(lines: list[str], delimiter: str, runs: bool) -> int:
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
    is_header = not any(is_number(cell, ".") and cell.strip() for cell in header)
    return titled if widths[titled] in (usual, usual - 1) and (single or is_header) else start


def _is_header(place: int, lines: list[str], widths: list[int], usual: int) -> bool:
    """Tell whether a line that begins with # is the header, as in files of genome tools."""
    return usual > 1 and widths[place] == usual and not lines[place + 1].startswith("#")


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
            raise ReadError(
                f"line {number + 1} has {counted(len(row), 'cell')}, but the first line of the table has {width} (the "
                f"delimiter is {NAMES_OF_MARKS.get(delimiter, repr(delimiter))}); every line must have as many, or "
                "pass --delimiter, --skip-rows or --comment."
            )
    if width == 1 and request.delimiter is not None and any(mark in cells[-1][0] for mark in ",;\t|"):
        raise ReadError(f"has one feature only with the delimiter {delimiter!r}; pass another with --delimiter.")


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


def _is_units_row(body: list[list[str]], decimal: str) -> bool:
    """Tell whether a row of units, such as kg or °C, stands between the header and the numbers."""
    if len(body) < 3 or all(is_number(cell, decimal) for cell in body[0]):
        return False
    numeric = [i for i in range(len(body[0])) if all(is_number(row[i], decimal) for row in body[1:])]
    numeric = [i for i in numeric if any(row[i].strip() for row in body[1:])]
    units = [body[0][i].strip() for i in numeric]
    return bool(units) and not any(is_number(unit, decimal) and unit for unit in units) and any(units)


def _text_columns(body: list[list[str]], decimal: str, shown: set[str], delimiter: str, request: Request) -> list[int]:
    """Return the columns that are read as text: words, and numbers whose marks have to be found out."""
    if asked_decimal(request) == "," and delimiter == ",":
        return list(range(len(body[0])))  # Arrow would read 1.5 as a number, which it is not then.
    open_marks = delimiter == ";" and not shown and asked_decimal(request) is None
    found = []
    for place, column in enumerate(zip(*body, strict=True)):
        undecided = open_marks and any(OPEN_MARK.match(cell.strip()) for cell in column)
        if undecided or not all(is_number(cell, decimal) for cell in column):
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
