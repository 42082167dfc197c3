"""MATLAB files: version 5 as it is, version 7.3 (which is HDF5 with turned matrices) by h5py."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tamis.io.readers import matlab5
from tamis.io.readers.arrays import Member, Members, assemble, pick
from tamis.io.readers.hdf import values
from tamis.io.readers.table import Progress, Request, Table
from tamis.io.sources.hdf5 import SIGNATURE, open_hdf
from tamis.io.sources.sparse import checked_csr


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (the readers tell no progress)
    """Read one matrix of a file; its other arrays may hold names and labels."""
    with path.open("rb") as file:
        head = file.read(520)
    if not (head.startswith(SIGNATURE) or head.endswith(SIGNATURE)):
        return _table(matlab5.members(path), request)
    with open_hdf(path) as root:
        return _table(_version_73(root), request)


def _table(arrays: Members, request: Request) -> Table:
    # A single row or column is a list of names or labels.
    return assemble(pick(arrays, request.key, shortest=2).load(), arrays, request)


def _version_73(root: Any) -> Members:
    found = {}
    for name, item in root.items():
        if hasattr(item, "dtype"):
            shape = tuple(reversed(item.shape or ()))
            found[name] = Member(shape, item.dtype, partial(_dense, root, item, name))
        # MATLAB keeps the contents of cells in groups whose names begin with a cross.
        elif not name.startswith("#") and "MATLAB_sparse" in item.attrs:
            shape = (int(item.attrs["MATLAB_sparse"]), item["jc"].shape[0] - 1)
            found[name] = Member(shape, np.dtype(float), partial(_sparse, item, shape))
    return found


def _dense(root: Any, item: Any, name: str) -> Any:
    import h5py

    found = values(item, name)
    if item.dtype == h5py.ref_dtype:
        return np.array([_text(root[reference]) for reference in found.ravel()], dtype=object)
    return found.T


def _sparse(group: Any, shape: tuple[int, int]) -> Any:
    """Rebuild a sparse matrix: compressed columns, without values if it has none but zeros."""
    data, rows = (values(group[part], part) if part in group else np.empty(0, int) for part in ("data", "ir"))
    return checked_csr(data, rows, values(group["jc"], "jc"), shape, "csc")


def _text(cell: Any) -> str:
    codes = values(cell, "cell").ravel()
    return "".join(map(chr, codes)) if codes.dtype.kind == "u" else str(codes)
