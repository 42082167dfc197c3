"""Matrices without feature names of their own: NumPy files, and what all such files share."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import IO, Any, NamedTuple
from zipfile import ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from tamis.io.errors import TableError
from tamis.io.memory import check_room
from tamis.io.readers.report import listed
from tamis.io.readers.table import Progress, Request, Table, match_names
from tamis.io.sources.arrays import read_header
from tamis.io.sources.source import nameless
from tamis.io.sources.sparse import checked_coo, checked_csr
from tamis.io.sources.stores import as_text

USUAL_KEYS = ("X", "X_train", "data", "x", "matrix", "fea")
NAME_KEYS = ("feature_names", "var_names", "names", "genes", "columns", "features", "block0_items")
SAMPLE_KEYS = ("sample_names", "obs_names", "samples", "barcodes", "cells", "axis1")
LABELS, LABEL_NAME = "labels", "label_name"


class Member(NamedTuple):
    """An array of a file: its shape and type are known, its values are read when they are asked for."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    load: Callable[[], Any]

    def texts(self) -> NDArray[Any]:
        """Return the values in one row; bytes become text."""
        return as_text(np.asarray(self.load()).ravel())


Members = Mapping[str, Member]


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (NumPy tells no progress)
    """Read .npy, or .npz (dense or scipy's sparse)."""
    if path.suffix.lower() == ".npy":
        length = path.stat().st_size
        with path.open("rb") as stream:
            return assemble(_npy(stream, length, length, path.name), {}, request)
    with ZipFile(path) as archive:
        members = members_of(archive)
        if {"format", "data", "shape"} <= set(members):
            return assemble(_scipy_sparse(members), members, request)
        return assemble(pick(members, request.key).load(), members, request)


def _npy(stream: IO[bytes], length: int, stored: int, what: str) -> NDArray[Any]:
    """Read an array of numbers or text, after its declared size was compared with what is there."""
    shape, _, dtype = read_header(stream, length)
    check_room(prod(shape) * dtype.itemsize, stored, what)
    stream.seek(0)
    return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def members_of(archive: ZipFile) -> Members:
    """Return the arrays of a .npz archive."""
    return {info.filename.removesuffix(".npy"): _member(archive, info) for info in archive.infolist()}


def _member(archive: ZipFile, info: ZipInfo) -> Member:
    """Read the header of a member; what cannot be an array of numbers or text counts as nothing."""

    def load() -> NDArray[Any]:
        with archive.open(info) as stream:
            return _npy(stream, info.file_size, info.compress_size, f"the array {info.filename!r}")

    try:
        with archive.open(info) as stream:
            shape, _, dtype = read_header(stream, info.file_size)
    except Exception:
        return Member((0,), np.dtype(object), load)  # If it is asked for, reading it says what is wrong.
    return Member(shape, dtype, load)


def _scipy_sparse(members: Members) -> Any:
    """Rebuild what ``scipy.sparse.save_npz`` wrote."""
    kind = str(members["format"].texts()[0])
    names = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}.get(kind)
    if names is None:
        raise TableError(f"holds a sparse matrix in the format {kind!r}; save it as CSR, CSC or COO.")
    if missing := [name for name in names if name not in members]:
        raise TableError(f"holds a sparse matrix without {listed(missing)}; save it anew.")
    *parts, shape = (members[name].load() for name in ("data", *names, "shape"))
    return checked_coo(parts, shape) if kind == "coo" else checked_csr(parts, shape, kind)


def pick(members: Members, wanted: str | None, shortest: int = 1) -> Member:
    """Return the array to read: the one asked for, one of a usual name, or the only matrix; images have three axes."""
    matrices = {
        name: member
        for name, member in members.items()
        if len(member.shape) in (2, 3) and member.dtype.kind in "biuf" and min(member.shape) >= shortest
    }
    if wanted is not None and wanted not in matrices:
        what = "is not a matrix of numbers" if wanted in members else "is not in the file"
        raise TableError(f"--key names {wanted!r}, which {what}; it holds {listed(members)}.")
    if not matrices:
        raise TableError(f"holds no matrix of numbers (found: {listed(members) or 'nothing'}).")
    only = next(iter(matrices)) if len(matrices) == 1 else None
    key = wanted or next((name for name in USUAL_KEYS if name in matrices), only)
    if key is None:
        shown = [f"{name} ({'×'.join(map(str, member.shape))})" for name, member in matrices.items()][:8]
        raise TableError(f"holds several matrices: {', '.join(shown)}; say which with --key.")
    return matrices[key]


def assemble(X: Any, others: Members, request: Request) -> Table:
    """Make the table from a matrix and the other arrays of its file."""
    X = csr_array(X) if issparse(X) else np.asarray(X)
    X = X.reshape(len(X), -1) if X.ndim == 3 else X
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise TableError(f"holds {X.dtype} of shape {X.shape}, not a matrix of real numbers.")
    X = X.astype(np.uint8) if X.dtype.kind == "b" else X
    if request.transpose:
        X = csr_array(X.T) if issparse(X) else np.ascontiguousarray(X.T)
    n, d = X.shape
    names = _names(others, NAME_KEYS, d)
    names = nameless(d) if names is None else names
    samples = _names(others, (request.index,) if request.index else SAMPLE_KEYS, n)
    if request.index and samples is None:
        raise _unfit("--index", request.index, f"{n} names", others)
    return take_columns(Table(X, names, samples), others, request)


def take_columns(table: Table, others: Members, request: Request) -> Table:
    """Set the labels and leave out the dropped features."""
    names = table.feature_names.tolist()
    out = set(match_names(request.drop, names, "--drop"))
    label = request.labels if table.y is None else None
    if label in names:
        column = table.X[:, [names.index(label)]]
        out.add(names.index(label))
        table = replace(table, y=np.asarray(column.toarray() if issparse(column) else column).ravel())
    elif label is not None:
        table = replace(table, y=_labels(others, label, table.X.shape[0]))
    keep = np.array([i for i in range(len(names)) if i not in out], dtype=np.intp)
    if not keep.size:
        raise TableError("no feature is left to select from.")
    return replace(table.with_features(keep) if out else table, label_name=label or table.label_name)


def _labels(others: Members, name: str, n: int) -> NDArray[Any]:
    called = others.get(LABEL_NAME)
    if name not in others and LABELS in others and called is not None and prod(called.shape) == 1:
        # tamis itself writes labels under one name, and what they were called beside them.
        name = LABELS if str(called.texts()[0]) == name else name
    if name not in others or prod(others[name].shape) != n:
        raise _unfit("--labels", name, f"{n} labels", others)
    return others[name].texts()


def _unfit(option: str, name: str, what: str, others: Members) -> TableError:
    known = ", ".join(f"{name} {member.shape}" for name, member in list(others.items())[:8]) or "no further arrays"
    return TableError(f"{option} names {name!r}, which is not an array of {what}; there are {known}.")


def _names(others: Members, keys: tuple[str, ...], size: int) -> NDArray[Any] | None:
    fitting = (key for key in keys if key in others and prod(others[key].shape) == size)
    found = next((others[key] for key in fitting if others[key].dtype.kind in "OUSiu"), None)
    return None if found is None else np.array([str(cell) for cell in found.texts()], dtype=object)
