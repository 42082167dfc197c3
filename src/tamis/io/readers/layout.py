"""How a text table is written: encoding, lines before the header, delimiter, header and decimal mark, from its head."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from tamis.io.errors import TableError
from tamis.io.readers.kinds import CODE
from tamis.io.readers.numbers import marks_in
from tamis.io.readers.report import ASSUMED, Finding
from tamis.io.request import MISSING, Request
from tamis.reprs import counted

DELIMITERS = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar", " ": "a space"}
HEAD_ROWS = 50
HEAD_CELLS = 600_000
"""So many cells of the head are examined; of a wide table those are fewer rows."""

WINDOWS = Finding(ASSUMED, "the text is not UTF-8 and was read as cp1252", "--encoding")


class Row(NamedTuple):
    """The cells of a row, and the number of its first line in the file, from 0."""

    line: int
    cells: list[str]

    @property
    def commented(self) -> bool:
        """Whether the row begins as a comment does, or names the delimiter to Excel."""
        return self.cells[0].startswith(("#", "sep="))


class Layout(NamedTuple):
    """What the first lines of a text file tell about it."""

    delimiter: str
    decimal: str
    encoding: str
    names: list[str]  # as the file has them: they may repeat or be empty
    skipped: int  # lines before the first row of the table, the header among them
    text: list[int]  # columns with a cell that is no plain number
    decimals: frozenset[str]  # decimal marks that some cells show beyond doubt
    runs: bool  # whether cells are parted by any number of spaces
    trailing: bool  # whether every row ends with a delimiter
    findings: tuple[Finding, ...]


def find_layout(head: bytes, request: Request) -> Layout:
    """Find how a text table is written from its first lines, which must be complete, and from what the user says."""
    encoding, findings = find_encoding(head, request.encoding)
    lines = without_comments(head.decode(encoding, "replace"), request.comment)
    delimiter, runs = _find_delimiter(lines, request)
    rows = _rows(lines, delimiter, runs, request.skip_rows)
    if request.skip_rows is None and (start := _rows_before_table(rows)):
        first = next(line.strip() for line in lines if line.strip())
        what = f"{counted(start, 'line')} before the header passed over, the first being {first[:40]!r}"
        findings.append(Finding(ASSUMED, what, "--skip-rows"))
        rows = rows[start:]
    rows, trailing = _without_trailing(rows)
    if _lacks_first_name(rows, delimiter):
        rows[0].cells.insert(0, "")
    _check_widths(rows, delimiter, request)
    shown = marks_in(cell for row in rows[1:] for cell in row.cells)
    decimal = "," if (request.asked_decimal or (delimiter != "," and "".join(shown))) == "," else "."
    cells = [row.cells for row in rows]
    names, start, told = find_header(cells, decimal, request)
    names[0] = names[0].lstrip("# ")
    findings += [*_layout_findings(delimiter, decimal, start > 0, trailing, request, cells), *told]
    columns = enumerate(zip(*cells[start:], strict=True))
    text = [i for i, cells in columns if not all(is_number(cell, decimal) and not is_code(cell) for cell in cells)]
    line, marks = rows[start].line, frozenset(shown)
    return Layout(delimiter, decimal, encoding, names, line, text, marks, runs, trailing, tuple(findings))


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
            return "cp1252", [WINDOWS]
    return ("utf-8-sig" if head.startswith(b"\xef\xbb\xbf") else "utf-8"), []


def without_comments(text: str, comment: str | None) -> list[str]:
    """Return the lines of a text that do not begin with the mark of comments."""
    lines = re.split(r"\r\n|\n|\r", text)
    return [line for line in lines if not line.startswith(comment)] if comment else lines


def _rows(lines: list[str], delimiter: str, runs: bool = False, skipped: int | None = None) -> list[Row]:
    """Split the first lines into cells; a cell between quotation marks may hold delimiters and line breaks."""
    lines = lines[skipped or 0 :]
    comments = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
    found: list[Row] = []
    for row in islice(_split(lines, delimiter, runs), HEAD_ROWS + comments):
        found.append(Row(row.line + (skipped or 0), row.cells))
        if len(found) > comments + 2 and len(found) * len(row.cells) > HEAD_CELLS:
            break
    if not found:
        raise TableError("holds no lines.")
    return found


def _split(lines: list[str], delimiter: str, runs: bool) -> Iterator[Row]:
    if runs:
        yield from (Row(number, line.split()) for number, line in enumerate(lines) if line.strip())
        return
    csv.field_size_limit(2**31 - 1)
    reader, start = csv.reader((line + "\n" for line in lines), delimiter=delimiter), 0
    try:
        for cells in reader:
            if len(cells) > 1 or "".join(cells).strip():
                yield Row(start, cells)
            start = reader.line_num
    except csv.Error as error:
        raise TableError(f"cannot be split at the delimiter {delimiter!r} ({error}).") from error


def _find_delimiter(lines: list[str], request: Request) -> tuple[str, bool]:
    """Return the mark that splits most lines into the same number of cells, and whether it comes in runs.

    Lines at the beginning may be titles, so that the last ones decide.
    """
    if request.delimiter is not None:
        return request.delimiter, False
    found = {mark: _rows(lines, mark, False, request.skip_rows) for mark in DELIMITERS}
    table = {mark: [row.cells for row in rows if not row.commented] or [rows[-1].cells] for mark, rows in found.items()}
    tail = {mark: rows[len(rows) // 2 :] for mark, rows in table.items()}
    even = {mark: len(rows[0]) for mark, rows in tail.items() if len(rows[0]) > 1 and len(set(map(len, rows))) == 1}
    if not set(even) - {" "} and _parted_by_runs(lines[request.skip_rows or 0 :]):
        return " ", True
    if not even:
        return max(",\t;|", key=lambda mark: sum(map(len, tail[mark]))), False
    missing = {mark: width - len(table[mark][0]) for mark, width in even.items()}
    return max(even, key=lambda m: (missing[m] == 0, missing[m] == 1, _share_of_numbers(tail[m]), even[m])), False


def _parted_by_runs(lines: list[str]) -> bool:
    """Return whether lines hold equally many words, several spaces apart."""
    lines = [line for line in lines if line.strip() and not line.startswith("#")][:HEAD_ROWS]
    lines = lines[len(lines) // 2 :]
    words = {len(line.split()) for line in lines}
    return len(words) == 1 and words != {1} and any(re.search("  |\t", line) for line in lines)


def _share_of_numbers(rows: list[list[str]]) -> float:
    """Return the share of cells that are numbers with either decimal mark: a wrong delimiter cuts them in two."""
    cells = [cell for row in rows[:20] for cell in row[:1000]]
    return sum(is_number(cell, ".") or is_number(cell, ",") for cell in cells) / len(cells)


def _rows_before_table(rows: list[Row]) -> int:
    """Return how many rows come before the header: comments, and titles with fewer cells than the table has.

    A title is passed over only if a header follows it, or if it is one single cell: else the header itself is
    defective, and the user must see to it.
    """
    widths = [len(row.cells) for row in rows]
    usual = Counter(widths[len(widths) // 2 :]).most_common(1)[0][0]
    start, last = 0, len(rows) - 1
    while start < last and rows[start].commented:
        if widths[start] == usual > 1 and not rows[start + 1].commented and rows[start].cells[0] != "sep=":
            break  # A line that begins with # is the header in files of genome tools.
        start += 1
    titled = start
    while titled < last and widths[titled] < usual - 1:
        titled += 1
    if titled in (start, last) or widths[titled] not in (usual, usual - 1):
        return start
    single = all(width == 1 for width in widths[start:titled])
    return titled if single or has_header([row.cells for row in rows[titled:]], ".") else start


def is_number(cell: str, decimal: str) -> bool:
    """Return whether a cell is a plain number or a missing one."""
    if decimal == "," and "." in cell:
        return False
    try:
        float(cell.replace(decimal, "."))
    except ValueError:
        return cell.strip() in MISSING
    return "_" not in cell


def is_code(cell: str) -> bool:
    """Return whether a cell holds digits behind a zero."""
    return cell[:1] == "0" and re.match(CODE, cell) is not None


def has_header(cells: list[list[str]], decimal: str) -> bool:
    """Return whether the first line names the features.

    It does if it holds a word, and no number but whole ones, which may be years or names of samples. Words beside
    numbers are no names if they occur again below. Without words it does if it counts, as pandas numbers columns.
    """
    first, below = cells[0], cells[1:]
    # NA may be sodium: what stands for a missing or infinite cell is neither a number nor a word here.
    numbers = [cell.strip() for cell in first if is_number(cell, decimal) and any(sign.isdigit() for sign in cell)]
    words = [(place, cell) for place, cell in enumerate(first) if not is_number(cell, decimal)]
    distinct = all(number.isdigit() for number in numbers) and len(set(numbers)) == len(numbers)
    again = any(len(row) > place and row[place] == cell for place, cell in words for row in below)
    counts = any(numbers == [str(i) for i in range(start, start + len(first))][: len(numbers)] for start in (0, 1))
    if not words:
        return counts and len(numbers) >= max(3, len(first) - 1)
    return not numbers or (distinct and not again)


def find_header(cells: list[list[str]], decimal: str, request: Request) -> tuple[list[str], int, list[Finding]]:
    """Return the names of the features, how many rows come before the samples, and what is to be told of them.

    Up to three rows below the header, such as units, may hold words and no number where all rows below hold numbers.
    The features are named by the first row whose names all differ; those of groups of features repeat.
    """
    if not (has_header(cells, decimal) if request.header is None else request.header):
        assumed = Finding(ASSUMED, "the first line holds numbers, so that there is no header", "--header")
        return [f"feature_{i}" for i in range(len(cells[0]))], 0, [assumed] if request.header is None else []
    if len(cells) == 1:
        raise TableError("has a header, but no rows.")
    signs = np.array([[_sign(cell, decimal) for cell in row] for row in cells])
    for last in range(min(3, len(cells) - 3), 0, -1):
        below = signs[last + 1 :]
        words = signs[1 : last + 1, (below >= 0).all(axis=0) & (below > 0).any(axis=0)]
        if words.size and words.max() < 1 and ((words < 0).sum(axis=1) * 4 >= len(cells[0])).all():
            places = range(last + 1) if request.skip_rows is None else ()
            named = next((place for place in places if len({*cells[place]}) == len(cells[place])), 0)
            shown = next((cell.strip()[:40] for cell in cells[not named] if _sign(cell, decimal) < 0), "")
            text = f"{counted(last, 'row')} beside the header passed over, with words such as {shown!r} above numbers"
            return [name.strip() for name in cells[named]], last + 1, [Finding(ASSUMED, text, "--skip-rows")]
    return [name.strip() for name in cells[0]], 1, []


def _sign(cell: str, decimal: str) -> int:
    """Return 1 for a number in any notation, 0 for a missing cell and -1 for a word."""
    plain, digits = is_number(cell, decimal), any(map(str.isdigit, cell))
    return int(digits) if plain or (digits and not any(map(str.isalpha, cell))) else -1


def _without_trailing(rows: list[Row]) -> tuple[list[Row], bool]:
    """Take off the empty last cell that a delimiter at the end of every row makes."""
    header, body = rows[0].cells, [row.cells for row in rows[1:]]
    width = max(map(len, body), default=0)
    if width < 2 or any(len(cells) != width or cells[-1].strip() for cells in body):
        return rows, False
    ended = len(header) == width and not header[-1].strip()
    if not ended and not (len(header) == width - 1 and header[0].strip()):
        return rows, False
    return [Row(row.line, row.cells[: width - 1]) for row in rows], True


def _lacks_first_name(rows: list[Row], delimiter: str) -> bool:
    """Return whether all rows but the header begin with their names, of which R leaves out the heading.

    Numbers that do not count the rows may be parts of others, cut in two at their decimal comma.
    """
    names = [row.cells[0] for row in rows[1:] if len(row.cells) == len(rows[0].cells) + 1]
    counts = any(names == [str(i) for i in range(start, start + len(names))] for start in (0, 1))
    differ = delimiter != "," and len(set(names)) == len(names)
    named = counts or differ or not all(is_number(name, ".") for name in names)
    return 0 < len(names) == len(rows) - 1 and named


def _check_widths(rows: list[Row], delimiter: str, request: Request) -> None:
    width = len(rows[0].cells)
    for row in rows:
        if len(row.cells) != width:
            found = f"line {row.line + 1} has {counted(len(row.cells), 'cell')}"
            mark = f"the delimiter is {DELIMITERS.get(delimiter, repr(delimiter))}"
            remedy = "every line must have as many, or pass --delimiter, --skip-rows or --comment"
            raise TableError(f"{found}, but the first line of the table has {width} ({mark}); {remedy}.")
    if width == 1 and request.delimiter is not None and any(mark in rows[-1].cells[0] for mark in ",;\t|"):
        raise TableError(f"has one feature only with the delimiter {delimiter!r}; pass another with --delimiter.")


def _layout_findings(
    delimiter: str, decimal: str, header: bool, trailing: bool, request: Request, cells: list[list[str]]
) -> list[Finding]:
    """Return what was assumed of the layout, where a reader of the file might think otherwise."""
    commas = (cell.strip() for row in cells[header:] for cell in row if "," in cell and is_number(cell, ","))
    shown = next((f", as in {cell!r}" for cell in commas if marks_in([cell])), "") if decimal == "," else ""
    number_above = header and any(cell.strip() and is_number(cell, ".") for cell in cells[0])
    assumed = (
        (delimiter not in ",\t", f"cells are parted by {DELIMITERS.get(delimiter)}", "--delimiter", request.delimiter),
        (decimal == ",", f"the decimal mark is a comma{shown}", "--decimal .", request.asked_decimal),
        (trailing, "the delimiter at the end of every line stands for nothing", "", None),
        (number_above, "the first line is the header, though it holds a number", "--no-header", request.header),
    )
    return [Finding(ASSUMED, text, option) for holds, text, option, asked in assumed if holds and asked is None]
