"""MATLAB files of version 5 (``save -v7`` and before), read by scipy in a process of its own."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

from tamis.io.errors import TableError
from tamis.io.memory import room_for
from tamis.io.readers import matlab5
from tamis.io.readers.arrays import Member, Members, assemble, members_of, pick
from tamis.io.readers.table import Progress, Request, Table
from tamis.io.sources.hdf5 import SIGNATURE
from tamis.io.sources.sparse import checked_csr


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (scipy tells no progress)
    """Read one matrix of a file; its other arrays may hold names and labels."""
    with path.open("rb") as file:
        head = file.read(520)
    if head.startswith(SIGNATURE) or head.endswith(SIGNATURE):
        raise TableError("is of MATLAB's version 7.3, which is HDF5; save it with save -v7, or name it .h5.")
    if head[126:128] not in (b"IM", b"MI"):
        raise TableError("is no MATLAB file of version 5; save it with save -v7.")
    with TemporaryDirectory(prefix="tamis-") as folder:
        _copy_arrays(path, Path(folder, "arrays.npz"))
        with ZipFile(Path(folder, "arrays.npz")) as archive:
            arrays = _with_sparse(members_of(archive))
            # A single row or column is a list of names or labels.
            return assemble(pick(arrays, request.key, shortest=2).load(), arrays, request)


def _copy_arrays(path: Path, archive: Path) -> None:
    command = [sys.executable, "-P", matlab5.__file__, str(path), str(archive), str(room_for(path.stat().st_size))]
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
    return checked_csr((part.load() for part in parts), shape, "csc")
