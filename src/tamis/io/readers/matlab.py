"""MATLAB files: version 5 by scipy in a process of its own, version 7.3 (HDF5 with turned matrices) by h5py."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import numpy as np

from tamis.io.errors import TableError
from tamis.io.memory import room_for
from tamis.io.readers import matlab5
from tamis.io.readers.arrays import Member, Members, assemble, held, members_of, pick
from tamis.io.readers.hdf import stored, values
from tamis.io.readers.table import Progress, Request, Table
from tamis.io.sources.hdf5 import SIGNATURE, open_hdf
from tamis.io.sources.sparse import checked_csr


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (the readers tell no progress)
    """Read one matrix of a file; its other arrays may hold names and labels."""
    with path.open("rb") as file:
        head = file.read(520)
    if head.startswith(SIGNATURE) or head.endswith(SIGNATURE):
        with open_hdf(path) as root:
            return _table(_version_73(root), request)
    if head[126:128] not in (b"IM", b"MI"):
        raise TableError("is no MATLAB file of version 5 or 7.3; save it with save -v7.")
    with TemporaryDirectory(prefix="tamis-") as folder:
        _copy_arrays(path, Path(folder, "arrays.npz"))
        with ZipFile(Path(folder, "arrays.npz")) as archive:
            return _table(_with_sparse(members_of(archive)), request)


def _table(arrays: Members, request: Request) -> Table:
    # A single row or column is a list of names or labels.
    return assemble(pick(arrays, request.key, shortest=2).load(), arrays, request)


def _copy_arrays(path: Path, archive: Path) -> None:
    command: list[str | Path] = [
        sys.executable,
        "-P",
        matlab5.__file__,
        path,
        archive,
        str(room_for(path.stat().st_size)),
    ]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=os.environ | threads)
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1:] if done.returncode > 0 else []
        raise ValueError(said[0] if said else "its parts do not fit together")


def _with_sparse(arrays: Members) -> Members:
    """Add the sparse matrices whose parts are among the arrays."""
    found = dict(arrays)
    for name in [name.removesuffix("/indptr") for name in arrays if name.endswith("/indptr")]:
        parts = [found.pop(f"{name}/{part}") for part in (*matlab5.PARTS, "shape")]
        shape = tuple(parts.pop().load().tolist())
        found[name] = Member(shape, parts[0].dtype, partial(_compressed, parts, shape))
    return found


def _compressed(parts: list[Member], shape: tuple[int, int]) -> Any:
    data, indices, indptr = (part.load() for part in parts)
    return checked_csr(data, indices, indptr, shape, "csc")


def _version_73(root: Any) -> Members:
    found = {}
    for name, item in root.items():
        if hasattr(item, "dtype"):
            shape = tuple(reversed(item.shape or ()))
            found[name] = Member(shape, item.dtype, partial(_dense, root, item, name))
        # MATLAB keeps the contents of cells in groups whose names begin with a cross.
        elif not name.startswith("#") and "MATLAB_sparse" in item.attrs:
            shape = (int(item.attrs["MATLAB_sparse"]), item["jc"].shape[0] - 1)
            names = ("data", "ir", "jc")  # A matrix of zeros has no values.
            parts = [stored(item[part], part) if part in item else held(np.empty(0, int)) for part in names]
            found[name] = Member(shape, np.dtype(float), partial(_compressed, parts, shape))
    return found


def _dense(root: Any, item: Any, name: str) -> Any:
    import h5py

    found = values(item, name)
    if item.dtype == h5py.ref_dtype:
        return np.array([_text(root[reference]) for reference in found.ravel()], dtype=object)
    return found.T


def _text(cell: Any) -> str:
    codes = values(cell, "cell").ravel()
    return "".join(map(chr, codes)) if codes.dtype.kind == "u" else str(codes)
