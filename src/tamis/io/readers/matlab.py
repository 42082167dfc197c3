"""MATLAB files: version 5 as it is, version 7.3 (which is HDF5 with turned matrices) by h5py."""

from pathlib import Path
from typing import Any

import numpy as np

from tamis.io.readers import matlab5
from tamis.io.readers.arrays import Members, assemble, pick_key
from tamis.io.readers.hdf import sparse_group, values
from tamis.io.readers.table import Progress, Request, Table
from tamis.io.sources.hdf5 import open_hdf

HDF5 = b"\x89HDF\r\n\x1a\n"


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (the readers tell no progress)
    """Read one matrix of a file; its other arrays may hold names and labels."""
    with path.open("rb") as file:
        head = file.read(520)
    if not (head.startswith(HDF5) or head.endswith(HDF5)):
        return _table(matlab5.members(path), request)
    with open_hdf(path) as file:
        return _table(_version_73(file), request)


def _table(arrays: Members, request: Request) -> Table:
    # A single row or column is a list of names or labels.
    key = pick_key(arrays.matrices(shortest=2), request.key, list(arrays))
    return assemble(arrays[key], arrays, request)


def _version_73(file: Any) -> Members:
    import h5py

    items = {
        name: item
        for name, item in file.items()
        # MATLAB keeps the contents of cells in groups whose names begin with a cross.
        if not name.startswith("#") and (isinstance(item, h5py.Dataset) or "MATLAB_sparse" in item.attrs)
    }
    return Members(
        {name: _declared(item) for name, item in items.items()}, lambda name: _value(file, items[name], name)
    )


def _declared(item: Any) -> tuple[tuple[int, ...], np.dtype]:
    if hasattr(item, "dtype"):
        return tuple(reversed(item.shape or ())), item.dtype
    return (int(item.attrs["MATLAB_sparse"]), item["jc"].shape[0] - 1), np.dtype(float)


def _value(file: Any, item: Any, name: str) -> Any:
    import h5py

    if not hasattr(item, "dtype"):
        return sparse_group(item)
    found = values(item, name)
    if item.dtype == h5py.ref_dtype:
        return np.array([_text(file[reference]) for reference in found.ravel()], dtype=object)
    return found.T


def _text(cell: Any) -> str:
    codes = values(cell, "cell").ravel()
    return "".join(map(chr, codes)) if codes.dtype.kind == "u" else str(codes)
