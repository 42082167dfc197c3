"""MATLAB files: version 5 by scipy, version 7.3 (which is HDF5 with turned matrices) by h5py."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from tamis.readers.arrays import assemble, pick_key
from tamis.readers.hdf import sparse_group
from tamis.readers.table import Progress, Request, Table


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (scipy tells no progress)
    """Read one matrix of a file; its other arrays may hold names and labels."""
    with path.open("rb") as file:
        file.seek(512 if file.read(8) != b"\x89HDF\r\n\x1a\n" else 0)
        is_hdf = file.read(8) == b"\x89HDF\r\n\x1a\n"
    arrays = _version_73(path) if is_hdf else _version_5(path)
    matrices = {name: value.shape for name, value in arrays.items() if _is_matrix(value)}
    key = pick_key(matrices, request.key, list(arrays))
    return assemble(arrays.pop(key), arrays, request)


def _is_matrix(value: Any) -> bool:
    return value.ndim in (2, 3) and min(value.shape) > 1 and value.dtype.kind in "biuf"


def _version_5(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat

    content = loadmat(path, chars_as_strings=True)
    return {
        name: value
        for name, value in content.items()
        if not name.startswith("__") and (isinstance(value, np.ndarray) or issparse(value))
    }


def _version_73(path: Path) -> dict[str, Any]:
    import h5py

    found: dict[str, Any] = {}
    with h5py.File(path, "r") as file:
        for name, item in file.items():
            if name.startswith("#"):
                continue  # MATLAB keeps the contents of cells there.
            if isinstance(item, h5py.Group):
                if "MATLAB_sparse" in item.attrs:
                    found[name] = sparse_group(item)
            elif item.dtype == h5py.ref_dtype:
                found[name] = np.array([_text(file[reference]) for reference in item[()].ravel()], dtype=object)
            else:
                found[name] = item[()].T
    return found


def _text(cell: Any) -> str:
    values = np.asarray(cell[()]).ravel()
    return "".join(map(chr, values)) if values.dtype.kind == "u" else str(values)
