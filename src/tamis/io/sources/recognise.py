"""Which objects that users pass to ``fit`` are tables to be read in pieces."""

import os
from typing import Any

import numpy as np

from tamis.io.sources.arrays import memory_map
from tamis.io.sources.row_blocks import RowBlocks, looks_like_blocks
from tamis.io.sources.source import TableSource
from tamis.io.sources.sparse import stored_matrix

HELD_BYTES = 2**30
"""A memory map is loaded like any array as long as its float32 copy has at most so many bytes."""


def as_source(X: Any) -> TableSource | None:
    """Give the adapter of an object that is stored elsewhere; None for tables in memory."""
    if isinstance(X, TableSource):
        return X
    if isinstance(X, np.memmap):
        # joblib hands large arrays to its workers as memory maps; they must give the same bits there.
        return memory_map(X) if X.ndim == 2 and X.dtype.kind in "biuf" and 4 * X.size > HELD_BYTES else None
    if isinstance(X, str | os.PathLike):
        return None
    package = type(X).__module__.partition(".")[0]
    if package in OBJECTS:
        return OBJECTS[package](X)
    return RowBlocks(X) if looks_like_blocks(X) else None


def _hdf(X: Any) -> TableSource | None:
    return stored_matrix(X, f"{X.file.filename}:{X.name}", None, [X.file.filename])


def _zarr(X: Any) -> TableSource | None:
    return stored_matrix(X, str(X.store_path))


def _anndata(X: Any) -> TableSource | None:
    """Take a backed matrix, or the X of a backed AnnData with its names; raise TypeError for one in memory."""
    if hasattr(X, "var_names"):
        source = as_source(X.X) if X.isbacked else None
        if not X.isbacked:
            raise TypeError(
                "X is an AnnData object; pass adata.X or adata.to_df(), or call tamis.select_genes(adata, k)."
            )
        if source is not None:
            source.names = np.array([str(name) for name in X.var_names], dtype=object)
        return source
    group = getattr(X, "group", None)
    return None if group is None else OBJECTS[type(group).__module__.partition(".")[0]](group)


def _arrow(X: Any) -> TableSource | None:
    if not hasattr(X, "files"):
        return None
    from tamis.io.sources.parquet import ParquetParts

    return ParquetParts(X.files)


OBJECTS = {"h5py": _hdf, "zarr": _zarr, "anndata": _anndata, "pyarrow": _arrow}
