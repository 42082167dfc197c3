"""Rows of text files and sheets that are no samples: the header again, and totals of the other rows."""

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tamis.io.readers.report import ASSUMED, Finding
from tamis.io.readers.table import Request
from tamis.reprs import counted

TOTAL = re.compile(
    r"\W*(?:(?:grand|sub|overall|column|gesamt)?[ -]?(?:total(?:s|e|i|t)?|totaux|totaal|sums?|summe|summa)"
    r"|gesamt|insgesamt|somme|somma|suma|soma|total g[eé]n[eé]ral|total geral|toplam|razem|celkem|yhteensä|összesen"
    r"|итого|всего|сумма|合计|总计|合計|総計|합계)\W*",
    re.IGNORECASE,
)
"""What the first or last row of a table says if it holds totals."""


def samples_of(table: Any, names: Sequence[str], request: Request) -> tuple[Any, list[Finding]]:
    """Return the rows of an Arrow table that are samples, and what is to be told of the others."""
    findings, again = [], pc.equal(pc.cast(table.column(0), pa.string()), names[0])
    for place, name in enumerate(names):
        again = pc.and_(again, pc.equal(pc.cast(table.column(place), pa.string()), name))
        if not (count := pc.sum(again).as_py()):
            break
    else:
        table = table.filter(pc.invert(pc.fill_null(again, False)))
        findings = [Finding(ASSUMED, f"{counted(count, 'row')} with the names of the header again passed over")]
    for which in ("last", "first") if not (request.keep_totals or request.transpose) else ():
        place, others = (-1, table.slice(0, table.num_rows - 1)) if which == "last" else (0, table.slice(1))
        if others.num_rows > 1 and (shown := _word(table, place, others)):
            text = f"the {which} row holds totals, as {shown} shows, and was passed over"
            findings.append(Finding(ASSUMED, text, "--keep-totals"))
            table = others
    return table, findings


def _word(table: Any, place: int, others: Any) -> str:
    """Return the word for totals that a row holds, if no other row has it in its place."""
    for column, rest in zip(table.columns, others.columns, strict=True):
        cell = column[place].as_py()
        if isinstance(cell, str) and TOTAL.fullmatch(cell) and not pc.any(pc.equal(rest, cell)).as_py():
            return repr(cell)
    return ""
