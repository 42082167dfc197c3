"""Large files as tables that stay on disk: the same roles and options as for files that are read whole."""

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
from tamis.io.sources.derived import Derived, equal_total_factors

SMALL = 2**26
"""Files of at most so many bytes are read whole without a look at the memory."""


def wanted(path: Path, request: Request) -> bool:
    """Tell whether a file is to be read in pieces: asked for, the only way, or larger than memory likes."""
    if path.is_dir():
        return path.suffix.lower() == ".zarr" or any(path.rglob("*.parquet"))
    if path.suffix.lower() not in READ_IN_PIECES or request.transpose or request.in_pieces is False:
        return False
    if request.in_pieces:
        return True
    # A compressed file is larger in memory than on disk: what is inside must tell.
    try:
        return path.stat().st_size > SMALL and too_large(_opened(path, request))
    except (TableError, ImportError):
        return False  # Reading it whole says what is wrong with it.


def _opened(path: Path, request: Request) -> TableSource:
    if path.suffix.lower() in (".parquet", ".pq") or (path.is_dir() and path.suffix.lower() != ".zarr"):
        return _parquet(path, request)[0]
    return open_source(path, request.key)


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Open a table, find its roles, and go over it once for what every column holds."""
    if request.transpose:
        raise TableError("a table that is read in pieces has its samples in rows; leave --transpose out.")
    table = _open(path, request)
    source = _transformed(table.X, request)
    _summarise(source, progress)
    report = ReadReport(source.shape[0], {"number": source.shape[1]}, findings=table.report.findings)
    names = source.column_names()
    return Table(source, names, table.sample_names, table.y, table.index_name, table.label_name, report=report)


def _open(path: Path, request: Request) -> Table:
    if path.suffix.lower() in (".h5ad", ".zarr"):
        return _annotated(path, request)
    if path.suffix.lower() == ".npy":
        source = open_source(path)
        return _without_dropped(Table(source, source.column_names()), request)
    source, sides, findings = _parquet(path, request)
    y = None if request.labels is None else label_array(sides[request.labels])
    index = None if request.index is None else np.array([str(name) for name in sides[request.index]], dtype=object)
    called = (request.index or "sample", request.labels or "label")
    return Table(source, source.column_names(), index, y, *called, report=ReadReport(findings=findings))


def _annotated(path: Path, request: Request) -> Table:
    from tamis.io.sources.annotated import column_of, columns_of, index_of, opened

    source, root = open_source(path, request.key), opened(path)
    if hasattr(root, "dtype") or "obs" not in root:
        return _without_dropped(Table(source, source.column_names()), request)
    obs = root["obs"]
    for option, name in (("--index", request.index), ("--labels", request.labels)):
        if name is not None and name not in columns_of(obs):
            known = columns_of(obs)
            raise TableError(f"{option} names {name!r}, which is not a column of obs; there are {listed(known)}.")
    samples = index_of(obs) if request.index is None else column_of(obs, request.index)
    y = None if request.labels is None else label_array(column_of(obs, request.labels))
    if len(samples) != source.shape[0] or (y is not None and len(y) != source.shape[0]):
        raise TableError(f"holds {len(samples)} names or labels of samples for {source.shape[0]} rows; save it anew.")
    table = Table(source, source.column_names(), samples.astype(object), y, "cell", request.labels or "label")
    return _without_dropped(table, request)


def _without_dropped(table: Table, request: Request) -> Table:
    names = table.feature_names.tolist()
    out = set(match_names(request.drop, names, "--drop"))
    keep = np.array([i for i in range(len(names)) if i not in out], dtype=np.intp)
    if not keep.size:
        raise TableError("no feature is left to select from.")
    table.X.names = table.feature_names
    source = Derived(table.X, keep) if out else table.X
    return Table(source, source.column_names(), table.sample_names, table.y, table.index_name, table.label_name)


def _parquet(path: Path, request: Request) -> tuple[TableSource, dict[str, Any], tuple[Finding, ...]]:
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
    findings = roles.findings
    if words:
        reason = "not numbers, which a table that is read in pieces must hold"
        findings = (*findings, Finding(LEFT_OUT, reason, "" if path.is_dir() else "--whole", words))
    sides = [name for name in (request.index, request.labels) if name is not None]
    if not sides:
        return source, {}, findings
    read = dataset.dataset([str(file) for file in files], format="parquet").to_table(columns=list(dict.fromkeys(sides)))
    return source, {name: read.column(name).to_pylist() for name in sides}, findings


def _transformed(source: TableSource, request: Request) -> TableSource:
    names = source.column_names().tolist()
    if request.only and names != list(request.only):
        places = {name: position for position, name in enumerate(names)}
        source = Derived(source, np.array([places[name] for name in required(request.only, names)], dtype=np.intp))
    factors = equal_total_factors(source) if request.scale else None
    if factors is not None or request.log1p:
        source = Derived(source, None, factors, request.log1p)
    return source


def _summarise(source: TableSource, progress: Progress) -> None:
    """Make the one pass that tells means, spreads and gaps; the table remembers it."""
    found = source.column_statistics(lambda row: progress(row, source.shape[0]))
    columns = np.flatnonzero(found.non_finite)
    if columns.size:
        raise TableError(
            f"{counted(int(found.non_finite.sum()), 'cell')} of {listed(source.column_names()[columns])} missing or "
            f"infinite, the first in row {found.bad_row}; a table that is read in pieces must have none, so read it "
            "with --whole, fill the gaps, or leave features out with --drop."
        )
