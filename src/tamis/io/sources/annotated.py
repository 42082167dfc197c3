"""AnnData stores, .h5ad and .zarr: X, a layer or raw, with the names of the genes, none of it held in memory."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from tamis.extras import require
from tamis.io.errors import TableError, reading
from tamis.io.sources.chunks import check_array
from tamis.io.sources.hdf5 import open_hdf
from tamis.io.sources.source import TableSource
from tamis.io.sources.sparse import stored_matrix


def h5ad_file(path: str | os.PathLike[str], key: str | None = None) -> TableSource:
    """Open an .h5ad file with h5py; ``key`` is X, raw or a layer."""
    return annotated_matrix(opened(path), os.fspath(path), key, [path])


def opened(path: str | os.PathLike[str]) -> Any:
    """Open the root of an HDF5 file or a Zarr store for reading."""
    if Path(path).suffix.lower() == ".zarr":
        require("Reading Zarr", "zarr")
        import zarr

        with reading(path, "cannot be read as Zarr"):
            return zarr.open(os.fspath(path), mode="r")
    return open_hdf(path)


def zarr_store(path: str | os.PathLike[str], key: str | None = None) -> TableSource:
    """Open a Zarr store: a single array, or what AnnData writes."""
    place, item = os.fspath(path), opened(path)
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
        raise TableError(f"{place}: holds no matrix {wanted!r}; there are {', '.join(layers)}.")
    frame = "raw/var" if wanted == "raw" else "var"
    names = distinct(index_of(root[frame])) if frame in root else None
    return stored_matrix(root[path], place, names, files)


def distinct(names: np.ndarray) -> np.ndarray:
    """Return names; raise :class:`TableError` if one occurs twice."""
    repeated = [name for name, times in Counter(names.tolist()).items() if times > 1]
    if repeated:
        raise TableError(
            f"the name {str(repeated[0])!r} occurs more than once among the features; they must differ, so rename them."
        )
    return names


def index_of(frame: Any) -> np.ndarray:
    """Return the index of a stored data frame; AnnData before 0.7 stored frames as records."""
    if hasattr(frame, "dtype"):
        return text(frame["index" if "index" in (frame.dtype.names or ()) else "_index"])
    item = frame[frame.attrs.get("_index", "_index")]
    if getattr(item, "nchunks_initialized", 0) < getattr(item, "nchunks", 0):
        # Zarr shows a part that is gone as empty texts.
        raise TableError("a part of the list of names is missing; restore the store, or save it anew.")
    names = text(item)
    if names.dtype == object and not all(names):
        raise TableError("some names in the list of names are empty; restore the file, or save it anew.")
    return names


def columns_of(frame: Any) -> list[str]:
    """Return the names of a stored data frame's columns."""
    if hasattr(frame, "dtype"):
        return [name for name in frame.dtype.names or () if name != "index"]
    return [name for name in frame if name != frame.attrs.get("_index", "_index") and not name.startswith("__")]


def column_of(frame: Any, name: str) -> np.ndarray:
    """Return a column of a stored data frame; a categorical one is spelled out."""
    item = frame[name]
    if hasattr(item, "dtype"):
        # AnnData before 0.8 kept the categories of all columns in one group.
        former = not hasattr(frame, "dtype") and name in frame.get("__categories", ())
        return _spelled_out(name, item, frame["__categories"][name]) if former else text(item)
    if "categories" in item and "codes" in item:
        return _spelled_out(name, item["codes"], item["categories"])
    return text(item["values"])


def _spelled_out(name: str, codes: Any, categories: Any) -> np.ndarray:
    codes, categories = text(codes), text(categories).astype(object)
    if codes.dtype.kind not in "iu" or not -1 <= codes.min(initial=0) <= codes.max(initial=-1) < len(categories):
        raise TableError(f"the column {name!r} of obs names categories that are not there; save the file anew.")
    # A missing category has the code -1 and takes the place behind the last.
    return np.append(categories, "nan")[codes.astype(np.int64)]


def text(item: Any) -> np.ndarray:
    """Read a vector; bytes become text."""
    if not isinstance(item, np.ndarray):
        check_array(item, "a list of names or labels")
    values = np.asarray(item[:])
    if values.ndim != 1:
        raise TableError(f"a list of names or labels has the shape {values.shape}; save the file anew.")
    if values.dtype.kind in "OSTU":
        texts = (v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in values)
        return np.array(list(texts), dtype=object)
    return values
