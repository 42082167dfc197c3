"""From a path, or an object of another library, to a table that is read in pieces."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from tamis.io.errors import TableError, reading
from tamis.io.files import check_readable
from tamis.io.sources.arrays import memory_map, numpy_file
from tamis.io.sources.parquet import ParquetParts, parquet_files
from tamis.io.sources.row_blocks import DaskRows, RowBlocks, looks_like_blocks
from tamis.io.sources.source import TableSource
from tamis.io.sources.stores import annotated_store, stored_matrix

READ_IN_PIECES = (".npy", ".h5ad", ".zarr", ".parquet", ".pq")
"""Endings of files that need not be read whole."""

CONVERSIONS = {("polars", "LazyFrame"): "X.collect()", ("pyarrow", "Table"): "X.to_pandas()"}
"""Tables of other libraries that are no arrays, with what is to be passed instead."""

MAX_HELD_BYTES = 2**30
"""A memory map is loaded like any array as long as its float32 copy has at most so many bytes."""


def open_source(path: str | os.PathLike[str], key: str | None = None) -> TableSource:
    """Open a file or folder without reading it.

    Parameters
    ----------
    path : str or path
        A .npy, .h5ad or .parquet file, a .zarr store, or a folder of Parquet files.
    key : str, optional
        The layer of an AnnData store (or "raw").

    Returns
    -------
    TableSource
        To be passed to ``fit``.

    Raises
    ------
    TableError
        With one sentence on what is wrong.
    """
    with reading(path):
        source = _opened(Path(path), key)
    source.opened_by = (open_source, (os.fspath(path), key))
    return source


def _opened(path: Path, key: str | None) -> TableSource:
    check_readable(path)
    ending = path.suffix.lower()
    if ending == ".npy":
        return numpy_file(path)
    if ending in (".h5ad", ".zarr"):
        return annotated_store(path, key)
    if ending in (".parquet", ".pq") or path.is_dir():
        return ParquetParts(parquet_files(path), place=os.fspath(path))
    raise TableError(f"{path}: cannot be read in pieces; {', '.join(READ_IN_PIECES)} and Parquet folders can.")


def as_source(X: Any) -> TableSource | None:
    """Return the adapter of an object that is stored elsewhere; None for tables in memory."""
    if isinstance(X, TableSource):
        return X
    if isinstance(X, str | os.PathLike):
        raise TypeError(
            f"X is the path {os.fspath(X)!r}; read the file first, for example by pandas.read_csv, or pass "
            f"tamis.open_source(path) for {', '.join(READ_IN_PIECES)} and Parquet folders."
        )
    if isinstance(X, np.memmap):
        # joblib hands large arrays to its workers as memory maps; they must give the same bits there.
        return memory_map(X) if X.ndim == 2 and X.dtype.kind in "biuf" and 4 * X.size > MAX_HELD_BYTES else None
    package = type(X).__module__.partition(".")[0]
    if advice := CONVERSIONS.get((package, type(X).__name__)):
        raise TypeError(f"X is a {package} {type(X).__name__}; pass {advice}.")
    if package == "h5py":
        return stored_matrix(X, f"{X.file.filename}:{X.name}", None, [X.file.filename])
    if package == "zarr":
        return stored_matrix(X, str(X.store_path))
    if package == "anndata":
        return _annotated(X)
    if package == "dask":
        return DaskRows(X)
    if package == "pyarrow":
        return ParquetParts(X.files) if hasattr(X, "files") else None
    return RowBlocks(X) if not hasattr(X, "shape") and looks_like_blocks(X) else None


def _annotated(X: Any) -> TableSource | None:
    """Take a backed matrix, or the X of a backed AnnData with its names; raise TypeError for one in memory."""
    if not hasattr(X, "var_names"):
        group = getattr(X, "group", None)
        return None if group is None else as_source(group)
    if not X.isbacked:
        raise TypeError("X is an AnnData object; pass adata.X or adata.to_df(), or call tamis.select_genes(adata, k).")
    source = as_source(X.X)
    if source is not None:
        source.names = np.array([str(name) for name in X.var_names], dtype=object)
    return source
