"""AnnData files (.h5ad): cells × genes, a layer by its key, labels and names from ``obs``; nothing else is read."""

from pathlib import Path
from typing import Any

import numpy as np

from tamis.io.errors import TableError
from tamis.io.readers.arrays import NOTHING, take_columns
from tamis.io.readers.hdf import values
from tamis.io.readers.table import Progress, Request, Table, label_array, listed
from tamis.io.sources.annotated import column_of, columns_of, index_of
from tamis.io.sources.hdf5 import open_hdf
from tamis.io.sources.sparse import PARTS, checked_csr, layout_of


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (h5py tells no progress)
    """Read X, or the layer that ``--key`` names, or ``raw``."""
    if request.transpose:
        raise TableError("an AnnData file is always cells × genes; leave --transpose out.")
    with open_hdf(path) as file:
        if "var" not in file or "obs" not in file:
            raise TableError("holds no obs and var, so that it is no AnnData file; name it .h5 if it is another HDF5.")
        X, names = _matrix(file, request.key)
        obs = file["obs"]
        samples = index_of(obs) if request.index is None else _column(obs, request.index, "--index")
        y = None if request.labels is None else label_array(_column(obs, request.labels, "--labels"))
    if X.shape != (len(samples), len(names)) or (y is not None and len(y) != len(samples)):
        raise TableError(f"X is {X.shape}, but obs and var are {len(samples)} and {len(names)} long; save it anew.")
    samples = np.array([str(name) for name in samples], dtype=object)
    return take_columns(Table(X, names, samples, y, "cell", request.labels or "label"), NOTHING, request)


def _matrix(file: Any, key: str | None) -> tuple[Any, np.ndarray]:
    key = key.removeprefix("layers/") if key else "X"
    place, frame = {"X": ("X", "var"), "raw": ("raw/X", "raw/var")}.get(key, (f"layers/{key}", "var"))
    if place not in file:
        layers = list(file["layers"]) if "layers" in file else []
        if key == "X":
            raise TableError(f"holds no X; name a layer with --key, of {listed(layers)}.")
        raise TableError(f"--key names {key!r}, which is not a layer; there are {listed(['X', *layers])}.")
    names = index_of(file[frame])
    return _numbers(file[place], key), np.array([str(name) for name in names], dtype=object)


def _numbers(item: Any, key: str) -> Any:
    if hasattr(item, "dtype"):
        found = values(item, key)
        if found.ndim != 2 or found.dtype.kind not in "biuf":
            raise TableError(f"{key} is {found.dtype} of shape {found.shape}, not a matrix of numbers; save it as one.")
        return found
    shape, kind = layout_of(item)
    if kind not in ("csr", "csc"):
        raise TableError(f"{key} is stored as {kind!r}, which is no matrix that tamis reads; save it as CSR.")
    data, indices, indptr = (values(item[part], part) for part in PARTS)
    return checked_csr(data, indices, indptr, shape, kind)


def _column(obs: Any, name: str, option: str) -> np.ndarray:
    known = columns_of(obs)
    if name not in known:
        raise TableError(f"{option} names {name!r}, which is not a column of obs; there are {listed(known)}.")
    return column_of(obs, name)
