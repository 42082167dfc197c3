"""Matrices without column names of their own: NumPy and MatrixMarket files, and what all such files share."""

import gzip
from collections.abc import Callable, Iterator, Mapping
from math import prod
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile, ZipInfo

import numpy as np
from scipy.sparse import csr_array, issparse

from tamis.io.errors import TableError, reading
from tamis.io.memory import Expanded, check_room, file_size
from tamis.io.readers.table import Progress, Request, Table, listed, match_names
from tamis.io.sources.npy import read_header, stored_length
from tamis.io.sources.sparse import checked_coo, checked_csr

USUAL_KEYS = ("X", "X_train", "data", "x", "matrix", "fea")
NAME_KEYS = ("feature_names", "var_names", "names", "genes", "columns", "features")
LABELS, LABEL_NAME = "labels", "label_name"
SPARSE_PARTS = dict.fromkeys(("csr", "csc"), ("data", "shape", "indices", "indptr")) | {
    "coo": ("data", "shape", "row", "col")
}
SAMPLE_KEYS = ("sample_names", "obs_names", "samples", "barcodes", "cells")


class Members(Mapping[str, Any]):
    """The arrays of a file by name: shapes are known, values are read when they are asked for.

    Parameters
    ----------
    shapes : mapping
        Shape and type of every array.
    load : callable
        Reads the array of a name.
    """

    def __init__(self, shapes: Mapping[str, tuple[tuple[int, ...], np.dtype]], load: Callable[[str], Any]):
        self.shapes, self._load = dict(shapes), load

    def __getitem__(self, name: str) -> Any:
        if name not in self.shapes:
            raise KeyError(name)
        return self._load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)

    def __contains__(self, name: object) -> bool:
        return name in self.shapes

    def size(self, name: str) -> int:
        """Return how many values an array has."""
        return prod(self.shapes[name][0])

    def matrices(self, shortest: int = 1) -> dict[str, tuple[int, ...]]:
        """Return the shapes of what can be a table: numbers in two dimensions, or images in three."""
        return {
            name: shape
            for name, (shape, dtype) in self.shapes.items()
            if len(shape) in (2, 3) and dtype.kind in "biuf" and min(shape) >= shortest
        }


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (NumPy tells no progress)
    """Read .npy, .npz (dense or scipy's sparse) or MatrixMarket."""
    if path.suffix.lower() == ".npz":
        return _npz(path, request)
    if path.suffix.lower() == ".npy":
        with path.open("rb") as stream:
            return assemble(_npy(stream, stored_length(stream), stored_length(stream), path.name), NOTHING, request)
    from tamis.io.readers import matrix_market

    return assemble(matrix_market.load(path), _neighbours(path), request)


def _npy(stream: IO[bytes], length: int, stored: int, what: str) -> np.ndarray:
    """Read an array of numbers or text, after its declared size was compared with what is there."""
    shape, _, dtype = read_header(stream, length)
    check_room(prod(shape) * dtype.itemsize, stored, what)
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)


def _npz(path: Path, request: Request) -> Table:
    with ZipFile(path) as archive:
        entries = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        shapes = {name: _declared(archive, info) for name, info in entries.items()}

        def load(name: str) -> np.ndarray:
            info = entries[name]
            with archive.open(info) as stream:
                return _npy(stream, info.file_size, info.compress_size, f"the array {name!r}")

        members = Members(shapes, load)
        if {"format", "data", "shape"} <= set(shapes):
            return assemble(_scipy_sparse(members), members, request)
        return assemble(members[pick_key(members.matrices(), request.key, list(members))], members, request)


def _declared(archive: ZipFile, info: ZipInfo) -> tuple[tuple[int, ...], np.dtype]:
    """Read the header of a member; what cannot be an array of numbers or text counts as nothing."""
    try:
        with archive.open(info) as stream:
            shape, _, dtype = read_header(stream, info.file_size)
    except Exception:
        return (0,), np.dtype(object)  # If it is asked for, reading it says what is wrong.
    return shape, dtype


def _scipy_sparse(members: Members) -> Any:
    """Rebuild what ``scipy.sparse.save_npz`` wrote."""
    kind = members["format"].item()
    kind = kind.decode("latin-1") if isinstance(kind, bytes) else str(kind)
    if kind not in ("csr", "csc", "coo"):
        raise TableError(f"holds a sparse matrix in the format {kind!r}; save it as CSR, CSC or COO.")
    missing = [name for name in SPARSE_PARTS[kind] if name not in members]
    if missing:
        raise TableError(f"holds a sparse matrix without {listed(missing)}; save it anew.")
    if kind == "coo":
        return checked_coo(members["data"], members["row"], members["col"], members["shape"])
    return checked_csr(members["data"], members["indices"], members["indptr"], members["shape"], kind)


def pick_key(matrices: Mapping[str, tuple[int, ...]], wanted: str | None, known: list[str]) -> str:
    """Choose the array to read: the one asked for, a usual name, or the only matrix."""
    if wanted is not None:
        if wanted in matrices:
            return wanted
        what = "is not a matrix of numbers" if wanted in known else "is not in the file"
        raise TableError(f"--key names {wanted!r}, which {what}; it holds {listed(known)}.")
    for name in USUAL_KEYS:
        if name in matrices:
            return name
    if len(matrices) == 1:
        return next(iter(matrices))
    if not matrices:
        raise TableError(f"holds no matrix of numbers (found: {listed(known) or 'nothing'}).")
    shapes = ", ".join(f"{name} ({'×'.join(map(str, shape))})" for name, shape in list(matrices.items())[:8])
    raise TableError(f"holds several matrices: {shapes}; say which with --key.")


def assemble(X: Any, others: Members, request: Request) -> Table:
    """Make the table from a matrix and the other arrays of its file."""
    X = _as_matrix(X)
    if request.transpose:
        X = csr_array(X.T) if issparse(X) else np.ascontiguousarray(X.T)
    n, d = X.shape
    names = _strings(others, NAME_KEYS, d)
    if names is None:
        names = np.array([f"feature_{i}" for i in range(d)], dtype=object)
    samples = _strings(others, (request.index,) if request.index else SAMPLE_KEYS, n)
    if request.index and samples is None:
        raise TableError(
            f"--index names {request.index!r}, which is not an array of {n} names; there are {_known(others)}."
        )
    return take_columns(Table(X, names, samples), others, request)


def take_columns(table: Table, others: Members, request: Request) -> Table:
    """Set the labels and leave out the dropped columns."""
    names = table.feature_names.tolist()
    out = set(match_names(request.drop, names, "--drop")) if request.drop else set()
    y, label_name = table.y, table.label_name
    if request.labels is not None and y is None:
        label_name = request.labels
        if request.labels in names:
            place = names.index(request.labels)
            column = table.X[:, [place]]
            y = np.asarray(column.toarray() if issparse(column) else column).ravel()
            out.add(place)
        else:
            y = _labels(others, request.labels, table.X.shape[0])
    keep = [i for i in range(len(names)) if i not in out]
    if not keep:
        raise TableError("no feature is left to select from.")
    X = table.X[:, keep] if out else table.X
    return Table(X, table.feature_names[keep], table.sample_names, y, table.index_name, label_name)


def _labels(others: Members, name: str, n: int) -> np.ndarray:
    if name not in others and {LABELS, LABEL_NAME} <= set(others) and others.size(LABEL_NAME) == 1:
        # tamis itself writes labels under one name, and what they were called beside them.
        name = LABELS if str(decoded(np.ravel(others[LABEL_NAME]))[0]) == name else name
    if name not in others or others.size(name) != n:
        raise TableError(f"--labels names {name!r}, which is not an array of {n} labels; there are {_known(others)}.")
    return decoded(np.asarray(others[name]).ravel())


def _known(others: Members) -> str:
    return ", ".join(f"{name} {others.shapes[name][0]}" for name in list(others)[:8]) or "no further arrays"


def _as_matrix(X: Any) -> Any:
    if issparse(X):
        X = csr_array(X)
    else:
        X = np.asarray(X)
        if X.ndim == 3:
            X = X.reshape(len(X), -1)
    if X.ndim != 2:
        raise TableError(f"holds an array of shape {X.shape}, not a matrix of samples × features.")
    if X.dtype.kind not in "biuf":
        raise TableError(f"holds an array of {X.dtype}, not of real numbers.")
    return X.astype(np.uint8) if X.dtype.kind == "b" else X


def _strings(others: Members, keys: tuple[str, ...], size: int) -> np.ndarray | None:
    for key in keys:
        if key in others and others.size(key) == size and others.shapes[key][1].kind in "OUSiu":
            return np.array([str(cell) for cell in decoded(np.asarray(others[key]).ravel())], dtype=object)
    return None


def decoded(values: np.ndarray) -> np.ndarray:
    """Turn bytes into text, and one-element arrays (MATLAB's cells) into what they hold."""
    if values.dtype.kind not in "OS":
        return values
    plain = [cell.item() if isinstance(cell, np.ndarray) and cell.size == 1 else cell for cell in values]
    cells = [cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell) for cell in plain]
    return np.array(cells, dtype=object)


def in_memory(arrays: Mapping[str, Any]) -> Members:
    """Return arrays that were read already."""
    return Members({name: (np.shape(value), value.dtype) for name, value in arrays.items()}, arrays.__getitem__)


NOTHING = in_memory({})


def _neighbours(path: Path) -> Members:
    """Read names from the files that lie beside a MatrixMarket file by custom."""
    found = {}
    for key, stems in (("feature_names", ("features", "genes")), ("sample_names", ("barcodes",))):
        for name in (f"{stem}.tsv{packed}" for stem in stems for packed in ("", ".gz")):
            if (path.parent / name).is_file():
                found[key] = _first_column(path.parent / name)
    return in_memory(found)


def _first_column(path: Path) -> np.ndarray:
    opener = gzip.open if path.suffix == ".gz" else open
    with reading(path, "cannot be read as a list of names"), opener(path, "rb") as stream:
        lines = Expanded(stream, file_size(path))
        names = [line.decode("utf-8").rstrip("\r\n").split("\t")[0] for line in iter(lines.readline, b"")]
    return np.array(names, dtype=object)
