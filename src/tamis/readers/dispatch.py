"""From a path to a :class:`Table`: the format by the file's ending, then counts, names and gaps are seen to."""

import os
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from tamis.columns import row_blocks
from tamis.files import why_unreadable
from tamis.readers import pieces
from tamis.readers.table import Progress, ReadError, Request, Table, check_distinct, listed, required, unheard
from tamis.sources.errors import REMEDY, TableError, first_line
from tamis.sources.memory import expansion

FORMATS = {
    ".csv": ("text", "CSV"),
    ".tsv": ("text", "TSV"),
    ".txt": ("text", "text table"),
    ".tab": ("text", "TSV"),
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

COMPRESSED = (".csv", ".tsv", ".txt", ".tab", ".mtx")
"""Formats that are also read with a further ``.gz``."""


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
    ReadError
        With one sentence on what is wrong with the file, and what to do.
    """
    request, path = request or Request(), Path(path)
    reader, name = _reader(path, request)
    try:
        with expansion(request.max_expansion):
            table = reader(path, request, progress or unheard)
        return table if table.in_pieces else _finish(table, request)
    except TableError as error:
        raise ReadError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error.__cause__
    except ModuleNotFoundError as error:
        raise ReadError(
            f"{path}: reading {name} needs {error.name}; install it with {_install(error.name)}."
        ) from error
    except MemoryError as error:
        raise ReadError(f"{path}: too large for the memory of this machine, or damaged.") from error
    except Exception as error:
        # Parsers of damaged files raise whatever they stumble over; the owner of the file needs one sentence.
        raise ReadError(f"{path}: cannot be read as {name} ({first_line(error)}); {REMEDY}.") from error


def format_of(path: str | os.PathLike[str]) -> str:
    """Give the ending that tells the format, such as ``.csv`` or ``.csv.gz``."""
    endings = [ending.lower() for ending in Path(path).suffixes]
    if endings and endings[-1] == ".gz":
        inner = endings[-2] if len(endings) > 1 else ""
        if inner in COMPRESSED:
            return inner + ".gz"
        raise ReadError(f"{path}: of compressed files, only {', '.join(e + '.gz' for e in COMPRESSED)} are read.")
    ending = endings[-1] if endings else ""
    if ending not in FORMATS:
        known = ", ".join(FORMATS)
        raise ReadError(f"{path}: the ending {ending!r} is not that of a known format; known are {known}.")
    return ending


def _reader(path: Path, request: Request) -> tuple[Callable[[Path, Request, Progress], Table], str]:
    if path.is_dir():
        if pieces.wanted(path, request):
            return pieces.read, "Zarr" if path.suffix.lower() == ".zarr" else "Parquet"
        raise ReadError(f"{path}: is a folder; name a file in it.")
    if fault := why_unreadable(path):
        raise ReadError(f"{path}: {fault}.")
    module, name = FORMATS[format_of(path).removesuffix(".gz")]
    if pieces.wanted(path, request):
        return pieces.read, name
    return import_module(f"tamis.readers.{module}").read, name


def _install(module: str | None) -> str:
    extra = {"h5py": "hdf5", "anndata": "single-cell", "zarr": "zarr"}.get(str(module))
    return f"pip install 'tamis[{extra}]'" if extra else f"pip install {module}"


def _finish(table: Table, request: Request) -> Table:
    table = _restricted(table, request.only)
    X = table.X
    n, d = X.shape
    if n == 0 or d == 0:
        raise ReadError(f"the table has {n} row(s) and {d} column(s) of numbers.")
    check_distinct(table.feature_names.tolist())
    _check_finite(X, table.feature_names)
    if issparse(X):
        X = csr_array(X)
    if request.scale:
        X = _equal_totals(X)
    if request.log1p:
        X = _log1p(X)
    return replace(table, X=X, feature_names=table.feature_names.astype(object))


def _restricted(table: Table, only: tuple[str, ...]) -> Table:
    """Keep the features asked for, in the order asked for."""
    names = table.feature_names.tolist()
    if not only or names == list(only):
        return table
    places = {name: position for position, name in enumerate(names)}
    columns = [places[name] for name in required(only, names)]
    return replace(table, X=table.X[:, columns], feature_names=table.feature_names[columns])


def _check_finite(X: Any, names: np.ndarray) -> None:
    gaps = np.zeros(X.shape[1], dtype=np.intp)
    if issparse(X):
        cells = X.tocoo()
        gaps += np.bincount(cells.col[~np.isfinite(cells.data)], minlength=len(gaps))
    elif X.dtype.kind == "f":
        for block in row_blocks(X):
            gaps += (~np.isfinite(block)).sum(axis=0)
    columns = np.flatnonzero(gaps)
    if columns.size:
        where = f"the column {names[columns[0]]!r}" if columns.size == 1 else f"the columns {listed(names[columns])}"
        raise ReadError(
            f"{gaps.sum()} cell(s) are missing or not finite, in {where}; fill the gaps, or leave columns out "
            "with --drop."
        )


def _equal_totals(X: Any) -> Any:
    """Multiply every row so that it sums up to the median of the sums."""
    if (X.data if issparse(X) else X).min(initial=0) < 0:
        raise ReadError("--scale is for counts, but the table holds negative numbers.")
    totals = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
    factors = np.median(totals[totals > 0], axis=0) / np.where(totals > 0, totals, 1) if (totals > 0).any() else totals
    return csr_array(diags_array(factors) @ X) if issparse(X) else X * factors[:, None]


def _log1p(X: Any) -> Any:
    if (X.data if issparse(X) else X).min(initial=0) <= -1:
        raise ReadError("--log1p needs numbers above -1; the table holds smaller ones.")
    return X.astype(np.float64).log1p() if issparse(X) else np.log1p(X, dtype=np.float64)
