"""Large files as tables that stay on disk: the same roles and options as for files that are read whole."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tamis.extras import require
from tamis.io.errors import TableError
from tamis.io.memory import too_large
from tamis.io.readers.report import LEFT_OUT, Finding, ReadReport, counted, listed
from tamis.io.readers.roles import assign_roles
from tamis.io.readers.table import Progress, Request, Table, label_array, match_names, required
from tamis.io.sources import READ_IN_PIECES, TableSource, open_source
from tamis.io.sources.derived import Derived, equal_total_factors, row_totals

SMALL = 2**26
"""Files of at most so many bytes are read whole without asking for the memory."""


def wanted(path: Path, request: Request) -> bool:
    """Return whether a file is to be read in pieces: asked for, the only way, or larger than memory likes."""
    if path.is_dir():
        return path.suffix.lower() == ".zarr" or any(path.rglob("*.parquet"))
    if path.suffix.lower() not in READ_IN_PIECES or request.transpose or request.in_pieces is False:
        return False
    if request.in_pieces:
        return True
    # A compressed file is larger in memory than on disk: what is inside must tell.
    try:
        return path.stat().st_size > SMALL and too_large(_open(path, request).X)
    except (TableError, ImportError):
        return False  # Reading it whole says what is wrong with it.


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Open a table, find its roles, and go over it once for what every feature holds."""
    if request.transpose:
        raise TableError("a table that is read in pieces has its samples in rows; leave --transpose out.")
    table = _open(path, request)
    source = _transformed(table.X, request)
    _check_finite(source, progress)
    report = ReadReport(source.shape[0], {"number": source.shape[1]}, findings=table.report.findings)
    return replace(table, X=source, feature_names=source.column_names(), report=report)


def _open(path: Path, request: Request) -> Table:
    if path.suffix.lower() not in (".npy", ".h5ad", ".zarr"):
        return _parquet(path, request)
    source = open_source(path, request.key)
    table = Table(source, source.column_names())
    if path.suffix.lower() != ".npy":
        from tamis.io.readers.hdf import with_cells
        from tamis.io.sources.stores import open_store

        root = open_store(path)
        table = table if hasattr(root, "dtype") or "obs" not in root else with_cells(table, root, request)
    source.names = table.feature_names
    names = table.feature_names.tolist()
    out = match_names(request.drop, names, "--drop")
    keep = np.setdiff1d(np.arange(len(names)), out)
    if not keep.size:
        raise TableError("no feature is left to select from.")
    return replace(table, X=Derived(source, keep)) if out else table


def _parquet(path: Path, request: Request) -> Table:
    """Return the numeric features of Parquet parts, the other columns that have a role, and what was left out."""
    require("Reading Parquet", "pyarrow")
    from pyarrow import dataset, parquet

    from tamis.io.sources.parquet import ParquetParts, is_number, parquet_files

    files = parquet_files(path)
    schema = parquet.read_schema(files[0])
    roles = assign_roles(list(schema.names), request)
    numbers = [schema.names[i] for i in roles.features if is_number(schema.field(i).type)]
    words = tuple(schema.names[i] for i in roles.features if not is_number(schema.field(i).type))
    if not numbers:
        raise TableError(f"no feature holds numbers ({listed(words)} hold something else).")
    source = ParquetParts(files, numbers, str(path))
    reason = "not numbers, which a table that is read in pieces must hold"
    left_out = Finding(LEFT_OUT, reason, "" if path.is_dir() else "--whole", words)
    report = ReadReport(findings=(*roles.findings, left_out) if words else roles.findings)
    samples = y = None
    if asked := [name for name in (request.index, request.labels) if name is not None]:
        read = dataset.dataset([str(file) for file in files], format="parquet").to_table(columns=[*{*asked}])
        columns: dict[str | None, Any] = {name: label_array(read.column(name).to_pylist()) for name in asked}
        samples, y = columns.get(request.index), columns.get(request.labels)
    called = (request.index or "sample", request.labels or "label")
    return Table(source, source.column_names(), samples, y, *called, report=report)


def _transformed(source: TableSource, request: Request) -> TableSource:
    names = source.column_names().tolist()
    if request.only and names != list(request.only):
        places = {name: position for position, name in enumerate(names)}
        source = Derived(source, np.array([places[name] for name in required(request.only, names)], dtype=np.intp))
    factors = None
    if request.scale:
        factors = equal_total_factors(np.concatenate([row_totals(block) for _, block in source.blocks()]))
    return Derived(source, None, factors, request.log1p) if request.scale or request.log1p else source


def _check_finite(source: TableSource, progress: Progress) -> None:
    """Make the one pass that tells means, spreads and gaps, which the table remembers; refuse gaps."""
    found = source.column_statistics(lambda row: progress(row, source.shape[0]))
    columns = np.flatnonzero(found.non_finite)
    if columns.size:
        raise TableError(
            f"{counted(int(found.non_finite.sum()), 'cell')} of {listed(source.column_names()[columns])} missing or "
            f"infinite, the first in row {found.bad_row}; a table that is read in pieces must have none, so read it "
            "with --whole, fill the gaps, or leave features out with --drop."
        )
