"""HDF5 files: a matrix by its key, with names from the arrays beside it, of which only what is needed is read."""

from pathlib import Path
from typing import Any

import numpy as np

from tamis.io.errors import TableError
from tamis.io.memory import check_stored
from tamis.io.readers.arrays import Members, assemble, in_memory, pick_key
from tamis.io.readers.table import Progress, Request, Table
from tamis.io.sources.hdf5 import open_hdf
from tamis.io.sources.sparse import checked_csr


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (h5py tells no progress)
    """Read one matrix of a file."""
    with open_hdf(path) as file:
        arrays = datasets(file)
        frames = {
            name[: -len("/block0_values")]: item for name, item in arrays.items() if name.endswith("/block0_values")
        }
        if request.key in frames or (request.key is None and len(frames) == 1):
            return _pandas_frame(file[request.key or next(iter(frames))], request)
        matrices = {name: item.shape for name, item in arrays.items() if item.ndim == 2 and item.dtype.kind in "biuf"}
        wanted = request.key.strip("/") if request.key else None
        key = pick_key(matrices, wanted, list(arrays))
        return assemble(values(arrays[key], key), _beside(key, arrays), request)


def datasets(file: Any) -> dict[str, Any]:
    """Return all arrays of a file by their path."""
    import h5py

    found: dict[str, Any] = {}
    file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
    return found


def values(item: Any, name: str) -> np.ndarray:
    """Read a data set, if there is room for it."""
    if item.shape is None:
        raise TableError(f"the data set {name!r} is empty; choose another with --key.")
    check_stored(item, f"the data set {name!r}")
    return np.asarray(item[()])


def _beside(key: str, arrays: dict[str, Any]) -> Members:
    """Return the vectors of the file, by full path and, in the matrix's own group, by their last name too."""
    group = key.rpartition("/")[0]
    vectors = {name: item for name, item in arrays.items() if item.shape and (item.ndim == 1 or 1 in item.shape)}
    near = {name.rpartition("/")[2]: item for name, item in vectors.items() if name.rpartition("/")[0] == group}
    vectors |= near
    return Members(
        {name: (item.shape, item.dtype) for name, item in vectors.items()}, lambda name: values(vectors[name], name)
    )


def _pandas_frame(group: Any, request: Request) -> Table:
    """Read what ``DataFrame.to_hdf`` writes by default, if all columns are of one kind."""
    if "block1_values" in group:
        raise TableError("holds a pandas frame with columns of several kinds; save its numbers alone, or as Parquet.")
    others = {
        "feature_names": values(group["block0_items"], "block0_items"),
        "sample_names": values(group["axis1"], "axis1"),
    }
    return assemble(values(group["block0_values"], "block0_values"), in_memory(others), request)


def sparse_group(group: Any) -> Any:
    """Rebuild a sparse matrix of MATLAB 7.3: compressed columns, with the number of rows as an attribute."""
    indptr = values(group["jc"], "jc")
    shape = (int(group.attrs["MATLAB_sparse"]), indptr.size - 1)
    if "data" not in group:
        return checked_csr(np.empty(0), np.empty(0, dtype=int), indptr, shape, "csc")
    return checked_csr(values(group["data"], "data"), values(group["ir"], "ir"), indptr, shape, "csc")
