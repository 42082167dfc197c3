"""AnnData stores, .h5ad and .zarr: X, a layer or raw, with the names of the genes, none of it held in memory."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from tamis.sources.compressed import stored_matrix
from tamis.sources.source import SourceError, TableSource


def h5ad_file(path: str | os.PathLike[str], key: str | None = None) -> TableSource:
    """Open an .h5ad file with h5py; ``key`` is X, raw or a layer."""
    return annotated_matrix(opened(path), os.fspath(path), key, [path])


def opened(path: str | os.PathLike[str]) -> Any:
    """Open the root of an HDF5 file or a Zarr store for reading."""
    if Path(path).suffix.lower() == ".zarr":
        import zarr

        return zarr.open(os.fspath(path), mode="r")
    import h5py

    try:
        return h5py.File(path, "r")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SourceError(f"{path}: cannot be read as HDF5 ({str(error).splitlines()[0]}).") from error


def zarr_store(path: str | os.PathLike[str], key: str | None = None) -> TableSource:
    """Open a Zarr store: a single array, or what AnnData writes."""
    place = os.fspath(path)
    try:
        item = opened(path)
    except FileNotFoundError as error:
        raise SourceError(f"{place}: is not a Zarr store.") from error
    metadata = _metadata_files(Path(path))
    if hasattr(item, "dtype"):
        return stored_matrix(item, place, None, metadata)
    return annotated_matrix(item, place, key, metadata)


def _metadata_files(path: Path) -> list[Path]:
    # Chunks that are not there stand for zeros in Zarr: that a store is gone shows by its description alone.
    return [path / name for name in ("zarr.json", ".zgroup", ".zarray", ".zattrs") if (path / name).is_file()]


def annotated_matrix(root: Any, place: str, key: str | None, files: list[Any]) -> TableSource:
    """Find the matrix that ``key`` names in an open store, and the names of its columns."""
    wanted = (key or "X").removeprefix("layers/")
    path = {"X": "X", "raw": "raw/X"}.get(wanted, f"layers/{wanted}")
    if path not in root:
        layers = ["X", *root.get("layers", ())]
        raise SourceError(f"{place}: holds no matrix {wanted!r}; there are {', '.join(layers)}.")
    frame = "raw/var" if wanted == "raw" else "var"
    names = index_of(root[frame]) if frame in root else None
    return stored_matrix(root[path], place, names, files)


def index_of(frame: Any) -> np.ndarray:
    """Give the index of a stored data frame."""
    return text(frame[frame.attrs.get("_index", "_index")])


def column_of(frame: Any, name: str) -> np.ndarray:
    """Give a column of a stored data frame; a categorical one is spelled out."""
    item = frame[name]
    if hasattr(item, "dtype"):
        return text(item)
    if "categories" in item and "codes" in item:
        # A missing category has the code -1 and takes the place behind the last.
        return np.append(text(item["categories"]).astype(object), "nan")[np.asarray(item["codes"][:])]
    return text(item["values"])


def text(item: Any) -> np.ndarray:
    """Read a vector; bytes become text."""
    values = np.asarray(item[:])
    if values.dtype.kind in "OSTU":
        return np.array([v.decode() if isinstance(v, bytes) else str(v) for v in values], dtype=object)
    return values
