"""From a path to a table that is read in pieces."""

import os
from pathlib import Path

from tamis.sources.source import SourceError, TableSource

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
    SourceError
        With one sentence on what is wrong.
    """
    source = _opened(Path(path), key)
    source.opened_by = (open_source, (os.fspath(path), key))
    return source


def _opened(path: Path, key: str | None) -> TableSource:
    if not path.exists():
        raise SourceError(f"{path}: there is no such file.")
    ending = path.suffix.lower()
    if ending == ".npy":
        from tamis.sources.arrays import numpy_file

        try:
            return numpy_file(path)
        except (ValueError, EOFError) as error:
            raise SourceError(f"{path}: is damaged or no table of numbers ({str(error).splitlines()[0]}).") from error
    if ending in (".h5ad", ".zarr"):
        from tamis.sources import annotated

        return annotated.h5ad_file(path, key) if ending == ".h5ad" else annotated.zarr_store(path, key)
    if ending in (".parquet", ".pq") or path.is_dir():
        from tamis.sources.parquet import ParquetParts, parquet_files

        return ParquetParts(parquet_files(path), place=os.fspath(path))
    raise SourceError(f"{path}: cannot be read in pieces; {', '.join(READ_IN_PIECES)} and Parquet folders can.")
