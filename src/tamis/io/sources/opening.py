"""From a path to a table that is read in pieces."""

import os
from pathlib import Path

from tamis.io.errors import TableError, reading
from tamis.io.files import why_unreadable
from tamis.io.sources.source import TableSource

READ_IN_PIECES = (".npy", ".h5ad", ".zarr", ".parquet", ".pq")
"""Endings of files that need not be read whole."""


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
    if fault := why_unreadable(path):
        raise TableError(f"{path}: {fault}.")
    ending = path.suffix.lower()
    if ending == ".npy":
        from tamis.io.sources.arrays import numpy_file

        return numpy_file(path)
    if ending in (".h5ad", ".zarr"):
        from tamis.io.sources import annotated

        return annotated.h5ad_file(path, key) if ending == ".h5ad" else annotated.zarr_store(path, key)
    if ending in (".parquet", ".pq") or path.is_dir():
        from tamis.io.sources.parquet import ParquetParts, parquet_files

        return ParquetParts(parquet_files(path), place=os.fspath(path))
    raise TableError(f"{path}: cannot be read in pieces; {', '.join(READ_IN_PIECES)} and Parquet folders can.")
