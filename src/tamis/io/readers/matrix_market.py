"""MatrixMarket files (.mtx, .mtx.gz), whose entries are parsed by Arrow.

scipy's reader runs over the end of a file that ends inside a number, and takes ``1.5abc`` for 1.5; Arrow is strict.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from tamis.io.errors import TableError
from tamis.io.memory import NAME_BYTES, check_room
from tamis.io.readers.compression import opened
from tamis.io.readers.table import Progress, Request, Table
from tamis.io.readers.tenx import lists_beside, table_of_genes
from tamis.io.sources.sparse import checked_coo

BLOCK_BYTES = 2**22
HEADING = re.compile(
    rb"%%MatrixMarket[ \t]++matrix[ \t]++(coordinate|array)[ \t]++([\w-]++)[ \t]++([\w-]++)[ \t\r]*+\n"
    rb"(?:[ \t\r]*+(?:%[^\n]*+)?\n)*+[ \t]*+(\d{1,18})[ \t]++(\d{1,18})(?:[ \t]++(\d{1,18}))?[ \t\r]*+(?:\n|\Z)",
    re.IGNORECASE,
)
FIELDS = {"real": pa.float64(), "double": pa.float64(), "integer": pa.int64(), "unsigned-integer": pa.uint64()}


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (small files, read at once)
    """Read a matrix, with names from the files that lie beside it by custom."""
    with opened(path) as stream:
        content = stream.read()
    return table_of_genes(_matrix(content, path.stat().st_size), *lists_beside(path), request)


def _matrix(content: bytes, stored: int) -> Any:
    """Return a CSR matrix from coordinates, a dense array from an array."""
    heading = HEADING.match(content)
    if heading is None:
        raise TableError("does not begin with '%%MatrixMarket matrix' and the size of the matrix; save it anew.")
    form, field, symmetry = (word.decode().lower() for word in heading.groups()[:3])
    n, d, declared = (int(size or -1) for size in heading.groups()[3:])
    kinds = {} if field == "pattern" else {"value": FIELDS.get(field)}
    if None in kinds.values() or symmetry != "general":
        raise TableError(f"is a {symmetry} matrix of {field}, not a general one of real numbers; save it as such.")
    coordinates = form == "coordinate"
    expected = declared if coordinates else n * d
    check_room(16 * n + NAME_BYTES * d + 48 * expected, stored, f"the matrix of {n} × {d}")
    index = pa.int32() if max(n, d) < 2**31 else pa.int64()
    kinds = {"row": index, "column": index, **kinds} if coordinates else kinds
    there = expected or content[heading.end() :].strip()
    entries = _entries(content, heading.end(), kinds) if there else {name: np.empty(0, np.int64) for name in kinds}
    if (found := len(next(iter(entries.values()), ()))) != expected:
        raise TableError(f"declares {expected} entries, but holds {found}; restore it, or save it anew.")
    values = entries.get("value", np.ones(found))
    if coordinates:
        return checked_coo((values, entries["row"] - 1, entries["column"] - 1), (n, d))
    return np.ascontiguousarray(values.reshape(d, n).T)


def _entries(content: bytes, start: int, kinds: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Parse the lines after the heading; those with other blanks than one space, or comments, are rewritten first."""
    try:
        table = _parsed(memoryview(content)[start:], kinds)
    except pa.ArrowInvalid:
        lines = (line.split() for line in content[start:].split(b"\n") if not line.lstrip().startswith(b"%"))
        table = _parsed(b"\n".join(b" ".join(words) for words in lines) + b"\n", kinds)
    return {name: table.column(name).to_numpy() for name in kinds}


def _parsed(lines: Any, kinds: dict[str, Any]) -> Any:
    return arrow_csv.read_csv(
        pa.py_buffer(lines),
        arrow_csv.ReadOptions(column_names=list(kinds), use_threads=False, block_size=BLOCK_BYTES),
        arrow_csv.ParseOptions(delimiter=" ", quote_char=False),
        arrow_csv.ConvertOptions(column_types=kinds, null_values=[]),
    )
