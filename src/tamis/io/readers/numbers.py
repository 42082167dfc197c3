"""Numbers as people write them: 1,234.5 or 1.234,5, 45%, $1,234, (12), 1 234; marks that could be either are asked for.

A cell is brought to a core of digits and marks, whose shape tells which mark is the decimal one. ``74,224`` tells
nothing: the rest of the file must, or the user.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

CURRENCY = r"(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY)"
ENGLISH_MONEY = r"^\s*[(+-]?\s*(?:[$£¥₹]|USD|GBP|JPY)|(?:[$£¥₹]|USD|GBP|JPY)\s*\)?$"
INFINITE = r"(?i)^[+-]?inf(?:inity)?$"
LIKE_NUMBERS = rf"^(?:\PL|[eE]|{CURRENCY})*\d(?:\PL|[eE]|{CURRENCY})*$|{INFINITE}"
"""What may be a number: digits without letters, but for those of exponents and currencies."""

WHOLE = r"^[+-]?\d+(?:[eE][+-]?\d+)?$"


def _shapes(decimal: str, other: str) -> dict[str, str]:
    """Return patterns of numbers whose decimal mark is the one, and whose thousands may be parted by the other."""
    return {
        "clear": rf"^[+-]?(?:\d*{decimal}\d+|\d+{decimal})(?:[eE][+-]?\d+)?$",
        "open": rf"^[+-]?[1-9]\d{{0,2}}{decimal}\d{{3}}$",
        "grouped": rf"^[+-]?[1-9]\d{{0,2}}(?:(?:{other}\d{{3}})+{decimal}\d*|(?:{other}\d{{3}}){{2,}})$",
    }


SHAPES = {".": _shapes(r"\.", ","), ",": _shapes(",", r"\.")}
"""By decimal mark: clear unless the same cell is open, where the mark may part thousands; grouped if both occur."""


@dataclass(frozen=True)
class Core:
    """Cells without signs of money, percent and brackets, and what those said.

    Attributes
    ----------
    text : pyarrow array of str
        What is left: sign, digits and marks; spaces and apostrophes between thousands are gone.
    spaced : ndarray of bool
        Where thousands were parted by spaces or apostrophes, so that any other mark is the decimal one.
    negative, percent, english : ndarray of bool
        Where the cell stands in brackets, ends with a percent sign, or has a currency of the English-speaking world.
    currencies : int
        How many different currencies occur.
    """

    text: Any
    spaced: NDArray[np.bool_]
    negative: NDArray[np.bool_]
    percent: NDArray[np.bool_]
    english: NDArray[np.bool_]
    currencies: int


@dataclass(frozen=True)
class Numbers:
    """What a feature's cells say as numbers.

    Attributes
    ----------
    share : float
        Share of the cells that are written as numbers, whatever their marks mean.
    values : ndarray or None
        The numbers, NaN for missing cells; None if not all cells are numbers or the marks could be either.
    undecided : str
        A cell whose mark could be either; empty if there is none.
    contrary : tuple of str
        A cell with a decimal point and one with a decimal comma, if both occur.
    strange : tuple of str
        Cells that are no numbers, each once, at most a few.
    shaped : ndarray
        For every different cell, 1 if it is written as a number and else 0.
    """

    share: float
    values: NDArray[np.float64] | None = None
    undecided: str = ""
    contrary: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    shaped: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), repr=False)


def core_of(cells: Any) -> Core:
    """Take the cells apart; they are trimmed, and null where missing."""
    text = pc.replace_substring_regex(cells, "[\u00a0\u2007\u2009\u202f]", " ")
    english = _mask(text, ENGLISH_MONEY)
    currencies = _count_currencies(text)
    text = pc.replace_substring_regex(text, rf"^([(+\-−–]?)\s*{CURRENCY}\s*|\s*{CURRENCY}(\)?)$", r"\1\2")
    negative = _mask(text, r"^\([^()]+\)$")
    text = pc.replace_substring_regex(text, r"^\(([^()]+)\)$", r"\1")
    percent = _mask(text, r"\d\s*%$")
    text = pc.replace_substring_regex(text, r"(\d)\s*%$", r"\1")
    text = pc.replace_substring_regex(text, "^[\u2212\u2012\u2013]\\s?", "-")
    spaced = _mask(text, r"^[+-]?[1-9]\d{0,2}(?:[ '’]\d{3})+(?:[.,]\d+)?$")
    text = pc.if_else(pa.array(spaced), pc.replace_substring_regex(text, "[ '’]", ""), text)
    return Core(text, spaced, negative, percent, english, currencies)


def evidence(core: Core) -> set[str]:
    """Return the decimal marks that some cells show beyond doubt."""
    found = set()
    for mark, shapes in SHAPES.items():
        clear = _mask(core.text, shapes["clear"])
        undecided = _mask(core.text, shapes["open"]) & ~core.spaced
        if (clear & ~undecided).any() or _mask(core.text, shapes["grouped"]).any():
            found.add(mark)
    if (_mask(core.text, SHAPES[","]["open"]) & core.english).any():
        found.add(".")
    return found


def distinct(cells: Any) -> tuple[Any, NDArray[np.intp]]:
    """Return the different cells of a column, and which of them each cell is; -1 if it is missing."""
    coded = cells.dictionary_encode()
    return coded.dictionary, pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)


def spread(values: NDArray[np.float64], places: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the values of all cells from those of the different ones, NaN for missing cells."""
    return np.append(values, np.nan)[places]


def decimals_shown(cells: Any) -> set[str]:
    """Return the decimal marks that the cells of a feature show beyond doubt, if all of them are numbers."""
    found = distinct(cells)[0]
    few = found.slice(0, 1000)
    if not len(few) or _read_distinct(few, ".").share < 1 or _read_distinct(found, ".").share < 1:
        return set()
    return evidence(core_of(found))


def read_numbers(cells: Any, decimal: str | None, thousands: str | None = None, asked: bool = False) -> Numbers:
    """Read the cells of a feature as numbers.

    Parameters
    ----------
    cells : pyarrow array of str
        Trimmed, null where missing.
    decimal : {".", ","} or None
        The decimal mark of the file, for cells that do not tell it themselves; None if that is not known.
    thousands : str or None
        What the user says parts thousands.
    asked : bool, default=False
        Whether the user named the decimal mark; then the cells' own evidence does not count.

    """
    found, places = distinct(cells)
    numbers = _read_distinct(found, decimal, thousands, asked)
    if numbers.values is not None:
        return replace(numbers, values=spread(numbers.values, places))
    return replace(numbers, share=float(spread(numbers.shaped, places)[places >= 0].mean()) if len(found) else 0.0)


def _read_distinct(cells: Any, decimal: str | None, thousands: str | None = None, asked: bool = False) -> Numbers:
    if not _mask(cells, LIKE_NUMBERS).any():
        return Numbers(0.0, shaped=np.zeros(len(cells)))
    core = core_of(cells)
    present = _present(cells)
    infinite = _mask(core.text, INFINITE)
    shaped = infinite | _mask(core.text, WHOLE)
    for shapes in SHAPES.values():
        for pattern in shapes.values():
            shaped |= _mask(core.text, pattern)
    found = Numbers(float(shaped[present].mean()), shaped=shaped.astype(np.float64))
    if found.share < 1:
        return replace(found, strange=_strange(cells, present & ~shaped))
    if core.currencies > 1 or (core.percent.any() and (core.percent != present).any()):
        return replace(found, strange=_strange(cells, present))
    shown = set() if asked else evidence(core)
    if len(shown) == 2:
        return replace(found, contrary=tuple(_example(cells, core, mark) for mark in ".,"))
    mark = next(iter(shown), decimal)
    undecided = (_mask(core.text, SHAPES[","]["open"]) | _mask(core.text, SHAPES["."]["open"])) & ~core.spaced
    if mark is None and undecided.any():
        return replace(found, undecided=cells[int(undecided.argmax())].as_py())
    return _converted(cells, core, present, infinite, mark or ".", thousands)


def _converted(
    cells: Any, core: Core, present: NDArray[np.bool_], infinite: NDArray[np.bool_], mark: str, thousands: str | None
) -> Numbers:
    """Turn cores into numbers; those that do not fit the decimal mark are no numbers."""
    other = "," if mark == "." else "."
    shapes = SHAPES[mark]
    grouped = _mask(core.text, shapes["grouped"]) | _mask(core.text, SHAPES[other]["open"]) & ~core.spaced
    if thousands is not None and thousands != other:
        grouped &= False
    fits = infinite | grouped | _mask(core.text, WHOLE) | _mask(core.text, shapes["clear"])
    if not fits[present].all():
        strange = _strange(cells, present & ~fits)
        return Numbers(float(fits[present].mean()), strange=strange, shaped=fits.astype(np.float64))
    plain = pc.replace_substring(core.text, other, "")
    plain = pc.replace_substring_regex(pc.replace_substring(plain, mark, "."), r"^\+", "")
    values = np.array(pc.cast(plain, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    values[core.negative] *= -1
    return Numbers(1.0, np.where(core.percent, values / 100, values))


def plain_number(pattern_mark: str = ".") -> str:
    """Return the pattern of numbers that Arrow reads by itself with a decimal mark."""
    mark = rf"\{pattern_mark}"
    return rf"^[ \t]*-?(?:\d+{mark}?\d*|{mark}\d+)(?:[eE][+-]?\d+)?[ \t]*$"


def written(value: float) -> str:
    """Write a number shortly, for an example."""
    return f"{value:.10g}"


def _present(cells: Any) -> NDArray[np.bool_]:
    return pc.is_valid(cells).to_numpy(zero_copy_only=False).astype(bool)


def _mask(text: Any, pattern: str) -> NDArray[np.bool_]:
    found = pc.fill_null(pc.match_substring_regex(text, pattern), False)
    return found.to_numpy(zero_copy_only=False).astype(bool)


def _strange(cells: Any, mask: NDArray[np.bool_], limit: int = 4) -> tuple[str, ...]:
    return tuple(pc.unique(cells.filter(pa.array(mask))).slice(0, limit).to_pylist())


def _count_currencies(text: Any) -> int:
    found = pc.extract_regex(text, rf"(?P<sign>{CURRENCY})")
    return len(pc.unique(pc.drop_null(pc.struct_field(found, "sign"))))


def _example(cells: Any, core: Core, mark: str) -> str:
    shapes = SHAPES[mark]
    clear = (_mask(core.text, shapes["clear"]) & ~_mask(core.text, shapes["open"])) | _mask(
        core.text, shapes["grouped"]
    )
    return cells[int(clear.argmax())].as_py()
