"""HDF5 files and Zarr stores: a matrix in them, and the data frames that AnnData writes beside it."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.extras import require
from tamis.io.errors import TableError, reading
from tamis.io.memory import check_stored
from tamis.io.sources.arrays import SlicedArray
from tamis.io.sources.hdf5 import open_hdf
from tamis.io.sources.source import Names, Paths, TableSource
from tamis.io.sources.sparse import PARTS, CompressedRows, checked_csr, layout_of


def open_store(path: str | os.PathLike[str]) -> Any:
    """Open the root of an HDF5 file or a Zarr store for reading."""
    if Path(path).suffix.lower() != ".zarr":
        return open_hdf(path)
    require("Reading Zarr", "zarr")
    import zarr

    with reading(path, "cannot be read as Zarr"):
        return zarr.open(os.fspath(path), mode="r")


def annotated_store(path: Path, key: str | None = None) -> TableSource:
    """Open an .h5ad file, a Zarr store that AnnData writes, or a Zarr store of a single array."""
    root = open_store(path)
    # Chunks that are not there stand for zeros in Zarr: that a store is gone shows by its description alone.
    metadata = [path / name for name in ("zarr.json", ".zgroup", ".zarray", ".zattrs")]
    files = [name for name in metadata if name.is_file()] if path.is_dir() else [path]
    if path.suffix.lower() == ".h5ad" and not ("obs" in root and "var" in root):
        raise TableError("holds no obs and var, so that it is no AnnData file; name it .h5 if it is another HDF5.")
    item, names = (root, None) if hasattr(root, "dtype") else find_matrix(root, key)
    return stored_matrix(item, os.fspath(path), names, files)


def find_matrix(root: Any, key: str | None) -> tuple[Any, NDArray[Any] | None]:
    """Return the stored matrix that ``key`` names (X, raw or a layer), and the names of its features."""
    wanted = (key or "X").removeprefix("layers/")
    path = {"X": "X", "raw": "raw/X"}.get(wanted, f"layers/{wanted}")
    if path not in root:
        raw = ["raw"] if "raw/X" in root else []
        known = [name for name in ("X", *raw, *root.get("layers", ())) if name != wanted]
        raise TableError(f"holds no matrix {wanted!r}; there are {', '.join(known)} (--key).")
    frame = "raw/var" if wanted == "raw" else "var"
    if frame not in root:
        return root[path], None
    names = index_of(root[frame])
    if repeated := [name for name, times in Counter(names.tolist()).items() if times > 1]:
        raise TableError(f"the name {str(repeated[0])!r} occurs more than once among the features; rename them.")
    return root[path], names


def stored_matrix(item: Any, place: str, names: Names = None, files: Paths = ()) -> TableSource:
    """Read an array of an HDF5 or Zarr file by slices, a CSR group row by row; one stored by columns is held whole."""
    if hasattr(item, "dtype"):
        check_stored(item, "the matrix", in_pieces=True)
        return SlicedArray(item, place, names, files)
    shape, kind = layout_of(item)
    if kind == "csr":
        return CompressedRows(item, shape, place, names, files)
    for part in PARTS:
        check_stored(item[part], "the sparse matrix")
    return SlicedArray(checked_csr((item[part][:] for part in PARTS), shape, kind), place, names, files)


def index_of(frame: Any) -> NDArray[Any]:
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


def column_of(frame: Any, name: str) -> NDArray[Any]:
    """Return a column of a stored data frame; a categorical one is spelled out."""
    item = frame[name]
    if hasattr(item, "dtype"):
        # AnnData before 0.8 kept the categories of all columns in one group.
        former = not hasattr(frame, "dtype") and name in frame.get("__categories", ())
        return _spelled_out(name, item, frame["__categories"][name]) if former else text(item)
    if "categories" in item and "codes" in item:
        return _spelled_out(name, item["codes"], item["categories"])
    return text(item["values"])


def _spelled_out(name: str, codes: Any, categories: Any) -> NDArray[Any]:
    codes, categories = text(codes), text(categories).astype(object)
    if codes.dtype.kind not in "iu" or not -1 <= codes.min(initial=0) <= codes.max(initial=-1) < len(categories):
        raise TableError(f"the column {name!r} of obs names categories that are not there; save the file anew.")
    # A missing category has the code -1 and takes the place behind the last.
    return np.asarray(np.append(categories, "nan")[codes.astype(np.int64)])


def text(item: Any) -> NDArray[Any]:
    """Read a vector; bytes become text."""
    if not isinstance(item, np.ndarray):
        check_stored(item, "a list of names or labels")
    values = np.asarray(item[:])
    if values.ndim != 1:
        raise TableError(f"a list of names or labels has the shape {values.shape}; save the file anew.")
    return as_text(values)


def as_text(values: NDArray[Any]) -> NDArray[Any]:
    """Return bytes and objects as text; numbers stay."""
    if values.dtype.kind not in "OSTU":
        return values
    texts = [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in values]
    return np.array(texts, dtype=object)
