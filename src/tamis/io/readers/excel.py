"""Sheets of workbooks, read by calamine."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tamis.io.errors import TableError
from tamis.io.readers.arrow import cell_text, column_of, read_table
from tamis.io.readers.layout import find_header
from tamis.io.readers.report import ASSUMED, Finding, listed, shell_word
from tamis.io.readers.table import Progress, Request, Table
from tamis.reprs import counted


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Read one sheet; rows above the header that hold fewer cells are passed over."""
    from python_calamine import CalamineWorkbook

    workbook = CalamineWorkbook.from_path(str(path))
    name, findings = _sheet(workbook, request.sheet)
    rows = workbook.get_sheet_by_name(name).to_python(skip_empty_area=True)
    # Those to skip are counted as in the sheet, empty ones included.
    rows, start = [row for row in rows[request.skip_rows or 0 :] if any(cell != "" for cell in row)], 0
    if request.skip_rows is None and (start := _first_row(rows)):
        text = f"{counted(start, 'row')} above the header passed over, the first being {str(rows[0][0])[:40]!r}"
        findings.append(Finding(ASSUMED, text, "--skip-rows"))
    return read_table(_arrow_table(rows[start:], request, findings), request, progress, findings)


def _sheet(workbook: Any, wanted: str | None) -> tuple[str, list[Finding]]:
    """Choose the sheet: the one asked for, else the first that holds a table."""
    names = list(workbook.sheet_names)
    if wanted is not None and wanted in names:
        return wanted, []
    if wanted is not None:
        raise TableError(f"--sheet names {wanted!r}, which is not in the workbook; it has {listed(names)}.")
    if not (full := [name for name in names if workbook.get_sheet_by_name(name).total_height > 1]):
        raise TableError("holds no sheet with a table.")
    text = f"the sheet {full[0]!r} was read, the first of {len(full)}"
    return full[0], [Finding(ASSUMED, text, f"--sheet {shell_word(name)}") for name in full[1:2]]


def _first_row(rows: list[list[Any]]) -> int:
    """Return how many rows come before the header: those with fewer than half of the cells that rows usually have."""
    filled = [sum(cell != "" for cell in row) for row in rows]
    usual = int(np.median(filled[len(filled) // 2 :])) if filled else 0
    return next((start for start, count in enumerate(filled[:-1]) if count > usual // 2), max(0, len(rows) - 1))


def _arrow_table(rows: list[list[Any]], request: Request, findings: list[Finding]) -> Any:
    if not rows:
        raise TableError("holds no rows.")
    names, start, told = find_header([[cell_text(cell) for cell in row] for row in rows[:20]], ".", request)
    findings += told
    columns = {place: [row[place] for row in rows[start:]] for place in range(len(names))}
    kept = [place for place, cells in columns.items() if names[place] or any(cell != "" for cell in cells)]
    return pa.table([column_of(columns[place]) for place in kept], [names[place] for place in kept])
