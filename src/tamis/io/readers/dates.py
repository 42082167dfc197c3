"""Dates and durations as numbers: days since 1970, and seconds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

DAY = 86_400e6
"""Microseconds of a day."""

TIME = r"(?:[ T]\d{1,2}:\d{2}(?::\d{2})?)?"
ISO = r"^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?$"
NAMED = {
    rf"^\d{{4}}/\d{{1,2}}/\d{{1,2}}{TIME}$": "%Y/%m/%d",
    rf"^\d{{1,2}}\.\d{{1,2}}\.\d{{4}}{TIME}$": "%d.%m.%Y",
    rf"^\d{{1,2}} [A-Za-z]{{3}} \d{{4}}{TIME}$": "%d %b %Y",
    rf"^\d{{1,2}}-[A-Za-z]{{3}}-\d{{4}}{TIME}$": "%d-%b-%Y",
    rf"^[A-Za-z]{{3}} \d{{1,2}}, \d{{4}}{TIME}$": "%b %d, %Y",
    rf"^\d{{1,2}} [A-Za-z]{{4,}} \d{{4}}{TIME}$": "%d %B %Y",
    rf"^[A-Za-z]{{4,}} \d{{1,2}}, \d{{4}}{TIME}$": "%B %d, %Y",
}
"""Patterns of dates that can be read in one way only, with the format of each."""

SWAPPABLE = rf"^(?P<first>\d{{1,2}})(?P<mark>[/-])(?P<second>\d{{1,2}})[/-]\d{{4}}{TIME}$"
HOURS = r"(?P<hours>\d{1,4}):(?P<minutes>\d{2})(?::(?P<seconds>\d{2}(?:\.\d+)?))?"
CLOCK = rf"^(?P<sign>-?)(?:(?P<days>\d+) days?,? ?)?(?:{HOURS})?$"


@dataclass(frozen=True)
class Days:
    """Dates as days since 1970 (NaN where missing), or None if the order of day and month cannot be told."""

    values: NDArray[np.float64] | None


def read_dates(cells: Any, day_first: bool | None) -> Days | None:
    """Read trimmed cells as dates; None if they are something else.

    Parameters
    ----------
    cells : pyarrow array of str
        Null where missing.
    day_first : bool or None
        Whether ``3/4/2020`` is in April, if no cell tells.
    """
    if _all_match(cells, ISO):
        return _iso(cells)
    for pattern, form in NAMED.items():
        if _all_match(cells, pattern):
            return _by_format(cells, form)
    if not _all_match(cells, SWAPPABLE):
        return None
    parts = pc.extract_regex(cells, SWAPPABLE)
    first, second = (_largest(parts, name) for name in ("first", "second"))
    if max(first, second) <= 12 and day_first is None:
        return Days(None)
    leading = day_first if max(first, second) <= 12 else first > 12
    mark = pc.struct_field(parts, "mark").drop_null()[0].as_py()
    return _by_format(cells, f"%d{mark}%m{mark}%Y" if leading else f"%m{mark}%d{mark}%Y")


def days_of(column: Any) -> NDArray[np.float64]:
    """Return an Arrow array of dates or timestamps as days since 1970, NaN where null."""
    stamps = pc.cast(column, pa.timestamp("us", getattr(column.type, "tz", None)), safe=False)
    return _floats(pc.cast(stamps, pa.int64())) / DAY


def seconds_of(column: Any) -> NDArray[np.float64]:
    """Return an Arrow array of durations or times of day as seconds, NaN where null."""
    if pa.types.is_time(column.type):
        column = pc.cast(column, pa.time64("us"))
        return _floats(pc.cast(column, pa.int64())) / 1e6
    return _floats(pc.cast(pc.cast(column, pa.duration("us"), safe=False), pa.int64())) / 1e6


def read_durations(cells: Any) -> NDArray[np.float64] | None:
    """Read ``1:30``, ``01:30:00`` or ``2 days 01:30:00`` as seconds; None if the cells are something else."""
    if not _all_match(cells, CLOCK):
        return None
    parts = pc.extract_regex(cells, CLOCK)
    total = np.zeros(len(cells))
    for name, size in (("days", 86_400), ("hours", 3600), ("minutes", 60), ("seconds", 1)):
        field = pc.struct_field(parts, name)
        number = pc.cast(pc.if_else(pc.equal(field, ""), "0", field), pa.float64())
        total = total + size * _floats(number)
    sign = pc.fill_null(pc.equal(pc.struct_field(parts, "sign"), "-"), False).to_numpy(zero_copy_only=False)
    return np.where(sign, -total, total)


def _all_match(cells: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(cells, pattern)).as_py())


def _largest(parts: Any, name: str) -> int:
    return pc.max(pc.cast(pc.struct_field(parts, name), pa.int64())).as_py()


def _iso(cells: Any) -> Days | None:
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return Days(days_of(pc.cast(cells, kind)))
        except pa.ArrowInvalid:
            continue  # With a time zone, without one, or no date at all, such as 2020-13-45.
    return None


def _by_format(cells: Any, form: str) -> Days | None:
    text = pc.replace_substring_regex(cells, r"(\d)T(\d)", r"\1 \2")
    total: Any = None
    for clock in ("", " %H:%M", " %H:%M:%S"):
        found = pc.strptime(text, form + clock, "us", error_is_null=True)
        total = found if total is None else pc.coalesce(total, found)
    return None if total.null_count > cells.null_count else Days(days_of(total))


def _floats(column: Any) -> NDArray[np.float64]:
    return np.array(pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
