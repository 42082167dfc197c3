"""Parquet and Feather files, read by Arrow."""

from pathlib import Path
from typing import Any

import numpy as np

from tamis.readers.table import Progress, ReadError, Request, Table, assign_roles
from tamis.readers.text import oriented
from tamis.sources.memory import check_room, file_size


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Read all columns that have a role."""
    import pyarrow as pa

    table = _open(path)
    names = [str(name) for name in table.column_names]
    text = [i for i, field in enumerate(table.schema) if not _is_numeric(field.type)]
    request = _with_index(request, table, names)
    roles = assign_roles(names, text, request)
    X = np.empty((table.num_rows, len(roles.features)), dtype=_common_dtype(table, roles.features))
    for place, column in enumerate(roles.features):
        X[:, place] = _numbers(table.column(column), pa)
        progress(place + 1, len(roles.features))
    sides = {i: table.column(i).to_pylist() for i in (roles.index, roles.label) if i is not None}
    return oriented(X, [names[i] for i in roles.features], names, roles, sides, request)


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


def _with_index(request: Request, table: Any, names: list[str]) -> Request:
    """Take the index that pandas wrote, if there is one column of it and no other was asked for."""
    import json
    from dataclasses import replace

    if request.index is not None:
        return request
    try:
        columns = json.loads((table.schema.metadata or {})[b"pandas"])["index_columns"]
    except (KeyError, ValueError, TypeError):
        return request
    found = [column for column in columns if isinstance(column, str) and column in names]
    return replace(request, index=found[0]) if len(found) == 1 and found[0] != request.labels else request


def _is_numeric(kind: Any) -> bool:
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)


def _common_dtype(table: Any, columns: list[int]) -> np.dtype:
    """Keep float32 where all columns are of it; everything else is float64."""
    kinds = {str(table.schema.field(column).type) for column in columns}
    return np.dtype(np.float32 if kinds == {"float"} else np.float64)


def _numbers(column: Any, pa: Any) -> np.ndarray:
    if pa.types.is_boolean(column.type) or pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if column.null_count and pa.types.is_integer(column.type):
        column = column.cast(pa.float64())
    if column.type == pa.null():
        raise ReadError("a column holds no values at all.")
    return column.to_numpy()
