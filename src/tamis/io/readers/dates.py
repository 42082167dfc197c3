"""Dates and durations as numbers: days since 1970, and seconds."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TIME = r"(?:[ T]\d{1,2}:\d{2}(?::\d{2})?)?"
ISO = r"^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?$"
FORMATS = ("%Y/%m/%d", "%d.%m.%Y", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y")
"""Dates that can be read in one way only; %b also reads whole names of months."""

YEAR = r"(?:^|\D)\d{4}(?:\D|$)"
SWAPPABLE = rf"^(?P<first>\d{{1,2}})(?P<mark>[/-])(?P<second>\d{{1,2}})[/-]\d{{4}}{TIME}$"
HOURS = r"(?P<hours>\d{1,4}):(?P<minutes>\d{2})(?::(?P<seconds>\d{2}(?:\.\d+)?))?"
CLOCK = rf"^(?P<sign>-?)(?:(?P<days>\d+) days?,? ?)?(?:{HOURS})?$"


def read_dates(cells: Any, day_first: bool | None) -> tuple[bool, Floats | None]:
    """Return whether trimmed cells are dates, and their days since 1970; None if day and month could be either.

    ``day_first`` says whether ``3/4/2020`` is in April, if no cell tells.
    """
    forms: tuple[str, ...] = FORMATS if _all_match(cells, YEAR) else ()
    if _all_match(cells, SWAPPABLE):
        parts = pc.extract_regex(cells, SWAPPABLE)
        first, second = (pc.max(pc.cast(pc.struct_field(parts, n), pa.int64())).as_py() for n in ("first", "second"))
        if max(first, second) <= 12 and day_first is None:
            return True, None
        leading = day_first if max(first, second) <= 12 else first > 12
        mark = pc.struct_field(parts, "mark")[0].as_py()
        forms = (f"%d{mark}%m{mark}%Y" if leading else f"%m{mark}%d{mark}%Y",)
    found = [_iso(cells)] if _all_match(cells, ISO) else (_by_format(cells, form) for form in forms)
    days = next((days_of(stamps) for stamps in found if stamps is not None), None)
    return days is not None, days


def days_of(column: Any) -> Floats:
    """Return an Arrow array of dates or timestamps as days since 1970, NaN where null."""
    stamps = pc.cast(column, pa.timestamp("us", getattr(column.type, "tz", None)), safe=False)
    return _floats(pc.cast(stamps, pa.int64())) / 86_400e6


def seconds_of(column: Any) -> Floats:
    """Return an Arrow array of durations or times of day as seconds, NaN where null."""
    kind = pa.time64("us") if pa.types.is_time(column.type) else pa.duration("us")
    return _floats(pc.cast(pc.cast(column, kind, safe=False), pa.int64())) / 1e6


def read_durations(cells: Any) -> Floats | None:
    """Read ``1:30``, ``01:30:00`` or ``2 days 01:30:00`` as seconds; None if the cells are something else."""
    if not _all_match(cells, CLOCK):
        return None
    parts = pc.extract_regex(cells, CLOCK)
    total = np.zeros(len(cells))
    for name, size in (("days", 86_400), ("hours", 3600), ("minutes", 60), ("seconds", 1)):
        field = pc.struct_field(parts, name)
        total += size * _floats(pc.cast(pc.if_else(pc.equal(field, ""), "0", field), pa.float64()))
    return np.where(_floats(pc.equal(pc.struct_field(parts, "sign"), "-")), -total, total)


def _all_match(cells: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(cells, pattern)).as_py())


def _iso(cells: Any) -> Any:
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return pc.cast(cells, kind)
        except pa.ArrowInvalid:
            continue  # With a time zone, without one, or no date at all, such as 2020-13-45.
    return None


def _by_format(cells: Any, form: str) -> Any:
    text = pc.replace_substring_regex(cells, r"(\d)T(\d)", r"\1 \2")
    clocks = ("", " %H:%M", " %H:%M:%S")
    stamps = pc.coalesce(*(pc.strptime(text, form + clock, "us", error_is_null=True) for clock in clocks))
    return None if stamps.null_count else stamps


def _floats(column: Any) -> Floats:
    return np.array(pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
