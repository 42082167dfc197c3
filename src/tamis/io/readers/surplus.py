"""Rows of files that are no samples: the header again, and totals of the other rows."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tamis.io.readers.kinds import is_numeric, is_text, plain_numbers
from tamis.io.readers.report import ASSUMED, Finding
from tamis.io.request import Request
from tamis.reprs import counted

TOTAL = re.compile(
    r"\W*(?:(?:grand|sub|overall|column|gesamt)?[ -]?(?:total(?:s|e|i|t)?|totaux|totaal|sums?|summe|summa)"
    r"|gesamt|insgesamt|somme|somma|suma|soma|total g[eé]n[eé]ral|total geral|toplam|razem|celkem|yhteensä|összesen"
    r"|итого|всего|сумма|合计|总计|合計|総計|합계)\W*(?:\(.*\))?",
    re.IGNORECASE,
)
"""What the first or last row of a table says if it holds totals."""


def samples_of(table: Any, names: Sequence[str], request: Request, mark: str = ".") -> tuple[Any, list[Finding]]:
    """Return the rows of an Arrow table that are samples, and what is to be told of the others."""
    findings: list[Finding] = []
    if (again := _names_again(table, names)).any():
        table = table.filter(pa.array(~again))
        told = f"{counted(int(again.sum()), 'row')} with the names of the header again passed over"
        findings = [Finding(ASSUMED, told)]
    # A grand total may follow a subtotal.
    for which in ("last", "last", "first") if not (request.keep_totals or request.transpose) else ():
        place, others = (-1, table.slice(0, table.num_rows - 1)) if which == "last" else (0, table.slice(1))
        if others.num_rows > 1 and (word := _word(table, place, others)) and _is_large(table, place, request, mark):
            text = f"the {which} row holds totals, as {word} and its numbers show, and was passed over"
            findings.append(Finding(ASSUMED, text, "--keep-totals"))
            table = others
    return table, findings


def _names_again(table: Any, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return which rows hold the names of the header."""
    again = np.ones(table.num_rows, dtype=bool)
    for column, name in zip(table.columns, names, strict=True):
        if not again.any() or not (is_numeric(column.type) or is_text(column.type)):
            return np.zeros_like(again)
        equal = pc.equal(pc.utf8_trim_whitespace(pc.cast(column, pa.string())), name)
        again &= pc.fill_null(equal, False).to_numpy(zero_copy_only=False)
    return again


def _word(table: Any, place: int, others: Any) -> str:
    """Return the word for totals that a row holds, if no other row has it in its place."""
    for column, rest in zip(table.columns, others.columns, strict=True):
        cell = column[place].as_py()
        if isinstance(cell, str) and TOTAL.fullmatch(cell) and cell not in pc.unique(rest).to_pylist():
            return repr(cell)
    return ""


def _is_large(table: Any, place: int, request: Request, mark: str) -> bool:
    """Return whether at least half of the numbers of a row are as large as any of their feature, as sums are."""
    large = []
    for column in table.columns:
        cells = pc.cast(column, pa.string()) if is_numeric(column.type) or is_text(column.type) else None
        values = None if cells is None else plain_numbers(cells, mark, request.missing_words)
        if values is not None and not np.isnan(values[place]):
            large.append(abs(values[place]) >= np.nanmax(np.abs(values)))
    return bool(2 * sum(large) >= len(large))
