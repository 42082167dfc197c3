"""JSON: one record a line, or a list of records."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from tamis.io.errors import TableError
from tamis.io.readers.arrow import column_of, read_table
from tamis.io.readers.compression import opened
from tamis.io.readers.layout import find_encoding
from tamis.io.readers.table import Progress, Request, Table


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Read records; those that lack a feature have a missing cell."""
    with opened(path, progress, request.key) as stream:
        content = stream.read()
    encoding, findings = find_encoding(content, request.encoding)
    return read_table(_parsed(content.decode(encoding)), request, progress, findings)


LAYOUT = 'save records, such as [{"a": 1}, {"a": 2}], in pandas by df.to_json(path, orient="records")'


def _parsed(text: str) -> Any:
    lines = enumerate(text.splitlines(), start=1)
    is_list = text.lstrip().startswith("[")
    records = json.loads(text) if is_list else [_record(line, i) for i, line in lines if line.strip()]
    if not records or not all(isinstance(record, dict) for record in records):
        raise TableError('is not a list of records; every entry must be an object such as {"a": 1}.')
    if nested := [name for name, cell in records[0].items() if isinstance(cell, dict | list)]:
        raise TableError(f"holds objects or lists in {nested[0]!r}, a layout that is not read; {LAYOUT}.")
    names = list(dict.fromkeys(name for record in records for name in record))
    return pa.Table.from_arrays([column_of([record.get(name) for record in records]) for name in names], names)


def _record(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise TableError(f"line {number} is not JSON ({error}); {LAYOUT}.") from error
