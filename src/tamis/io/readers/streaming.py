"""Large files as tables that stay on disk: the same roles and options as for files that are read whole."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tamis.extras import require
from tamis.io.errors import TableError
from tamis.io.memory import too_large
from tamis.io.readers.arrays import take_columns
from tamis.io.readers.report import LEFT_OUT, Finding, ReadReport, listed
from tamis.io.readers.table import Progress, Request, Table, assign_roles, label_array, match_names, unheard
from tamis.io.sources import READ_IN_PIECES, open_source
from tamis.io.sources.derived import Derived, equal_total_factors, row_totals
from tamis.io.sources.stores import column_of, columns_of, index_of, open_store
from tamis.reprs import counted

SMALL = 2**26
"""Files of at most so many bytes are read whole without asking for the memory."""


def wanted(path: Path, request: Request) -> bool:
    """Return whether a file is to be read in pieces: asked for, the only way, or larger than memory likes."""
    if path.is_dir():
        return path.suffix.lower() == ".zarr" or any(path.rglob("*.parquet"))
    if path.suffix.lower() not in READ_IN_PIECES or request.transpose or request.in_pieces is False:
        return False
    # A compressed file is larger in memory than on disk: what is inside must tell.
    try:
        return request.in_pieces or (path.stat().st_size > SMALL and too_large(read(path, request, unheard).X))
    except (TableError, ImportError):
        return False  # Reading it whole says what is wrong with it.


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (nothing is read yet)
    """Open a table and find its roles."""
    if request.transpose:
        raise TableError("a table of this kind has its samples in rows; leave --transpose out.")
    if path.suffix.lower() not in (".npy", ".h5ad", ".zarr"):
        return _parquet(path, request)
    source = open_source(path, request.key)
    table = Table(source, source.column_names())
    root = {} if path.suffix.lower() == ".npy" else open_store(path)
    if not hasattr(root, "dtype") and "obs" in root:
        table = _with_cells(table, root, request)
    source.names = table.feature_names
    return take_columns(table, {}, request)


def _with_cells(table: Table, root: Any, request: Request) -> Table:
    """Return a table with the names and labels of the cells that an AnnData store keeps in obs."""
    obs = root["obs"]
    for option, name in (("--index", request.index), ("--labels", request.labels)):
        if name is not None and name not in (known := columns_of(obs)):
            raise TableError(f"{option} names {name!r}, which is not a column of obs; there are {listed(known)}.")
    samples = index_of(obs) if request.index is None else column_of(obs, request.index)
    y = None if request.labels is None else label_array(column_of(obs, request.labels))
    if {len(samples), len(samples if y is None else y)} != {table.shape[0]}:
        raise TableError(f"holds {len(samples)} names or labels of samples for {table.shape[0]} rows; save it anew.")
    return Table(table.X, table.feature_names, samples.astype(str).astype(object), y, "cell", request.labels or "label")


def _parquet(path: Path, request: Request) -> Table:
    """Return the numeric features of Parquet parts, the other columns that have a role, and what was left out."""
    require("Reading Parquet", "pyarrow")
    from pyarrow import dataset, parquet

    from tamis.io.readers.arrow import as_pandas_meant
    from tamis.io.readers.frame import label_like
    from tamis.io.sources.parquet import ParquetParts, is_number, parquet_files

    files = parquet_files(path)
    schema = parquet.read_schema(files[0])
    request, levels = as_pandas_meant(request, schema)
    roles = assign_roles(list(schema.names), request)
    categories = match_names(request.categorical, schema.names, "--categorical")
    numbers = [schema.names[i] for i in roles.features if is_number(schema.field(i).type) and i not in categories]
    words = tuple(schema.names[i] for i in roles.features if schema.names[i] not in numbers)
    data = dataset.dataset([str(file) for file in files], format="parquet")
    left_out = _identifiers(data, numbers, request)
    numbers = [name for name in numbers if not any(name in found.features for found in left_out)]
    reason = "not numbers, which a table that is read in pieces must hold"
    left_out += [Finding(LEFT_OUT, reason, "" if path.is_dir() else "--whole", words)] if words else []
    if not numbers:
        raise TableError(f"no feature is left to select from: {'; '.join(map(Finding.told, left_out))}.")
    source = ParquetParts(files, numbers, str(path))
    columns = data.to_table(columns=[schema.names[place] for place in roles.sides]).to_pydict()
    places = (roles.index, roles.label)
    samples, y = (None if place is None else label_array(columns[schema.names[place]]) for place in places)
    report = ReadReport(findings=(*levels, *roles.findings, *left_out, *label_like(numbers, request)))
    return Table(source, source.column_names(), samples, y, *roles.side_names, report=report)


def _identifiers(data: Any, names: list[str], request: Request) -> list[Finding]:
    """Return which features of numbers are identifiers or count the rows; those whose first rows do are read."""
    import pyarrow as pa

    from tamis.io.readers.kinds import MIN_COUNT, plain_feature

    kept = [data.schema.names[place] for place in match_names(request.keep, data.schema.names, "--keep")]
    found: dict[str, Any] = dict.fromkeys(name for name in names if name not in kept and not request.only)
    for rows in (partial(data.head, MIN_COUNT), data.to_table):
        read = rows(columns=list(found)).cast(pa.schema(dict.fromkeys(found, pa.float64())), safe=False)
        results = {name: plain_feature(name, read[name].to_numpy(), keep=False) for name in found}
        found = {name: result for name, result in results.items() if isinstance(result, Finding)}
    return list(found.values())


def finish(table: Table, request: Request, progress: Progress) -> Table:
    """Scale and take logarithms; make the one pass that tells means, spreads and gaps, and refuse gaps."""
    source, factors = table.X, None
    if request.scale:
        factors = equal_total_factors(np.concatenate([row_totals(block) for _, block in source.blocks()]))
    if request.scale or request.log1p:
        source = Derived(source, None, factors, request.log1p)
    found = source.column_statistics(lambda row: progress(row, source.shape[0]))
    if found.non_finite.any():
        cells, names = counted(int(found.non_finite.sum()), "cell"), listed(table.feature_names[found.non_finite > 0])
        remedy = "read a single file with --whole, fill the gaps, or leave features out with --drop"
        fault = f"{cells} of {names} missing or infinite, the first in row {found.bad_row}"
        raise TableError(f"{fault}; a table that is read in pieces must have none, so {remedy}.")
    return replace(table, X=source)
