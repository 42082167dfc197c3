"""Parquet: one file, a folder of parts or a ``pyarrow.dataset``, read by row groups."""

import os
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.extras import require
from tamis.io.errors import TableError, reading
from tamis.io.memory import check_expansion
from tamis.io.sources.source import TableSource


class ParquetParts(TableSource):
    """The numeric columns of one or several Parquet files with equal columns.

    Rows of a group are read in their order, so that a group larger than memory is never held.

    Parameters
    ----------
    paths : sequence of path
        The parts, in the order of their rows.
    columns : sequence of str, optional
        The columns to read; by default all, which must be numbers.
    place : str, optional
        What messages call the table.
    """

    def __init__(self, paths: Sequence[str | os.PathLike[str]], columns: Sequence[str] | None = None, place: str = ""):
        require("Reading Parquet", "pyarrow")
        place = place or os.fspath(paths[0])
        self._paths = [os.fspath(path) for path in paths]
        first = _schema(self._paths[0])
        self._columns = list(first.names if columns is None else columns)
        for path in self._paths:
            _check_part(path, first, self._columns)
        groups = [(path, i, size) for path in self._paths for i, size in enumerate(_group_sizes(path)) if size]
        self._groups = [(path, i) for path, i, _ in groups]
        self._borders = np.cumsum([0, *(size for *_, size in groups)])
        shape = (int(self._borders[-1]), len(self._columns))
        check_expansion(8.0 * shape[0] * shape[1], sum(map(os.path.getsize, self._paths)), "the table")
        super().__init__(place, shape, self._columns, 8 * shape[1], self._paths)
        self._open: tuple[int, int, Any] | None = None

    def runs(self) -> list[NDArray[np.intp]]:
        """Give the blocks of every row group."""
        edges = zip(self._borders[:-1], self._borders[1:], strict=True)
        return [self.borders(int(start), int(stop)) for start, stop in edges]

    def _read(self, start: int, stop: int) -> Any:
        parts = []
        while start < stop:
            group = bisect_right(self._borders, start) - 1
            end = min(stop, int(self._borders[group + 1]))
            parts.append(self._rows_of(group, start, end))
            start = end
        return np.concatenate(parts)

    def _rows_of(self, group: int, start: int, stop: int) -> NDArray:
        """Go on in the open row group if the rows follow those read last; else begin it anew."""
        import pyarrow as pa

        if self._open is None or self._open[0] != group or self._open[1] > start:
            self._open = (group, int(self._borders[group]), self._batches(group))
        _, place, batches = self._open
        found, wanted = [], stop - start
        while wanted:
            batch = next(batches, None)
            if batch is None:
                break
            skipped = min(max(0, start - place), len(batch))
            place += len(batch)
            taken = batch.slice(skipped, wanted)
            wanted -= len(taken)
            found.append(_numbers(taken))
            if (left := batch.slice(skipped + len(taken))).num_rows:
                batches, place = _chain(left, batches), place - left.num_rows
        self._open = (group, place, batches)
        return np.concatenate(found) if found else _numbers(pa.record_batch({name: [] for name in self._columns}))

    def _batches(self, group: int) -> Any:
        from pyarrow import parquet

        path, number = self._groups[group]
        step = int(np.diff(self.borders(0, self.shape[0])[:2])[0])
        # Without pre-buffering, the pages of a group are read as they are needed.
        file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**16)
        return iter(file.iter_batches(step, row_groups=[number], columns=self._columns))


def _chain(first: Any, others: Any) -> Any:
    yield first
    yield from others


def _numbers(batch: Any) -> NDArray:
    table = np.empty((batch.num_rows, batch.num_columns))
    for place, column in enumerate(batch.columns):
        # Missing values become NaN, which is reported with its place like any other.
        table[:, place] = column.cast("float64").to_numpy(zero_copy_only=False)
    return table


def _schema(path: str) -> Any:
    from pyarrow import parquet

    with reading(path, "cannot be read as Parquet"):
        return parquet.read_schema(path)


def _group_sizes(path: str) -> list[int]:
    from pyarrow import parquet

    metadata = parquet.read_metadata(path)
    return [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]


def _check_part(path: str, first: Any, columns: list[str]) -> None:
    schema = _schema(path)
    if schema.names != first.names:
        missing = [name for name in first.names if name not in schema.names]
        lack = f", lacking {missing[0]!r}" if missing else ""
        raise TableError(
            f"{path}: has {len(schema.names)} column(s){lack} where the first part has {len(first.names)}; all parts "
            "of a table need the same columns in the same order."
        )
    for name in columns:
        if not is_number(schema.field(name).type):
            raise TableError(f"{path}: the column {name!r} holds {schema.field(name).type}, not numbers.")


def is_number(kind: Any) -> bool:
    """Tell whether an Arrow type is one of real numbers."""
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)


def parquet_files(path: str | os.PathLike[str]) -> list[Path]:
    """Give the parts of a folder in the order of their names, or the file itself."""
    path = Path(path)
    if not path.is_dir():
        return [path]
    parts = sorted(part for part in path.rglob("*.parquet") if not part.name.startswith((".", "_")))
    if not parts:
        raise TableError(f"{path}: holds no .parquet files.")
    return parts
