"""HDF5 files and AnnData files (.h5ad): a matrix by its key, of whose file only what is needed is read."""

from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.io.errors import TableError
from tamis.io.memory import check_room, check_stored
from tamis.io.readers import streaming
from tamis.io.readers.arrays import Member, assemble, pick
from tamis.io.readers.table import Progress, Request, Table
from tamis.io.readers.tenx import table_of_genes
from tamis.io.sources.hdf5 import open_hdf
from tamis.io.sources.sparse import PARTS, checked_csr
from tamis.io.sources.stores import text


def read(path: Path, request: Request, progress: Progress) -> Table:
    """Read one matrix of a file, with names from the arrays beside it."""
    if path.suffix.lower() == ".h5ad":
        table = streaming.read(path, request, progress)
        check_room(table.shape[0] * table.X.row_bytes, inf, "the matrix")
        return replace(table, X=table.X[:])
    with open_hdf(path) as file:
        if request.key is None and (stored := _written_by_cell_ranger(file)) is not None:
            return _tenx(stored, request)
        members: dict[str, Member] = {}

        def note(name: str, item: Any) -> None:
            if hasattr(item, "dtype"):
                members[name] = Member(item.shape or (), item.dtype, partial(values, item, name))

        file.visititems(note)
        matrix = pick(members, request.key.strip("/") if request.key else None)
        # Vectors go by their full path and, in the matrix's own group, by their last name too.
        group = next(name for name, member in members.items() if member is matrix).rpartition("/")[0]
        vectors = {name: found for name, found in members.items() if len(found.shape) == 1 or 1 in found.shape}
        beside = {n.rpartition("/")[2]: found for n, found in vectors.items() if n.rpartition("/")[0] == group}
        return assemble(matrix.load(), vectors | beside, request)


def _written_by_cell_ranger(file: Any) -> Any:
    """Return the group that holds the matrix; until Cell Ranger 2 it had the name of the genome."""
    if "matrix/features/name" in file:
        return file["matrix"]
    genomes = [item for item in file.values() if hasattr(item, "keys") and {"gene_names", "indptr"} <= set(item)]
    return genomes[0] if len(genomes) == 1 else None


def _tenx(stored: Any, request: Request) -> Table:
    """Read what Cell Ranger wrote: features × cells, compressed by cells."""
    n_genes, n_cells = stored["shape"][:]
    X = checked_csr((values(stored[part], part) for part in PARTS), (n_cells, n_genes)).T
    if "features" in stored:
        columns = [stored["features"].get(name) for name in ("name", "name", "feature_type")]
    else:
        columns = [stored["genes"], stored["gene_names"]]
    features = [*zip(*(text(column) for column in columns if column is not None), strict=True)]
    cells = [[name] for name in text(stored["barcodes"])] if "barcodes" in stored else []
    return table_of_genes(X, features, cells, replace(request, transpose=request.transpose is not False))


def values(item: Any, name: str) -> NDArray[Any]:
    """Read a data set, if there is room for it."""
    if item.shape is None:
        raise TableError(f"the data set {name!r} is empty; choose another with --key.")
    check_stored(item, f"the data set {name!r}")
    return np.asarray(item[()])
