"""Parquet and Feather files, and any other table of Arrow."""

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tamis.io.memory import check_room, file_size
from tamis.io.readers.frame import Frame, table_of
from tamis.io.readers.roles import assign_roles
from tamis.io.readers.table import Progress, Request, Table


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Read all columns that have a role."""
    table = _open(path)
    return table_of(frame_of(table, _with_index(request, table), progress), request)


def frame_of(table: Any, request: Request, progress: Progress) -> Frame:
    """Part the columns of an Arrow table into numbers and everything else."""
    names = [str(name) for name in table.column_names]
    first_is_text = bool(names) and not is_numeric(table.schema.field(0).type)
    roles = assign_roles(names, request, first_is_text)
    plain = [place for place in roles.features if is_numeric(table.schema.field(place).type)]
    plain = [place for place in plain if table.column(place).null_count < table.num_rows]
    matrix = np.empty((table.num_rows, len(plain)), dtype=_common_dtype(table, plain))
    for column, place in enumerate(plain):
        matrix[:, column] = _numbers(table.column(place))
        progress(column + 1, len(plain))
    rest = {*roles.sides, *(place for place in roles.features if place not in set(plain))}
    others = {place: _one_array(table.column(place)) for place in sorted(rest)}
    return Frame(roles, matrix, plain, others, roles.findings)


def _open(path: Path) -> Any:
    if path.suffix.lower() in (".feather", ".arrow"):
        from pyarrow import dataset, feather

        declared = dataset.dataset(path, format="feather")
        check_room(8.0 * declared.count_rows() * len(declared.schema), file_size(path), "the table")
        return feather.read_table(path, memory_map=False)
    from pyarrow import parquet

    # A path with "=" in it must not be read as a partition of a data set.
    file = parquet.ParquetFile(path)
    check_room(8.0 * file.metadata.num_rows * file.metadata.num_columns, file_size(path), "the table")
    return file.read()


def _with_index(request: Request, table: Any) -> Request:
    """Take the index that pandas wrote, if there is one column of it and no other was asked for."""
    if request.index is not None:
        return request
    try:
        columns = json.loads((table.schema.metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, ValueError, TypeError):
        return request
    found = [column for column in columns if isinstance(column, str) and column in table.column_names]
    return replace(request, index=found[0]) if len(found) == 1 and found[0] != request.labels else request


def is_numeric(kind: Any) -> bool:
    """Tell whether the values of an Arrow type are numbers."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _common_dtype(table: Any, columns: list[int]) -> np.dtype:
    """Keep float32 where all columns are of it; everything else is float64."""
    kinds = {str(table.schema.field(column).type) for column in columns}
    return np.dtype(np.float32 if kinds == {"float"} else np.float64)


def _numbers(column: Any) -> np.ndarray:
    if pa.types.is_decimal(column.type) or (column.null_count and pa.types.is_integer(column.type)):
        column = column.cast(pa.float64())
    return column.to_numpy()


def _one_array(column: Any) -> Any:
    found = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(found, pa.ChunkedArray):
        return found.chunk(0) if found.num_chunks else pa.array([], column.type)
    return found


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
    return pa.array([None if value is None else cell_text(value) for value in values], pa.string())


def cell_text(cell: Any) -> str:
    """Write a value of a cell as text; a whole number has no decimals."""
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)
