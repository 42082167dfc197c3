"""Which mark is the decimal one: as the user says, as cells show beyond doubt, or asked for if they do not."""

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tamis.io.readers.kinds import CODE, trimmed
from tamis.io.readers.numbers import core_of, distinct, shaped
from tamis.io.readers.table import Request


def asked_decimal(request: Request) -> str | None:
    """Return the decimal mark that the user named, or that follows from the thousands mark."""
    return request.decimal or {",": ".", ".": ","}.get(request.thousands or "")


def other_mark(mark: str) -> str:
    """Return the mark that may part thousands if ``mark`` is the decimal one."""
    return "," if mark == "." else "."


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


def plain_numbers(column: Any, mark: str, missing: Collection[str]) -> NDArray[np.float64] | None:
    """Return a column of text as numbers, NaN where missing; None unless all cells are plain numbers with the mark."""
    found = _cast(column, mark)
    if found is None:
        found = _cast(trimmed(column, missing), mark)
    if found is None or found.null_count == len(found):
        return None
    values: NDArray[np.float64] = found.to_numpy()
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
