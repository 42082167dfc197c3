"""Sheets of workbooks, read by calamine."""

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tamis.readers.arrow import frame_of
from tamis.readers.findings import ASSUMED, Finding, counted, shell_word
from tamis.readers.frame import table_of
from tamis.readers.lines import has_header
from tamis.readers.table import Progress, ReadError, Request, Table, listed


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Read one sheet; rows above the header that hold fewer cells are passed over."""
    from python_calamine import CalamineWorkbook

    workbook = CalamineWorkbook.from_path(str(path))
    name, findings = _sheet(workbook, request.sheet)
    rows = workbook.get_sheet_by_name(name).to_python(skip_empty_area=True)
    rows = [row for row in rows if any(cell != "" for cell in row)]
    start = _first_row(rows) if request.skip_rows is None else request.skip_rows
    if start and request.skip_rows is None:
        text = f"{counted(start, 'row')} above the header passed over, the first being {str(rows[0][0])[:40]!r}"
        findings.append(Finding(ASSUMED, text, "--skip-rows"))
    table = _arrow_table(rows[start:], request, findings)
    found = table_of(frame_of(table, request, progress), request)
    return _with(found, findings)


def _with(table: Table, findings: list[Finding]) -> Table:
    from dataclasses import replace

    return replace(table, report=replace(table.report, findings=(*findings, *table.report.findings)))


def _sheet(workbook: Any, wanted: str | None) -> tuple[str, list[Finding]]:
    """Choose the sheet: the one asked for, else the first that holds a table."""
    names = list(workbook.sheet_names)
    if wanted is not None:
        if wanted in names:
            return wanted, []
        raise ReadError(f"--sheet names {wanted!r}, which is not in the workbook; it has {listed(names)}.")
    full = [name for name in names if workbook.get_sheet_by_name(name).total_height > 1]
    if not full:
        raise ReadError("holds no sheet with a table.")
    if len(full) == 1:
        return full[0], []
    text = f"the sheet {full[0]!r} was read, the first of {len(full)}"
    return full[0], [Finding(ASSUMED, text, f"--sheet {shell_word(full[1])}")]


def _first_row(rows: list[list[Any]]) -> int:
    """Return how many rows come before the header: those with fewer than half of the cells that rows usually have."""
    filled = [sum(cell != "" for cell in row) for row in rows]
    usual = int(np.median(filled[len(filled) // 2 :])) if filled else 0
    start = 0
    while start < len(rows) - 1 and filled[start] <= usual // 2:
        start += 1
    return start


def _arrow_table(rows: list[list[Any]], request: Request, findings: list[Finding]) -> pa.Table:
    if not rows:
        raise ReadError("holds no rows.")
    header = request.header
    if header is None:
        header = has_header([[_text(cell) for cell in row] for row in rows[:20]], ".")
    body = rows[1:] if header else rows
    if not body:
        raise ReadError("has a header, but no rows.")
    if not header and request.header is None:
        findings.append(Finding(ASSUMED, "the first row holds numbers, so that there is no header", "--header"))
    names = [_text(cell).strip() for cell in rows[0]] if header else [f"feature_{i}" for i in range(len(rows[0]))]
    columns = [[row[place] for row in body] for place in range(len(names))]
    kept = [place for place, column in enumerate(columns) if names[place] or any(cell != "" for cell in column)]
    return pa.Table.from_arrays([column_of(columns[i]) for i in kept], names=[names[i] for i in kept])


def column_of(cells: list[Any]) -> Any:
    """Make an Arrow array of Python values: of one type if they have one, else of text."""
    present = [cell for cell in cells if cell is not None and cell != ""]
    kinds = {type(cell) for cell in present}
    values = [None if cell is None or cell == "" else cell for cell in cells]
    if kinds and kinds <= {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if len(kinds) == 1 and kinds <= {bool, datetime.date, datetime.datetime, datetime.timedelta, datetime.time}:
        return pa.array(values)
    if kinds == {datetime.date, datetime.datetime}:
        return pa.array([value and datetime.datetime.fromisoformat(value.isoformat()) for value in values])
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _text(cell: Any) -> str:
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)
