"""HDF5 files: a matrix by its key, with names from the arrays beside it."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from tamis.readers.arrays import assemble, pick_key
from tamis.readers.table import Progress, ReadError, Request, Table


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (h5py tells no progress)
    """Read one matrix of a file."""
    import h5py

    with h5py.File(path, "r") as file:
        arrays = datasets(file)
        frames = {
            name[: -len("/block0_values")]: item for name, item in arrays.items() if name.endswith("/block0_values")
        }
        if request.key in frames or (request.key is None and len(frames) == 1):
            return _pandas_frame(file[request.key or next(iter(frames))], request)
        matrices = {name: item.shape for name, item in arrays.items() if item.ndim == 2 and item.dtype.kind in "biuf"}
        wanted = request.key.strip("/") if request.key else None
        key = pick_key(matrices, wanted, list(arrays))
        return assemble(arrays[key][()], _beside(key, arrays), request)


def datasets(file: Any) -> dict[str, Any]:
    """Give all arrays of a file by their path."""
    import h5py

    found: dict[str, Any] = {}
    file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
    return found


def _beside(key: str, arrays: dict[str, Any]) -> dict[str, np.ndarray]:
    """Give the vectors of the file, by full path and, in the matrix's own group, by their last name too."""
    group = key.rpartition("/")[0]
    vectors = {name: item[()] for name, item in arrays.items() if item.ndim == 1 or 1 in item.shape}
    near = {name.rpartition("/")[2]: value for name, value in vectors.items() if name.rpartition("/")[0] == group}
    return vectors | near


def _pandas_frame(group: Any, request: Request) -> Table:
    """Read what ``DataFrame.to_hdf`` writes by default, if all columns are of one kind."""
    if "block1_values" in group:
        raise ReadError("holds a pandas frame with columns of several kinds; save its numbers alone, or as Parquet.")
    others = {"feature_names": group["block0_items"][()], "sample_names": group["axis1"][()]}
    return assemble(group["block0_values"][()], others, request)


def sparse_group(group: Any) -> Any:
    """Rebuild a sparse matrix of MATLAB 7.3: compressed columns, with the number of rows as an attribute."""
    indptr = group["jc"][()]
    shape = (int(group.attrs["MATLAB_sparse"]), len(indptr) - 1)
    if "data" not in group:
        return csr_array(shape)
    matrix = csc_array((group["data"][()], group["ir"][()], indptr), shape=shape)
    matrix.check_format()
    return csr_array(matrix)
