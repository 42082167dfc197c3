"""What a feature that is not plainly numeric holds, and what it becomes: numbers, 0/1 features, or nothing."""

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tamis.io.readers import numbers as written
from tamis.io.readers.report import ASSUMED, LEFT_OUT, Finding, shell_word
from tamis.io.request import Request

TRUE, FALSE = ("true", "yes", "y", "t", "on"), ("false", "no", "n", "f", "off")
MAX_LEVELS = 40
"""Text with at most so many different values is a category."""

MIN_COUNT, MIN_STEPS = 10, 30
"""So many rows that are numbered from 0 or 1 on are no coincidence, nor are so many equal steps from row to row."""

MAX_ENCODED = 1000
"""A category that was asked for may have so many."""

ID_NAME = re.compile(
    r"^(?i:ids?|idx|index|uuid|guid|key|row|row[_ ]?(?:id|nr|num|number|names?)|unnamed: 0"
    r"|.+[_ .-](?:id|uuid|guid|key|idx))$|^.*[a-z](?:Id|ID)$"
)
CODE = r"^\s*0\d+\s*$"
"""Digits behind a zero are words, as in postcodes."""

CATEGORIES = "text with few values was read as categories"
UNDECIDED = "undecided"
"""Kind of a finding whose text is a cell that can be read in two ways."""

Floats = NDArray[np.float64]


class Feature(NamedTuple):
    """A feature of a file as numbers."""

    name: str
    kind: str  # one of :data:`tamis.io.readers.report.KINDS`
    values: NDArray[Any]  # one column of numbers, or the 0/1 columns of a category; NaN where missing
    labels: tuple[str, ...]  # a name for each column
    texts: list[Any] | None = None  # the cells as the file has them, if it does not have numbers
    findings: tuple[Finding, ...] = ()


def is_numeric(kind: Any) -> bool:
    """Return whether the values of an Arrow type are numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_text(kind: Any) -> bool:
    """Return whether the values of an Arrow type are words."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def trimmed(column: Any, missing: Collection[str]) -> Any:
    """Return a text column without spaces around its cells, null where they stand for a missing value."""
    cells = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
    return pc.if_else(pc.is_in(cells, value_set=pa.array(sorted(missing))), None, cells)


def plain_numbers(column: Any, mark: str, missing: Collection[str]) -> Floats | None:
    """Return a column of text as numbers, NaN where missing; None unless all cells are plain numbers with the mark."""
    found = _cast(column, mark)
    if found is None:
        found = _cast(trimmed(column, missing), mark)
    if found is None or found.null_count == len(found):
        return None
    values: Floats = found.to_numpy()
    whole = not (np.floor(values) < values).any()
    return None if whole and pc.any(pc.match_substring_regex(column, CODE)).as_py() else values


def _cast(cells: Any, mark: str) -> Any:
    if mark == ",":
        if has_mark(cells, "."):
            return None
        cells = pc.replace_substring(cells, ",", ".")
    try:
        return pc.cast(cells, pa.float64())
    except pa.ArrowInvalid:
        return None


def has_mark(cells: Any, mark: str) -> bool:
    """Return whether some cells of a column hold a mark."""
    return bool(pc.any(pc.match_substring(cells, mark)).as_py())


def plain_feature(name: str, values: NDArray[Any], keep: bool, findings: tuple[Finding, ...] = ()) -> Feature | Finding:
    """Return a feature of numbers, or why it is left out: it counts the rows, or is called like an identifier."""
    if not keep and len(values) >= MIN_COUNT and values[0] in (0, 1) and (np.diff(values) == 1).all():
        return left_out(name, "it counts the rows", f"--keep {shell_word(name)}")
    if not keep and ID_NAME.match(name):
        present = values[~np.isnan(values)]
        # Larger whole numbers than 2**53 are rounded, so that some that differ become equal.
        differ, long = len(np.unique(present)) == len(present), np.abs(present).max(initial=0) >= 2**53
        if len(present) > 1 and (differ or long) and (present % 1 == 0).all():
            reason = f"numbers that {'differ in every row' if differ else 'have over 15 digits'}, as identifiers do"
            return left_out(name, reason, f"--keep {shell_word(name)}")
    return Feature(name, "number", values[:, None], (name,), None, findings)


def clock(found: Feature) -> Finding | None:
    """Return that a feature is left out because it grows evenly from row to row, if it does."""
    steps = np.diff(found.values[:, 0])
    if len(steps) < MIN_STEPS or not steps[0] or not np.allclose(steps, steps[0], rtol=1e-9, atol=0):
        return None
    return left_out(found.name, "it grows evenly with the rows, as clocks do", f"--keep {shell_word(found.name)}")


def encode(
    name: str, column: Any, request: Request, decimal: str | None, *, keep: bool, levels: Sequence[str] | None
) -> Feature | Finding:
    """Turn an Arrow column of any type into numbers, or return why it is left out.

    ``decimal`` is the decimal mark of the file, where a feature does not tell it. With ``keep`` it is not left out
    though it looks like an identifier, free text or a mixture. With ``levels`` it holds categories whatever it looks
    like: these or, if there are none, those that occur.
    """
    kind, types = column.type, pa.types
    if column.null_count == len(column):
        return left_out(name, "it has no value at all")
    if types.is_dictionary(kind) or levels is not None:
        cells = trimmed(column, request.missing_words)
        return _category(name, cells, levels or (), "the values were read as categories")
    if is_text(kind):
        return _from_text(name, trimmed(column, request.missing_words), request, decimal, keep)
    texts = [None if cell is None else str(cell) for cell in column.to_pylist()]
    if types.is_boolean(kind):
        return _boolean(name, column, texts)
    if types.is_timestamp(kind) or types.is_date(kind):
        return _dated(name, "date", written.days_of(column), texts)
    if types.is_duration(kind) or types.is_time(kind):
        return _dated(name, "duration", written.seconds_of(column), texts)
    return left_out(name, f"it holds values of the type {kind}, which is neither numbers nor text")


def _from_text(name: str, cells: Any, request: Request, decimal: str | None, keep: bool) -> Feature | Finding:
    if cells.null_count == len(cells):
        return left_out(name, "it has no value at all")
    lower = pc.utf8_lower(cells)
    if pc.all(pc.is_in(lower.drop_null(), value_set=pa.array([*TRUE, *FALSE]))).as_py():
        truth = pc.if_else(pc.is_valid(lower), pc.is_in(lower, value_set=pa.array(TRUE)), None)
        return _boolean(name, truth, cells.to_pylist())
    if len(codes := cells.filter(pc.match_substring_regex(cells, CODE))):
        text = f"{codes[0].as_py()!r} begins with a zero, so that it was read as a category"
        return _words(name, cells, keep, text)
    numbers = written.read_numbers(cells, decimal, request.thousands, request.asked_decimal is not None)
    if numbers.values is not None:
        return plain_feature(name, numbers.values, keep, _unusual_number(name, numbers.values, cells))
    if numbers.undecided:
        return Finding(UNDECIDED, numbers.undecided, "", (name,))
    words = _words(name, cells, keep)
    if numbers.share and not keep and (numbers.share > 0.5 or isinstance(words, Feature)):
        return _mixture(name, numbers)
    return _time(name, cells, request.day_first) or words


def _time(name: str, cells: Any, day_first: bool | None) -> Feature | Finding | None:
    different, places = written.distinct(cells)
    are_dates, days = written.read_dates(different, day_first)
    if days is not None:
        return _dated(name, "date", written.spread(days, places), cells.to_pylist())
    if are_dates:
        example = different[0].as_py()
        what = "the month" if re.search(r"\d{4}", example) else "the month or the year"
        return left_out(name, f"in {example!r} the day and {what} could be either", "--day-first|--month-first")
    seconds = written.read_durations(different)
    return None if seconds is None else _dated(name, "duration", written.spread(seconds, places), cells.to_pylist())


def _words(name: str, cells: Any, keep: bool, told: str = CATEGORIES) -> Feature | Finding:
    present, levels = len(cells) - cells.null_count, len(pc.unique(cells.drop_null()))
    if keep or (levels < present and levels <= min(MAX_LEVELS, max(2, present // 2))):
        return _category(name, cells, told=told)
    unique = "text that differs in every row, as identifiers do"
    reason = unique if levels == present else f"text with {levels:,} different values, too many for a category"
    return left_out(name, reason, f"--keep {shell_word(name)}")


def _unusual_number(name: str, values: Floats, cells: Any) -> tuple[Finding, ...]:
    """Return how a number was understood, by the first cell that Python would not read so."""
    plain = pc.match_substring_regex(cells, r"^-?\d*\.?\d+(?:[eE][+-]?\d+)?$")
    usual = pc.cast(pc.if_else(plain, cells, None), pa.float64()).to_numpy(zero_copy_only=False)
    places = np.flatnonzero((usual != values) & ~np.isnan(values))
    if not places.size:
        return ()
    cell = cells[int(places[0])].as_py()
    option = "--decimal or --thousands" if re.search("[.,]", cell) else ""
    return (Finding(ASSUMED, f"{cell!r} was read as {values[places[0]]:.10g}", option, (name,), _shape(cell)),)


def _shape(cell: str) -> str:
    """Return a cell with its digits made alike, by which numbers written in one way are told together."""
    return re.sub(r"\d+", "0", cell)


def _category(name: str, cells: Any, wanted: Sequence[str] = (), told: str = CATEGORIES) -> Feature | Finding:
    """Encode levels as 0/1 features; two levels need one."""
    levels = sorted(pc.unique(cells.drop_null()).to_pylist())
    if not wanted and len(levels) < 2:
        return left_out(name, "it has one value only" if levels else "it has no value at all")
    if len(levels) > MAX_ENCODED:
        return left_out(name, f"{len(levels):,} categories, more than the {MAX_ENCODED:,} that can be encoded")
    encoded = list(wanted) or (levels[1:] if len(levels) == 2 else levels)
    codes = pc.fill_null(pc.index_in(cells, value_set=pa.array(encoded, pa.string())), -1)
    values = (codes.to_numpy(zero_copy_only=False)[:, None] == np.arange(len(encoded))).astype(np.float64)
    values[pc.is_null(cells).to_numpy(zero_copy_only=False)] = np.nan
    labels = tuple(f"{name}={level}" for level in encoded)
    return Feature(name, "category", values, labels, cells.to_pylist(), (Finding(ASSUMED, told, "", (name,)),))


def _boolean(name: str, column: Any, texts: list[Any]) -> Feature:
    values = np.array(pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False))
    place = int(np.nanargmax(values))
    text = f"{texts[place]!r} was read as {'true (1)' if values[place] else 'false (0)'}"
    return Feature(name, "boolean", values[:, None], (name,), texts, (Finding(ASSUMED, text, "", (name,)),))


def _dated(name: str, kind: str, values: Floats, texts: list[Any]) -> Feature:
    """Return a feature of dates or durations, with an example of how they were understood."""
    place = next(place for place, text in enumerate(texts) if text is not None)
    what = "a date" if kind == "date" else "a duration in seconds"
    zoned = re.search(r":\d\d.*(?:Z|UTC|GMT|[+-]\d\d:?\d\d)$", texts[place])
    shown = f"{values[place]:.10g}"
    if kind == "date":
        stamp = f"{np.datetime64(round(values[place] * 86_400), 's')} in UTC"
        short = "" if re.search(r"\d{4}", texts[place]) else ", two digits standing for 1969 to 2068"
        shown = (stamp if zoned else stamp[:10]) + short
    text = f"{texts[place]!r} was read as {what} ({shown})"
    finding = Finding(ASSUMED, text, "", (name,), f"{what} {_shape(texts[place])}")
    return Feature(name, kind, values[:, None], (name,), texts, (finding,))


def _mixture(name: str, numbers: written.Numbers) -> Finding:
    if numbers.contrary:
        first, second = numbers.contrary
        return left_out(name, f"numbers written both as {first!r} and as {second!r}", "--decimal")
    cells = numbers.strange
    few = numbers.share > 0.5 and len(cells) <= 3
    option = f"--na-values {shell_word(*cells)}" if few else f"--categorical {shell_word(name)}"
    return left_out(name, f"numbers mixed with {cells[0]!r}", option)


def left_out(name: str, reason: str, option: str = "") -> Finding:
    """Return that a feature is left out, and the option that keeps it."""
    return Finding(LEFT_OUT, reason, option, (name,))
