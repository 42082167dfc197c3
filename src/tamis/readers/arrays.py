"""Matrices without column names of their own: NumPy and MatrixMarket files, and what all such files share."""

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, issparse

from tamis.readers.table import Progress, ReadError, Request, Table, listed, match_names

USUAL_KEYS = ("X", "X_train", "data", "x", "matrix", "fea")
NAME_KEYS = ("feature_names", "var_names", "names", "genes", "columns", "features")
SAMPLE_KEYS = ("sample_names", "obs_names", "samples", "barcodes", "cells")


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (NumPy tells no progress)
    """Read .npy, .npz (dense or scipy's sparse) or MatrixMarket."""
    if path.suffix.lower() == ".npz":
        return _npz(path, request)
    if path.suffix.lower() == ".npy":
        with path.open("rb") as stream:
            return assemble(np.load(stream, allow_pickle=False), {}, request)
    from scipy.io import mmread

    return assemble(mmread(path), _neighbours(path), request)


def _npz(path: Path, request: Request) -> Table:
    # The stream is opened here, because NumPy leaves it open when the archive is damaged.
    with path.open("rb") as stream:
        archive = np.load(stream, allow_pickle=False)
        if not hasattr(archive, "files"):
            raise ReadError("is not an archive of arrays; name it .npy.")
        if {"format", "data", "shape"} <= set(archive.files):
            return assemble(_scipy_sparse(archive), _others(archive, ("format", "data", "shape")), request)
        arrays = _others(archive, ())
    key = pick_key(
        {name: value.shape for name, value in arrays.items() if _is_matrix(value)}, request.key, list(arrays)
    )
    return assemble(arrays.pop(key), arrays, request)


def _others(archive: Any, taken: tuple[str, ...]) -> dict[str, np.ndarray]:
    found = {}
    for name in archive.files:
        if name in (*taken, "indices", "indptr", "row", "col", "offsets", "blocksize"):
            continue
        try:
            found[name] = archive[name]
        except ValueError:
            continue  # An array of Python objects, which only pickle could read, is left alone.
    return found


def _scipy_sparse(archive: Any) -> Any:
    """Rebuild what ``scipy.sparse.save_npz`` wrote."""
    kind = archive["format"].item()
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    shape = tuple(int(size) for size in archive["shape"])
    if kind == "coo":
        matrix = coo_array((archive["data"], (archive["row"], archive["col"])), shape=shape)
    elif kind in ("csr", "csc"):
        parts = (archive["data"], archive["indices"], archive["indptr"])
        matrix = (csr_array if kind == "csr" else csc_array)(parts, shape=shape)
        matrix.check_format()
    else:
        raise ReadError(f"holds a sparse matrix in the format {kind!r}; save it as CSR, CSC or COO.")
    return csr_array(matrix)


def pick_key(matrices: Mapping[str, tuple[int, ...]], wanted: str | None, known: list[str]) -> str:
    """Choose the array to read: the one asked for, a usual name, or the only matrix."""
    if wanted is not None:
        if wanted in matrices:
            return wanted
        what = "is not a matrix of numbers" if wanted in known else "is not in the file"
        raise ReadError(f"--key names {wanted!r}, which {what}; it holds {listed(known)}.")
    for name in USUAL_KEYS:
        if name in matrices:
            return name
    if len(matrices) == 1:
        return next(iter(matrices))
    if not matrices:
        raise ReadError(f"holds no matrix of numbers (found: {listed(known) or 'nothing'}).")
    shapes = ", ".join(f"{name} ({'×'.join(map(str, shape))})" for name, shape in list(matrices.items())[:8])
    raise ReadError(f"holds several matrices: {shapes}; say which with --key.")


def _is_matrix(value: Any) -> bool:
    # Images as n × height × width are a matrix, too: every pixel is a feature.
    return getattr(value, "ndim", 0) in (2, 3) and value.dtype.kind in "biuf" and min(value.shape) > 0


def assemble(X: Any, others: Mapping[str, Any], request: Request) -> Table:
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
        raise ReadError(
            f"--index names {request.index!r}, which is not an array of {n} names; there are {_known(others)}."
        )
    return take_columns(Table(X, names, samples), others, request)


def take_columns(table: Table, others: Mapping[str, Any], request: Request) -> Table:
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
        raise ReadError("no feature is left to select from.")
    X = table.X[:, keep] if out else table.X
    return Table(X, table.feature_names[keep], table.sample_names, y, table.index_name, label_name)


def _labels(others: Mapping[str, Any], name: str, n: int) -> np.ndarray:
    values = np.asarray(others[name]).ravel() if name in others else None
    if values is None or len(values) != n:
        raise ReadError(f"--labels names {name!r}, which is not an array of {n} labels; there are {_known(others)}.")
    return decoded(values)


def _known(others: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {np.shape(value)}" for name, value in list(others.items())[:8]) or "no further arrays"


def _as_matrix(X: Any) -> Any:
    if issparse(X):
        X = csr_array(X)
    else:
        X = np.asarray(X)
        if X.ndim == 3:
            X = X.reshape(len(X), -1)
    if X.ndim != 2:
        raise ReadError(f"holds an array of shape {X.shape}, not a matrix of samples × features.")
    if X.dtype.kind not in "biuf":
        raise ReadError(f"holds an array of {X.dtype}, not of real numbers.")
    return X.astype(np.uint8) if X.dtype.kind == "b" else X


def _strings(others: Mapping[str, Any], keys: tuple[str, ...], size: int) -> np.ndarray | None:
    for key in keys:
        if key in others:
            values = np.asarray(others[key]).ravel()
            if len(values) == size and values.dtype.kind in "OUSiu":
                return np.array([str(cell) for cell in decoded(values)], dtype=object)
    return None


def decoded(values: np.ndarray) -> np.ndarray:
    """Turn bytes into text, and one-element arrays (MATLAB's cells) into what they hold."""
    if values.dtype.kind not in "OS":
        return values
    plain = [cell.item() if isinstance(cell, np.ndarray) and cell.size == 1 else cell for cell in values]
    cells = [cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell) for cell in plain]
    return np.array(cells, dtype=object)


def _neighbours(path: Path) -> dict[str, np.ndarray]:
    """Read names from the files that lie beside a MatrixMarket file by custom."""
    found = {}
    for key, stems in (("feature_names", ("features", "genes")), ("sample_names", ("barcodes",))):
        for name in (f"{stem}.tsv{packed}" for stem in stems for packed in ("", ".gz")):
            if (path.parent / name).is_file():
                found[key] = _first_column(path.parent / name)
    return found


def _first_column(path: Path) -> np.ndarray:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return np.array([line.rstrip("\n").split("\t")[0] for line in lines], dtype=object)
