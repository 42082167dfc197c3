"""From a path to a :class:`Table`: the format by the file's ending, then counts, names and gaps are seen to."""

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from scipy.sparse import issparse

from tamis.extras import require
from tamis.io.errors import TableError, reading
from tamis.io.files import check_readable
from tamis.io.memory import expansion
from tamis.io.readers import streaming
from tamis.io.readers.compression import ENDINGS, member_of
from tamis.io.readers.missing import mark_missing, report_gaps
from tamis.io.readers.report import KINDS, NOTICED, Finding
from tamis.io.readers.table import Progress, Request, Table, numbered, places_of, unheard
from tamis.io.readers.tenx import matrix_in
from tamis.io.sources.derived import equal_total_factors, logarithms, multiplied, row_totals

FORMATS = {
    ending: (module, name)
    for module, names in {
        "text": {"CSV": ".csv", "TSV": ".tsv .tab", "text table": ".txt"},
        "excel": {"Excel": ".xlsx .xls", "OpenDocument": ".ods"},
        "json": {"JSON lines": ".jsonl .ndjson", "JSON": ".json"},
        "arrow": {"Parquet": ".parquet .pq", "Feather": ".feather .arrow"},
        "arrays": {"NumPy": ".npy", "NumPy archive": ".npz"},
        "matrix_market": {"MatrixMarket": ".mtx"},
        "matlab": {"MATLAB": ".mat"},
        "hdf": {"HDF5": ".h5 .hdf5", "AnnData": ".h5ad"},
    }.items()
    for name, endings in names.items()
    for ending in endings.split()
}
"""Ending of a file's name: the module that reads it and what the format is called."""

NEEDS: dict[str, tuple[str, ...]] = dict.fromkeys(("text", "json", "arrow", "matrix_market", "excel"), ("pyarrow",))
NEEDS["excel"] += ("python_calamine",)
"""Packages of extras that a reader needs; those of HDF5 and Zarr are asked for where files are opened."""

COMPRESSED = (".csv", ".tsv", ".txt", ".tab", ".jsonl", ".ndjson", ".json")
"""Formats that are also read compressed, with a further ending of :data:`ENDINGS`."""

PARTS = {"sheet": (".xlsx", ".xls", ".ods"), "key": (".npz", ".mat", ".h5", ".hdf5", ".h5ad", ".zarr", ".zip")}
"""Options that name a part of a file, and the files that have parts."""


def read(path: str | os.PathLike[str], request: Request | None = None, progress: Progress | None = None) -> Table:
    """Read a file of any known format.

    Parameters
    ----------
    path : str or path
        The file; its ending tells the format, see :data:`FORMATS`.
    request : Request, optional
        Roles of columns and the like.
    progress : callable, optional
        Told how many of how many bytes were read, where the format allows.

    Returns
    -------
    Table
        Finite numbers with distinct feature names.

    Raises
    ------
    TableError
        With one sentence on what is wrong with the file, and what to do.
    """
    request, path, progress = request or Request(), matrix_in(Path(path)), progress or unheard
    reader, name = _reader(path, request)
    with reading(path, f"cannot be read as {name}"), expansion(request.max_expansion):
        return _finish(reader(path, request, progress), request, progress)


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the ending that tells the format, such as ``.csv`` or ``.csv.gz``."""
    inner, ending = ["", "", *(ending.lower() for ending in Path(path).suffixes)][-2:]
    if ending == ".zip" and inner not in FORMATS:
        return ".zip"
    if ending in ENDINGS:
        if inner in COMPRESSED or (inner, ending) == (".mtx", ".gz"):
            return inner + ending
        known = f"{', '.join(COMPRESSED)} with {', '.join(ENDINGS)}"
        raise TableError(f"{path}: of compressed files, only {known} are read; unpack it.")
    if ending not in FORMATS:
        known = ", ".join(FORMATS)
        raise TableError(f"{path}: the ending {ending!r} is not that of a known format; known are {known}.")
    return ending


def _reader(path: Path, request: Request) -> tuple[Callable[[Path, Request, Progress], Table], str]:
    for option, endings in PARTS.items():
        if getattr(request, option) is not None and path.suffix.lower() not in endings:
            raise TableError(f"{path}: --{option} names a part of {', '.join(endings)} files; leave it out.")
    if path.is_dir():
        if streaming.wanted(path, request):
            return streaming.read, "Zarr" if path.suffix.lower() == ".zarr" else "Parquet"
        raise TableError(f"{path}: is a folder; name a file in it.")
    check_readable(path)
    if (ending := format_of(path)) == ".zip":
        with reading(path, "is not a zip archive, or it is damaged"), ZipFile(path) as archive:
            inner = member_of(archive, request.key)
        if (ending := format_of(inner)) not in COMPRESSED:
            raise TableError(f"{path}: holds {inner!r}; of archives, only {', '.join(COMPRESSED)} are read.")
    module, name = FORMATS["." + ending.split(".")[1]]
    require(f"Reading {name}", *NEEDS.get(module, ()))
    if streaming.wanted(path, request):
        return streaming.read, name
    return import_module(f"tamis.io.readers.{module}").read, name


MIN_COUNTED, MAX_COUNTED = 50, 0.9
"""Features, at least, of a table of counts, and share of cells above zero, at most."""

COUNTS = Finding(
    NOTICED,
    "the values are counts, and the totals of the rows make all features depend on each other; for cells take tamis "
    "panel, and else, to make rows alike",
    "--scale --log1p",
)


def _finish(table: Table, request: Request, progress: Progress) -> Table:
    """See to names, gaps and counts, and report what the features are."""
    table = _restricted(table, request.only)
    n, d = table.shape
    if n == 0 or d == 0:
        raise TableError(f"the table has {n} rows and {d} features of numbers.")
    names, renamed = numbered([str(name) for name in table.feature_names])
    table = replace(table, feature_names=np.array(names, dtype=object), report=table.report.with_findings(*renamed))
    if table.in_pieces:
        table = streaming.finish(table, request, progress)
    else:
        table = report_gaps(mark_missing(table, request), request)
        if not (request.scale or request.log1p) and _holds_counts(table.X):
            table = replace(table, report=table.report.with_findings(COUNTS))
        X = multiplied(table.X, equal_total_factors(row_totals(table.X))) if request.scale else table.X
        table = replace(table, X=logarithms(X) if request.log1p else X)
    counts = Counter(table.kinds.get(name, "number") for name in table.original_names)
    kinds = {kind: counts[kind] for kind in KINDS if counts[kind]}
    report = table.report.with_findings(*_too_many_labels(table))
    return replace(table, report=replace(report, n_rows=table.shape[0], kinds=kinds))


def _holds_counts(X: Any) -> bool:
    """Return whether a wide table holds counts such as those of words or molecules: whole, and the rarer the larger."""
    values = X.data if issparse(X) else np.asarray(X).ravel()
    n_cells = X.shape[0] * X.shape[1]
    if X.shape[1] < MIN_COUNTED or not (values >= 0).all() or (values != np.round(values)).any():
        return False
    once, twice, thrice = (int((values == count).sum()) for count in (1, 2, 3))
    return once > twice > thrice > 0 and int((values > 0).sum()) <= MAX_COUNTED * n_cells


def _too_many_labels(table: Table) -> list[Finding]:
    different, n = 0 if table.y is None else len(set(table.y.tolist())), table.shape[0]
    text = f"{table.label_name!r} has {different} different labels in {n} rows, so that accuracy tells nothing"
    return [Finding(NOTICED, f"{text}; if another feature holds them", "--labels")] if 2 * different > n else []


def _restricted(table: Table, only: tuple[str, ...]) -> Table:
    """Keep the features asked for, in the order asked for; whole categories stay as they were encoded."""
    names = table.feature_names.tolist()
    if not only or names == list(only) or (table.groups is not None and not set(only) <= set(names)):
        return table
    return table.with_features(np.array(places_of(only, names), dtype=np.intp))
