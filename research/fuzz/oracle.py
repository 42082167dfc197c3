"""What a table must be like if it was read from a file, by parsers that share nothing with those of tamis."""

import re
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from tamis.io.readers.compression import opened

LARGEST = 10**5
"""Cells of the largest table that is read again."""


def fault(path: Path, table: Any) -> str | None:
    """Return what is wrong with a table that was read, None if nothing is."""
    names = [str(name) for name in table.feature_names]
    X = table.X[:] if table.in_pieces else table.X
    if X.ndim != 2 or X.shape[1] != len(names) or min(X.shape) < 1:
        return f"the shape is {X.shape} with {len(names)} names"
    if len(set(names)) < len(names):
        return "names are repeated"
    if issparse(X):
        X.check_format(full_check=True)
    # Missing cells stay so until a method is known, which may take them.
    if np.isinf(X.data if issparse(X) else X).any():
        return "cells are infinite"
    if table.sample_names is not None and len(table.sample_names) != X.shape[0]:
        return "the names of samples do not fit"
    if path.suffix == ".zarr" and table.sample_names is not None and not all(table.sample_names):
        return "samples have no names"
    return _differs(path, table, X.toarray() if issparse(X) and np.prod(X.shape) <= LARGEST else X)


def _differs(path: Path, table: Any, X: Any) -> str | None:
    # The parsers here are slow, and hold every cell.
    if issparse(X) or table.y is not None or np.size(X) > LARGEST:
        return None
    if ".mtx" in path.suffixes:
        return _matrix_market(_content(path), X)
    if path.suffixes[:1] and path.suffixes[0] in (".csv", ".tsv", ".txt"):
        return _text(_content(path), X)
    if path.suffix == ".npy":
        return None if np.array_equal(np.load(path).reshape(X.shape), X, equal_nan=True) else "the values are others"
    return None


def _content(path: Path) -> bytes:
    with opened(path) as stream:
        return bytes(stream.read())


def _matrix_market(content: bytes, X: Any) -> str | None:
    """Read line by line, as the format's description says."""
    first, *lines = content.split(b"\n")
    kind, field, _ = first.decode().lower().split()[2:]
    entries = [line.split() for line in lines if line.strip() and not line.strip().startswith(b"%")]
    sizes, *entries = entries
    n, d = int(sizes[0]), int(sizes[1])
    found = np.zeros((n, d))
    try:
        if kind == "array":
            values = [float(value) for (value,) in entries]
            return None if _same(np.reshape(values, (d, n)).T, X) else "other values"
        for row, column, *value in entries:
            (number,) = [float(cell) for cell in value] if field != "pattern" else [1.0]
            i, j = int(row) - 1, int(column) - 1
            found[i, j] += number
    except (ValueError, IndexError) as error:
        return f"a cell is no number ({error})"
    return None if _same(found, X) else "the values are others"


def _same(found: Any, X: Any) -> bool:
    return bool(found.shape == X.shape and np.allclose(found, X, rtol=1e-12, atol=0, equal_nan=True))


def _text(content: bytes, X: Any) -> str | None:
    """Look for every value among the cells of the file, whatever its delimiter and its decimal mark are."""
    text, cells = content.decode(_encoding(content), "replace"), [""]
    # In the middle of a cell, a quotation mark is left out by all readers.
    for plain in (text.replace('"', " "), text.replace('"', "")):
        cells += re.split(r"[,;\t|\s]+", plain)
        cells += [cell.replace(",", ".") for cell in re.split(r"[;\t|\s]+", plain)]
    known = np.unique([0.0, 1.0, *(number for cell in {*cells} for number in _numbers(cell))])
    values = np.asarray(X, dtype=float).ravel()
    values = values[np.isfinite(values)]
    nearest = known[np.clip(np.searchsorted(known, values), 1, len(known) - 1)]
    before = known[np.clip(np.searchsorted(known, values) - 1, 0, len(known) - 1)]
    strange = ~(np.isclose(values, nearest, rtol=1e-12, atol=0) | np.isclose(values, before, rtol=1e-12, atol=0))
    return f"the value {values[strange][0]} is not in the file" if strange.any() else None


def _encoding(content: bytes) -> str:
    return "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"


def _numbers(cell: str) -> list[float]:
    """Return what a cell may stand for: as it is, as an amount of money, as a percentage, or below zero."""
    try:
        value = float(cell.strip("$€£¥%()−"))
    except ValueError:
        return []
    return [value, -value, value / 100]
