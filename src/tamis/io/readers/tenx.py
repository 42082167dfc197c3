"""What Cell Ranger writes: genes × cells, in an .h5 file or as a MatrixMarket file with lists of names beside it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from tamis.io.errors import TableError, reading
from tamis.io.readers.arrays import Member, assemble
from tamis.io.readers.compression import opened
from tamis.io.readers.report import ASSUMED, LEFT_OUT, Finding
from tamis.io.readers.table import Request, Table, numbered

GENES = "Gene Expression"
Lines = Sequence[Sequence[str]]


def matrix_in(path: Path) -> Path:
    """Return the matrix in a folder of Cell Ranger; any other path is returned as it is."""
    return next((path / name for name in ("matrix.mtx", "matrix.mtx.gz") if (path / name).is_file()), path)


def lists_beside(path: Path) -> tuple[Lines, Lines]:
    """Read the features and the samples that files beside a MatrixMarket file list by custom."""
    # Files of GEO have the name of the sample before that of the list.
    before = path.name.rpartition("matrix.mtx")[0]
    return _first_list(path, f"{before}features", f"{before}genes"), _first_list(path, f"{before}barcodes")


def _first_list(beside: Path, *stems: str) -> Lines:
    paths = (beside.with_name(f"{stem}.tsv{end}") for stem in stems for end in ("", ".gz"))
    for path in filter(Path.is_file, paths):
        with reading(path, "cannot be read as a list of names"), opened(path) as stream:
            return [line.decode("utf-8").rstrip("\r\n").split("\t") for line in stream]
    return []


def table_of_genes(X: Any, features: Lines, samples: Lines, request: Request) -> Table:
    """Make a table; rows are features if as many are listed, and what is no gene, such as an antibody, is left out.

    A line of ``features`` holds the identifier and, if there are more cells, the symbol and the type.
    """
    turned, findings = request.transpose, list[Finding]()
    for lines, what in ((features, "features"), (samples, "samples")):
        if lines and len(lines) not in X.shape:
            size = f"{X.shape[0]} × {X.shape[1]}"
            raise TableError(f"{len(lines)} {what} are listed beside it, and the matrix has {size}; mend the list.")
    by_samples = not features and len(samples) == X.shape[1] != X.shape[0]
    if turned is None and (turned := len(features) == X.shape[0] or by_samples):
        what = "columns of the matrix are the samples" if by_samples else "rows of the matrix are the features"
        findings = [Finding(ASSUMED, f"the {what} listed beside it", "--no-transpose")]
    X = X.T if turned else X
    X = csr_array(X) if issparse(X) else np.ascontiguousarray(X)
    members = {"sample_names": _member([line[0] for line in samples])}
    if len(features) == X.shape[1]:
        names = np.array([next(filter(None, (*line[1:2], line[0])), "") for line in features], dtype=object)
        kinds = np.array([line[2] if len(line) > 2 else GENES for line in features], dtype=object)
        if 0 < (other := kinds != GENES).sum() < len(kinds):
            for kind in dict.fromkeys(kinds[other]):
                what = f"of the type {kind!r}, not {GENES!r}"
                findings.append(Finding(LEFT_OUT, what, "", tuple(names[kinds == kind])))
            X, names = X[:, np.flatnonzero(~other)], names[~other]
        distinct, renamed = numbered(names.tolist())
        members["feature_names"] = _member(distinct)
        findings += renamed
    table = assemble(X, members, replace(request, transpose=False))
    return replace(table, report=table.report.with_findings(*findings))


def _member(names: Sequence[str]) -> Member:
    array = np.array(names, dtype=object)
    return Member(array.shape, array.dtype, partial(np.asarray, array))
