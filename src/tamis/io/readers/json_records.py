"""JSON: one record a line, or a list of records."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from tamis.io.errors import TableError
from tamis.io.readers.arrow import column_of, frame_of
from tamis.io.readers.compression import opened
from tamis.io.readers.frame import table_of
from tamis.io.readers.table import Progress, Request, Table


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Read records; those that lack a feature have a missing cell."""
    with opened(path, progress, request.key) as stream:
        content = stream.read()
    table = _by_arrow(content)
    if table is None:
        table = _by_python(content)
    return table_of(frame_of(table, request, progress), request)


def _by_arrow(content: bytes) -> Any:
    """Let Arrow parse lines, which it does if every feature is of one type."""
    from pyarrow import json as arrow_json

    if content.lstrip()[:1] != b"{":
        return None
    try:
        options = arrow_json.ReadOptions(block_size=max(2**20, min(len(content) + 1, 2**30)))
        return arrow_json.read_json(pa.BufferReader(content), options)
    except pa.ArrowInvalid:
        return None


def _by_python(content: bytes) -> pa.Table:
    records = _records(content.decode("utf-8-sig"))
    if not records:
        raise TableError("holds no records.")
    names: dict[str, None] = {}
    for record in records:
        names.update(dict.fromkeys(map(str, record)))
    return pa.Table.from_arrays([column_of([record.get(name) for record in records]) for name in names], list(names))


def _records(text: str) -> list[dict[str, Any]]:
    if text.lstrip().startswith("["):
        records = json.loads(text)
    else:
        records = [_record(line, number) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if not all(isinstance(record, dict) for record in records):
        raise TableError('is not a list of records; every entry must be an object such as {"a": 1}.')
    return records


def _record(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise TableError(f"line {number} is not JSON ({error}); every line must be one record.") from error
