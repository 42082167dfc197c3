"""Parquet and Feather files, and any other table of Arrow."""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tamis.io.memory import check_room
from tamis.io.readers.frame import Frame, table_of
from tamis.io.readers.kinds import is_numeric
from tamis.io.readers.report import LEFT_OUT, Finding, shell_word
from tamis.io.readers.surplus import samples_of
from tamis.io.readers.table import Progress, Request, Roles, Table, assign_roles
from tamis.io.sources.parquet import pandas_columns


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Read all columns that have a role."""
    table = _open(path)
    request, findings = as_pandas_meant(request, table.schema)
    return read_table(table, request, progress, findings)


def read_table(table: Any, request: Request, progress: Progress, findings: Sequence[Finding] = ()) -> Table:
    """Make a table of an Arrow table; findings are what is to be told of the file."""
    names = [str(name) for name in table.column_names]
    table, surplus = samples_of(table, names, request)
    first_is_text = bool(names) and not is_numeric(table.schema.field(0).type)
    roles = assign_roles(names, request, first_is_text)
    frame = frame_of(table, roles, progress)._replace(findings=(*findings, *surplus, *roles.findings))
    return table_of(frame, request)


def frame_of(table: Any, roles: Roles, progress: Progress) -> Frame:
    """Part the columns of an Arrow table into numbers and everything else."""
    columns = {place: table.column(place) for place in roles.features}
    plain = [i for i, column in columns.items() if is_numeric(column.type) and column.null_count < len(column)]
    # float32 stays where all columns are of it; everything else becomes float64.
    single = {str(columns[place].type) for place in plain} == {"float"}
    matrix = np.empty((table.num_rows, len(plain)), dtype=np.float32 if single else np.float64)
    for column, place in enumerate(plain):
        matrix[:, column] = columns[place].cast(pa.float32() if single else pa.float64(), safe=False).to_numpy()
        progress(column + 1, len(plain))
    rest = {*roles.sides, *roles.features} - set(plain)
    others = {place: table.column(place).combine_chunks() for place in sorted(rest)}
    return Frame(roles, matrix, plain, others)


def _open(path: Path) -> Any:
    if path.suffix.lower() in (".feather", ".arrow"):
        from pyarrow import dataset, feather

        declared = dataset.dataset(path, format="feather")
        check_room(8.0 * declared.count_rows() * len(declared.schema), path.stat().st_size, "the table")
        return feather.read_table(path, memory_map=False)
    from pyarrow import parquet

    # A path with "=" in it must not be read as a partition of a data set.
    file = parquet.ParquetFile(path)
    check_room(8.0 * file.metadata.num_rows * file.metadata.num_columns, path.stat().st_size, "the table")
    return file.read()


def as_pandas_meant(request: Request, schema: Any) -> tuple[Request, list[Finding]]:
    """Take the categories that pandas wrote for such, and its index for the sample names.

    An index of several columns is left out, and one beside another that was asked for.
    """
    own = (request.index, request.labels, *request.keep, *request.drop)
    index, categories = pandas_columns(schema)
    found = tuple(name for name in index if name not in own)
    request = replace(request, categorical=(*request.categorical, *categories))
    if len(found) == 1 and request.index is None:
        return replace(request, index=found[0]), []
    finding = Finding(LEFT_OUT, "part of the index that pandas wrote", f"--keep {shell_word(*found)}", found)
    return replace(request, drop=(*request.drop, *found)), [finding] if found and not request.only else []


def column_of(cells: list[Any]) -> Any:
    """Make an Arrow array of Python values: of one type if they have one, else of text."""
    values = [None if cell is None or cell == "" else cell for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if len(kinds) == 1 and kinds <= {bool, datetime.date, datetime.datetime, datetime.timedelta, datetime.time}:
        return pa.array(values)
    if kinds == {datetime.date, datetime.datetime}:
        return pa.array([value and datetime.datetime.fromisoformat(value.isoformat()) for value in values])
    return pa.array([None if value is None else cell_text(value) for value in values], pa.string())


def cell_text(cell: Any) -> str:
    """Write a value of a cell as text; a whole number has no decimals."""
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)
