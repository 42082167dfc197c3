"""Numbers, dates and durations as people write them: 1,234.5 or 1.234,5, 45%, $1,234, (12), 3/4/2020, 1:30.

The cell of a number is brought to a core of digits and marks, whose shape tells which mark is the decimal one.
``74,224`` tells nothing: the rest of the file must, or the user. Dates become days since 1970, durations seconds.
"""

from collections.abc import Iterable
from contextlib import suppress
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tamis.io.request import OTHER_MARK

CURRENCY = r"(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY)"
ENGLISH_MONEY = r"^\s*[(+-]?\s*(?:[$£¥₹]|USD|GBP|JPY)|(?:[$£¥₹]|USD|GBP|JPY)\s*\)?$"
INFINITE = r"(?i)^[+-]?inf(?:inity)?$"
LIKE_NUMBERS = rf"^(?:\PL|[eE]|{CURRENCY})*\d(?:\PL|[eE]|{CURRENCY})*$|{INFINITE}"
"""What may be a number: digits without letters, but for those of exponents and currencies."""

WITH_UNIT = r"^(?P<number>[+\-−]?\d[\d.,]*)(?P<unit> ?[\pLµ°][\pL\d/°²³^]*)$"
"""A number with its unit, such as 170 cm."""

EXPONENT = r"^ ?[eE]\d+$"

WHOLE = r"^[+-]?\d+(?:[eE][+-]?\d+)?$"


def _shapes(decimal: str, other: str) -> dict[str, str]:
    """Return patterns of numbers with a decimal mark, whose thousands may be parted by the other mark."""
    return {
        "clear": rf"^[+-]?(?:\d*{decimal}\d+|\d+{decimal})(?:[eE][+-]?\d+)?$",
        "open": rf"^[+-]?[1-9]\d{{0,2}}{decimal}\d{{3}}$",
        "grouped": rf"^[+-]?[1-9]\d{{0,2}}(?:(?:{other}\d{{3}})+{decimal}\d*|(?:{other}\d{{3}}){{2,}})$",
    }


SHAPES = {".": _shapes(r"\.", ","), ",": _shapes(",", r"\.")}
"""By decimal mark: clear unless the same cell is open, where the mark may part thousands; grouped if both occur."""

TIME = r"(?:[ T]\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp][Mm])?)?"
ISO = r"^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?$"
FORMATS = ("%Y/%m/%d", "%d.%m.%Y", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y")
"""Dates that can be read in one way only; %b also reads whole names of months."""

YEAR = r"(?:^|\D)\d{4}(?:\D|$)"
SHORT = rf"^\d{{1,2}}(?:\.\d{{1,2}}\.| \pL{{3,9}} |-\pL{{3,9}}-)\d{{2}}{TIME}$"
SHORT_FORMATS = ("%d.%m.%y", "%d %b %y", "%d-%b-%y")
"""Dates whose years have two digits: 69 is 1969, and 68 is 2068."""

SWAPPABLE = rf"^(?P<first>\d{{1,2}})(?P<mark>[/-])(?P<second>\d{{1,2}})[/-](?P<year>\d{{4}}|\d{{2}}){TIME}$"
HOURS = r"(?P<hours>\d{1,4}):(?P<minutes>\d{2})(?::(?P<seconds>\d{2}(?:\.\d+)?))?"
CLOCK = rf"^(?P<sign>-?)(?:(?P<days>\d+) days?,? ?)?(?:{HOURS})?$"

Mask = NDArray[np.bool_]


class Core(NamedTuple):
    """Cells without signs of money, percent and brackets, and what those said."""

    text: Any
    spaced: Mask  # thousands were parted by spaces or apostrophes, so that any other mark is the decimal one
    negative: Mask  # the cell stands in brackets
    percent: Mask
    english: Mask  # it has a currency of the English-speaking world
    n_currencies: int

    def has(self, mark: str, shape: str) -> Mask:
        """Return which cells have a shape with a decimal mark; one whose thousands are spaced is not open."""
        found = _mask(self.text, SHAPES[mark][shape])
        return found & ~self.spaced if shape == "open" else found

    def shows(self, mark: str) -> Mask:
        """Return which cells show a decimal mark beyond doubt."""
        return (self.has(mark, "clear") & ~self.has(mark, "open")) | self.has(mark, "grouped")

    @property
    def decimals(self) -> set[str]:
        """The decimal marks that some cells show beyond doubt."""
        english = bool((self.has(",", "open") & self.english).any())
        return {mark for mark in SHAPES if self.shows(mark).any() or (mark == "." and english)}


class Numbers(NamedTuple):
    """What a feature's cells say as numbers."""

    share: float  # of the cells that are written as numbers, whatever their marks mean
    values: NDArray[np.float64] | None = None  # None if not all cells are numbers or the marks could be either
    undecided: str = ""  # a cell whose mark could be either
    contrary: tuple[str, ...] = ()  # a cell with a decimal point and one with a decimal comma, if both occur
    strange: tuple[str, ...] = ()  # some of the cells that are no numbers


def distinct(cells: Any) -> tuple[Any, NDArray[np.intp]]:
    """Return the different cells of a column, and which of them each cell is; -1 if it is missing."""
    coded = cells.dictionary_encode()
    return coded.dictionary, pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)


def spread(values: NDArray[np.float64], places: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the values of all cells from those of the different ones, NaN for missing cells."""
    return np.append(values, np.nan)[places]


def read_numbers(cells: Any, decimal: str | None, thousands: str | None = None, asked: bool = False) -> Numbers:
    """Read the cells of a feature, trimmed and null where missing, as numbers.

    ``decimal`` is the decimal mark of the file, for cells that do not tell it themselves. If the user ``asked`` for it,
    the cells' own evidence does not count. ``thousands`` is what the user says parts thousands.
    """
    found, places = distinct(cells)
    units = pc.unique(pc.struct_field(pc.extract_regex(found, WITH_UNIT), "unit"))
    if len(found) > 1 and len(units) == 1 and units[0].is_valid and not _mask(units, EXPONENT).any():
        found = pc.struct_field(pc.extract_regex(found, WITH_UNIT), "number")
    if not len(found) or not _mask(found, LIKE_NUMBERS).any():
        return Numbers(0.0)
    core = core_of(found)
    fits = shaped(core)
    if not fits.all():
        return _strange(fits, found, places)
    if core.n_currencies > 1 or 0 < core.percent.sum() < len(found):
        return Numbers(1.0, strange=_some(found, core.percent if core.percent.any() else fits))
    shown = set() if asked else core.decimals
    if len(shown) == 2:
        return Numbers(1.0, contrary=tuple(_some(found, core.shows(mark))[0] for mark in SHAPES))
    mark = next(iter(shown), decimal)
    undecided = core.has(",", "open") | core.has(".", "open")
    if mark is None and undecided.any():
        return Numbers(1.0, undecided=_some(found, undecided)[0])
    return _with_mark(core, mark or ".", thousands, found, places)


def core_of(cells: Any) -> Core:
    """Take cells apart, which are trimmed and not missing."""
    text = pc.replace_substring_regex(cells, "[\u00a0\u2007\u2009\u202f]", " ")
    english = _mask(text, ENGLISH_MONEY)
    signs = pc.struct_field(pc.extract_regex(text, rf"(?P<sign>{CURRENCY})"), "sign")
    text = pc.replace_substring_regex(text, rf"^([(+\-−–]?)\s*{CURRENCY}\s*|\s*{CURRENCY}(\)?)$", r"\1\2")
    negative = _mask(text, r"^\([^()]+\)$")
    text = pc.replace_substring_regex(text, r"^\(([^()]+)\)$", r"\1")
    percent = _mask(text, r"\d\s*%$")
    text = pc.replace_substring_regex(text, r"(\d)\s*%$", r"\1")
    text = pc.replace_substring_regex(text, "^[\u2212\u2012\u2013]\\s?", "-")
    text = pc.replace_substring_regex(text, r"^(\d[\d.,' ]*[.,]\d+)-$", r"-\1")
    spaced = _mask(text, r"^[+-]?[1-9]\d{0,2}(?:[ '’]\d{3})+(?:[.,]\d+)?$")
    text = pc.if_else(pa.array(spaced), pc.replace_substring_regex(text, "[ '’]", ""), text)
    return Core(text, spaced, negative, percent, english, len(pc.unique(signs.drop_null())))


def shaped(core: Core) -> Mask:
    """Return which cells are written as numbers, whatever their marks mean."""
    patterns = [INFINITE, WHOLE, *(pattern for shapes in SHAPES.values() for pattern in shapes.values())]
    return np.asarray(np.any([_mask(core.text, pattern) for pattern in patterns], axis=0))


def marks_in(cells: Iterable[str]) -> set[str]:
    """Return the decimal marks that single cells, such as those of the first lines of a file, show beyond doubt."""
    marked = [cell.strip() for cell in cells if "." in cell or "," in cell]
    return core_of(pa.array(marked, pa.string())).decimals


def marks_of_features(columns: Iterable[Any]) -> set[str]:
    """Return the decimal marks that some features of text show beyond doubt, of which all cells are numbers."""
    shown: set[str] = set()
    for column in columns:
        found = distinct(column)[0]
        # Most text fails on its first cells.
        if len(shown) < 2 and all(len(part) and shaped(core_of(part)).all() for part in (found.slice(0, 1000), found)):
            shown |= core_of(found).decimals
    return shown


def _with_mark(core: Core, mark: str, thousands: str | None, found: Any, places: NDArray[np.intp]) -> Numbers:
    """Read cells as numbers with a decimal mark."""
    other = OTHER_MARK[mark]
    fits = _mask(core.text, INFINITE) | _mask(core.text, WHOLE) | core.has(mark, "clear")
    if thousands is None or thousands == other:
        fits |= core.has(mark, "grouped") | core.has(other, "open")
    if not fits.all():
        return _strange(fits, found, places)
    plain = pc.replace_substring(pc.replace_substring(core.text, other, ""), mark, ".")
    values = pc.cast(pc.replace_substring_regex(plain, r"^\+", ""), pa.float64()).to_numpy(zero_copy_only=False)
    signed = np.where(core.negative, -values, values) / np.where(core.percent, 100, 1)
    return Numbers(1.0, spread(signed, places))


def _strange(fits: Mask, found: Any, places: NDArray[np.intp]) -> Numbers:
    return Numbers(float(fits[places[places >= 0]].mean()), strange=_some(found, ~fits))


def _mask(text: Any, pattern: str) -> Mask:
    return np.asarray(pc.match_substring_regex(text, pattern).to_numpy(zero_copy_only=False), dtype=bool)


def _some(cells: Any, mask: Mask, limit: int = 4) -> tuple[str, ...]:
    return tuple(cells.filter(pa.array(mask)).slice(0, limit).to_pylist())


def read_dates(cells: Any, day_first: bool | None) -> tuple[bool, NDArray[np.float64] | None]:
    """Return whether trimmed cells are dates, and their days since 1970; None if their parts could be either.

    ``day_first`` says whether ``3/4/2020`` is in April, if no cell tells. Of ``21/4/20`` the year could come first.
    """
    cells = pc.replace_substring_regex(cells, r"(\d) ?(?:UTC|GMT)$", r"\1Z")
    forms: tuple[str, ...] = FORMATS if _mask(cells, YEAR).all() else SHORT_FORMATS if _mask(cells, SHORT).all() else ()
    if _mask(cells, SWAPPABLE).all():
        firsts, mark, seconds, years = pc.extract_regex(cells, SWAPPABLE).flatten()
        first, second, year = (pc.max(pc.cast(part, pa.int64())).as_py() for part in (firsts, seconds, years))
        if day_first is None and second <= 12 and (first <= 12 or year <= 31):
            return True, None
        order = "dm" if (day_first if max(first, second) <= 12 else first > 12) else "md"
        # Of years, some of two and some of four digits, the former would be read as those of antiquity.
        same = len(pc.unique(pc.utf8_length(years))) == 1
        forms = (str(mark[0]).join(f"%{part}" for part in f"{order}{'y' if year < 100 else 'Y'}"),) if same else ()
    found = [_iso(cells)] if _mask(cells, ISO).all() else (_by_format(cells, form) for form in forms)
    days = next((days_of(stamps) for stamps in found if stamps is not None), None)
    return days is not None, days


def days_of(column: Any) -> NDArray[np.float64]:
    """Return an Arrow array of dates or timestamps as days since 1970, NaN where null."""
    stamps = pc.cast(column, pa.timestamp("us", getattr(column.type, "tz", None)), safe=False)
    return _floats(pc.cast(stamps, pa.int64())) / 86_400e6


def seconds_of(column: Any) -> NDArray[np.float64]:
    """Return an Arrow array of durations or times of day as seconds, NaN where null."""
    kind = pa.time64("us") if pa.types.is_time(column.type) else pa.duration("us")
    return _floats(pc.cast(pc.cast(column, kind, safe=False), pa.int64())) / 1e6


def read_durations(cells: Any) -> NDArray[np.float64] | None:
    """Read ``1:30``, ``01:30:00`` or ``2 days 01:30:00`` as seconds; None if the cells are something else."""
    if not _mask(cells, CLOCK).all():
        return None
    parts = pc.extract_regex(cells, CLOCK)
    total = np.zeros(len(cells))
    for name, size in (("days", 86_400), ("hours", 3600), ("minutes", 60), ("seconds", 1)):
        field = pc.struct_field(parts, name)
        total += size * _floats(pc.cast(pc.if_else(pc.equal(field, ""), "0", field), pa.float64()))
    return np.where(_floats(pc.equal(pc.struct_field(parts, "sign"), "-")), -total, total)


def _iso(cells: Any) -> Any:
    for unit, zone in product(("us", "ns"), (None, "UTC")):
        # With a time zone, without one, or no date at all, such as 2020-13-45.
        with suppress(pa.ArrowInvalid):
            return pc.cast(cells, pa.timestamp(unit, zone))
    return None


def _by_format(cells: Any, form: str) -> Any:
    text = pc.replace_substring_regex(cells, r"(\d)T(\d)", r"\1 \2")
    clocks = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
    stamps = pc.coalesce(*(pc.strptime(text, form + clock, "us", error_is_null=True) for clock in clocks))
    return None if stamps.null_count else stamps


def _floats(column: Any) -> NDArray[np.float64]:
    return np.array(pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
