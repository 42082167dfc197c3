"""From a path to a :class:`Table`: the format by the file's ending, then counts, names and gaps are seen to."""

import os
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from tamis.extras import require
from tamis.io.errors import REMEDY, TableError, first_line
from tamis.io.files import why_unreadable
from tamis.io.memory import expansion
from tamis.io.readers import streaming
from tamis.io.readers.compression import ENDINGS, member_of
from tamis.io.readers.missing import look_for_gaps, mark_missing
from tamis.io.readers.report import ASSUMED, Finding
from tamis.io.readers.table import Progress, Request, Table, numbered, required, unheard

FORMATS = {
    ".csv": ("text", "CSV"),
    ".tsv": ("text", "TSV"),
    ".txt": ("text", "text table"),
    ".tab": ("text", "TSV"),
    ".xlsx": ("excel", "Excel"),
    ".xls": ("excel", "Excel"),
    ".ods": ("excel", "OpenDocument"),
    ".jsonl": ("json", "JSON lines"),
    ".ndjson": ("json", "JSON lines"),
    ".json": ("json", "JSON"),
    ".parquet": ("arrow", "Parquet"),
    ".pq": ("arrow", "Parquet"),
    ".feather": ("arrow", "Feather"),
    ".arrow": ("arrow", "Feather"),
    ".npy": ("arrays", "NumPy"),
    ".npz": ("arrays", "NumPy archive"),
    ".mtx": ("arrays", "MatrixMarket"),
    ".mat": ("matlab", "MATLAB"),
    ".h5": ("hdf", "HDF5"),
    ".hdf5": ("hdf", "HDF5"),
    ".h5ad": ("anndata", "AnnData"),
}
"""Ending of a file's name: the module that reads it and what the format is called."""

ARROW = ("pyarrow",)
NEEDS = {"text": ARROW, "json": ARROW, "arrow": ARROW, "excel": (*ARROW, "python_calamine")}
"""Packages of extras that a reader needs; those of HDF5 and Zarr are asked for where files are opened."""

COMPRESSED = (".csv", ".tsv", ".txt", ".tab", ".jsonl", ".ndjson", ".json")
"""Formats that are also read compressed, with a further ending of :data:`ENDINGS`."""


def read(path: str | os.PathLike[str], request: Request | None = None, progress: Progress | None = None) -> Table:
    """Read a file of any known format.

    Parameters
    ----------
    path : str or path
        The file; its ending tells the format, see :data:`FORMATS`.
    request : Request, optional
        Roles of columns and the like.
    progress : callable, optional
        Told how many of how many bytes were read, where the format allows.

    Returns
    -------
    Table
        Finite numbers with distinct feature names.

    Raises
    ------
    TableError
        With one sentence on what is wrong with the file, and what to do.
    """
    request, path = request or Request(), Path(path)
    reader, name = _reader(path, request)
    try:
        with expansion(request.max_expansion):
            table = reader(path, request, progress or unheard)
        return table if table.in_pieces else _finish(table, request)
    except TableError as error:
        raise TableError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error.__cause__
    except ImportError:
        raise  # A package that is missing is no fault of the file.
    except MemoryError as error:
        raise TableError(f"{path}: too large for the memory of this machine, or damaged.") from error
    except Exception as error:
        # Parsers of damaged files raise whatever they stumble over; the owner of the file needs one sentence.
        raise TableError(f"{path}: cannot be read as {name} ({first_line(error)}); {REMEDY}.") from error


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the ending that tells the format, such as ``.csv`` or ``.csv.gz``."""
    endings = [ending.lower() for ending in Path(path).suffixes]
    ending = endings[-1] if endings else ""
    if ending in ENDINGS:
        inner = endings[-2] if len(endings) > 1 else ""
        if ending == ".zip" and inner not in FORMATS:
            return ".zip"
        if inner in COMPRESSED or (inner, ending) == (".mtx", ".gz"):
            return inner + ending
        raise TableError(
            f"{path}: of compressed files, only {', '.join(COMPRESSED)} with {', '.join(ENDINGS)} are read; unpack it."
        )
    if ending not in FORMATS:
        known = ", ".join(FORMATS)
        raise TableError(f"{path}: the ending {ending!r} is not that of a known format; known are {known}.")
    return ending


def _reader(path: Path, request: Request) -> tuple[Callable[[Path, Request, Progress], Table], str]:
    if path.is_dir():
        if streaming.wanted(path, request):
            return streaming.read, "Zarr" if path.suffix.lower() == ".zarr" else "Parquet"
        raise TableError(f"{path}: is a folder; name a file in it.")
    if fault := why_unreadable(path):
        raise TableError(f"{path}: {fault}.")
    module, name = FORMATS[_inner_format(path, request)]
    require(f"Reading {name}", *NEEDS.get(module, ()))
    if streaming.wanted(path, request):
        return streaming.read, name
    return import_module(f"tamis.io.readers.{module}").read, name


def _inner_format(path: Path, request: Request) -> str:
    """Return the ending of what is inside a compressed file; of an archive, that of the file in it."""
    ending = format_of(path)
    if ending != ".zip":
        return "." + ending.split(".")[1]
    inner = member_of(path, request.key)
    found = format_of(inner)
    if found not in COMPRESSED:
        raise TableError(f"{path}: holds {inner!r}; of archives, only {', '.join(COMPRESSED)} are read.")
    return found


def _finish(table: Table, request: Request) -> Table:
    table = _named_apart(_restricted(table, request.only))
    n, d = table.shape
    if n == 0 or d == 0:
        raise TableError(f"the table has {n} rows and {d} features of numbers.")
    if issparse(table.X):
        table = replace(table, X=csr_array(table.X))
    table = look_for_gaps(mark_missing(table, request), request)
    X = table.X
    if request.scale:
        X = _equal_totals(X)
    if request.log1p:
        X = _log1p(X)
    return replace(table, X=X, feature_names=table.feature_names.astype(object))


def _named_apart(table: Table) -> Table:
    """Set distinct names, and the report of formats that know nothing of kinds and hold numbers only."""
    report = table.report
    if not report.kinds:
        report = replace(report, n_rows=table.shape[0], kinds={"number": table.shape[1]})
    names, repeated = numbered([str(name) for name in table.feature_names])
    if repeated:
        text = "names that occur more than once were numbered"
        report = report.with_findings(Finding(ASSUMED, text, "", tuple(repeated)))
    return replace(table, feature_names=np.array(names, dtype=object), report=report)


def _restricted(table: Table, only: tuple[str, ...]) -> Table:
    """Keep the features asked for, in the order asked for; whole categories stay as they were encoded."""
    names = table.feature_names.tolist()
    if not only or names == list(only) or (table.groups is not None and not set(only) <= set(names)):
        return table
    places = {name: position for position, name in enumerate(names)}
    columns = [places[name] for name in required(only, names)]
    groups = None if table.groups is None else table.groups[columns]
    return replace(table, X=table.X[:, columns], feature_names=table.feature_names[columns], groups=groups)


def _equal_totals(X: Any) -> Any:
    """Multiply every row so that it sums up to the median of the sums."""
    if np.fmin.reduce(X.data if issparse(X) else X, axis=None, initial=0) < 0:
        raise TableError("--scale is for counts, but the table holds negative numbers.")
    totals = np.asarray(X.sum(axis=1) if issparse(X) else np.nansum(X, axis=1), dtype=np.float64).ravel()
    factors = np.median(totals[totals > 0], axis=0) / np.where(totals > 0, totals, 1) if (totals > 0).any() else totals
    return csr_array(diags_array(factors) @ X) if issparse(X) else X * factors[:, None]


def _log1p(X: Any) -> Any:
    if np.fmin.reduce(X.data if issparse(X) else X, axis=None, initial=0) <= -1:
        raise TableError("--log1p needs numbers above -1; the table holds smaller ones.")
    return X.astype(np.float64).log1p() if issparse(X) else np.log1p(X, dtype=np.float64)
