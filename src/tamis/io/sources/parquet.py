"""Parquet: one file, a folder of parts or a ``pyarrow.dataset``, read by row groups."""

import os
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.extras import require
from tamis.io.errors import TableError, reading
from tamis.io.memory import check_room
from tamis.io.sources.source import Paths, TableSource, pieces


class ParquetParts(TableSource):
    """The numeric features of one or several Parquet files with equal columns; by default all, which must be numbers.

    Rows of a group are read in their order, so that a group larger than memory is never held.
    """

    def __init__(self, paths: Paths, columns: Sequence[str] | None = None, place: str = ""):
        require("Reading Parquet", "pyarrow")
        files = {os.fspath(path): _metadata(path) for path in paths}
        first = next(iter(files.values())).schema.to_arrow_schema()
        index = pandas_columns(first)[0]
        self._columns = [name for name in first.names if name not in index] if columns is None else list(columns)
        for path, metadata in files.items():
            _check_part(path, metadata.schema.to_arrow_schema(), first, self._columns)
        self._groups = [(path, number) for path in files for number in range(files[path].num_row_groups)]
        sizes = [files[path].row_group(number).num_rows for path, number in self._groups]
        self._borders = np.cumsum([0, *sizes])
        shape = (int(self._borders[-1]), len(self._columns))
        check_room(8.0 * shape[0] * shape[1], sum(map(os.path.getsize, files)), "the table", in_pieces=True)
        super().__init__(place or next(iter(files)), shape, self._columns, 8 * shape[1], list(files))
        self._open: tuple[int, int, Iterator[Any]] = (-1, 0, iter(()))

    def runs(self) -> list[NDArray[np.intp]]:
        """Return the blocks of every row group."""
        edges = zip(self._borders[:-1], self._borders[1:], strict=True)
        return [self.borders(int(start), int(stop)) for start, stop in edges if start < stop]

    def _read(self, start: int, stop: int) -> Any:
        found = (self._rows_of(*piece) for piece in pieces(self._borders, start, stop))
        return np.concatenate([rows for parts in found for rows in parts])

    def _rows_of(self, group: int, start: int, stop: int) -> list[NDArray[Any]]:
        """Go on in the open row group if the rows follow those read last; else begin it anew."""
        if self._open[0] != group or self._open[1] > start:
            self._open = (group, int(self._borders[group]), self._batches(group))
        _, place, batches = self._open
        found: list[NDArray[Any]] = [np.empty((0, self.shape[1]), np.float32)]
        while place < stop and (batch := next(batches, None)) is not None:
            end = place + batch.num_rows
            if end > stop:
                batches = chain([batch.slice(stop - place)], batches)
                end = stop
            if end > start:
                found.append(_numbers(batch.slice(max(0, start - place), end - max(start, place))))
            place = end
        self._open = (group, place, batches)
        return found

    def _batches(self, group: int) -> Iterator[Any]:
        from pyarrow import parquet

        path, number = self._groups[group]
        step = int(np.diff(self.borders(0, self.shape[0])[:2])[0])
        # Without pre-buffering, the pages of a group are read as they are needed.
        file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**16)
        return iter(file.iter_batches(step, row_groups=[number], columns=self._columns))


def _metadata(path: str | os.PathLike[str]) -> Any:
    from pyarrow import parquet

    with reading(path, "cannot be read as Parquet"):
        return parquet.read_metadata(os.fspath(path))


def _numbers(batch: Any) -> NDArray[Any]:
    kind = "float32" if all(str(column.type) == "float" for column in batch.columns) else "float64"
    # Features lie one after the other in the file, too.
    table = np.empty((batch.num_columns, batch.num_rows), kind)
    for values, column in zip(table, batch.columns, strict=True):
        # Missing values become NaN, which is reported with its place like any other.
        values[:] = column.cast(kind).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(table.T)


def _check_part(path: str, schema: Any, first: Any, columns: list[str]) -> None:
    if schema.names != first.names:
        pairs = zip_longest(schema.names, first.names, fillvalue="nothing")
        fault = "has {!r} where the first part has {!r}".format(*next(pair for pair in pairs if pair[0] != pair[1]))
        raise TableError(f"{path}: {fault}; all parts of a table need the same features in the same order.")
    for name in columns:
        if schema.get_field_index(name) < 0:
            raise TableError(f"{path}: the name {name!r} occurs more than once; rename one of the features.")
        if not is_number(schema.field(name).type):
            raise TableError(f"{path}: the feature {name!r} holds {schema.field(name).type}, not numbers.")


def pandas_columns(schema: Any) -> tuple[list[str], list[str]]:
    """Return which columns hold the index of the data frame that pandas wrote, and which its categories."""
    try:
        found = schema.pandas_metadata
        kinds = [c["field_name"] for c in found["columns"] if c["pandas_type"] == "categorical"]
        return [n for n in found["index_columns"] if n in schema.names], [n for n in kinds if n in schema.names]
    except (KeyError, ValueError, TypeError):
        return [], []


def is_number(kind: Any) -> bool:
    """Return whether an Arrow type is one of real numbers."""
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def parquet_files(path: Path) -> list[Path]:
    """Return the parts of a folder in the order of their names, or the file itself."""
    if not path.is_dir():
        return [path]
    parts = sorted(part for part in path.rglob("*.parquet") if not part.name.startswith((".", "_")))
    if not parts:
        raise TableError(f"{path}: holds no .parquet files.")
    return parts
