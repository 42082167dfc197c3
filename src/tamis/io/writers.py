"""Reduced tables, written in the format that they came in."""

import gzip
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import mmwrite, savemat
from scipy.sparse import csr_array, issparse

from tamis.extras import require
from tamis.io.errors import first_line
from tamis.io.files import replacing
from tamis.io.readers import Table, format_of
from tamis.io.readers.arrays import LABEL_NAME, LABELS
from tamis.io.sources.stores import open_store


def write_table(path: str | Path, table: Table, *, source: Path | None = None, transpose: bool = False) -> Path:
    """Write a table in the format that the ending of the path tells, and return the path.

    Sample names and labels go with the numbers where the format has room for them. Of a ``source`` in AnnData's format
    annotations are kept, from one of Arrow's to another the types of columns; ``transpose`` puts features into rows.
    """
    ending = format_of(path)
    writer = WRITERS.get(ending.removesuffix(".gz"), _h5ad)
    require(f"Writing {ending}", *NEEDS.get(writer, ()))
    check_names(path, table)
    table = replace(table, X=table.X[:]) if table.in_pieces and writer is not _h5ad else table
    try:
        with replacing(path) as temporary:
            writer(temporary, table, transpose, source)
    except (OSError, ImportError):
        raise
    except Exception as error:
        # Writers of other packages raise errors of their own kinds, deep inside them.
        reason = first_line(error).replace(str(temporary), str(path))
        raise ValueError(f"{path}: the table could not be written ({reason}); choose another format.") from error
    return Path(path)


def check_names(path: str | Path, table: Table) -> None:
    """Raise ValueError if the names of a table cannot all be written; to be asked before a long fit."""
    names = [str(name) for name in table.feature_names]
    for name in [*names, table.index_name, table.label_name]:
        if "\0" in name or name != name.encode("utf-8", "ignore").decode():
            raise ValueError(f"{path}: the name {name!r} holds signs that no file can hold; rename it in the table.")
    sides = [table.index_name] if table.sample_names is not None else []
    sides += [table.label_name] if table.y is not None else []
    twice = [name for name in sides if name in names or sides.count(name) > 1]
    if twice and WRITERS.get(format_of(path).removesuffix(".gz")) is _tabular:
        what = f"{twice[0]!r} is the name of a feature and of the samples' names or labels"
        raise ValueError(f"{path}: {what}; rename one of them.")


def _columns(table: Table, transpose: bool) -> Any:
    """Return an Arrow table, with names in front and labels at the end."""
    import pyarrow as pa

    X = np.asarray(table.X.toarray() if issparse(table.X) else table.X)
    features = [str(name) for name in table.feature_names]
    samples = None if table.sample_names is None else pa.array(table.sample_names.tolist(), pa.string())
    if transpose:
        names = [f"sample_{i}" for i in range(len(X))] if samples is None else samples.to_pylist()
        return pa.table([pa.array(features, pa.string()), *map(pa.array, X)], names=["feature", *names])
    columns = [] if samples is None else [(table.index_name, samples)]
    columns += [(name, pa.array(np.ascontiguousarray(values))) for name, values in zip(features, X.T, strict=True)]
    columns += [] if table.y is None else [(table.label_name, pa.array(np.asarray(table.y).tolist()))]
    return pa.table([values for _, values in columns], names=[name for name, _ in columns])


def _as_stored(columns: Any, source: Path) -> Any:
    """Return columns of an Arrow table with the types that they have in a file, where these hold the same values."""
    from pyarrow import dataset

    from tamis.io.readers.kinds import is_numeric, is_text

    stored = dataset.dataset(source, format=ARROW[source.suffix.lower()])
    names = [name for name in columns.column_names if stored.schema.get_field_index(name) >= 0]
    for name, found in zip(names, stored.to_table(columns=names).columns, strict=True):
        if is_numeric(columns[name].type) and not is_text(found.type):
            same = found.cast(columns[name].type, safe=False).equals(columns[name])
        else:
            # Labels are "" where one is missing.
            cells = ["" if cell is None else str(cell) for cell in found.to_pylist()]
            same = cells == [cell or "" for cell in columns[name].to_pylist()]
        columns = columns.set_column(columns.column_names.index(name), name, found) if same else columns
    return columns


def _tabular(path: Path, table: Table, transpose: bool, source: Path | None) -> None:
    from pyarrow import csv, feather, parquet

    ending, columns = format_of(path), _columns(table, transpose)
    if source is not None and {ending, source.suffix.lower()} <= set(ARROW) and not (transpose or source.is_dir()):
        columns = _as_stored(columns, source)
    if ending in (".parquet", ".pq"):
        parquet.write_table(columns, path)
    elif ending in ARROW:
        feather.write_feather(columns, path)
    else:
        mark = "," if ending.startswith(".csv") else "\t"
        with _opened(path) as stream:
            csv.write_csv(columns, stream, csv.WriteOptions(delimiter=mark, quoting_style="needed"))


def _opened(path: Path) -> Any:
    return gzip.open(path, "wb") if path.suffix == ".gz" else path.open("wb")


def _arrays(table: Table, transpose: bool) -> dict[str, Any]:
    X = table.X.T if transpose else table.X
    found = {"X": csr_array(X) if issparse(X) else np.asarray(X), "feature_names": table.feature_names.astype(str)}
    if table.sample_names is not None:
        found["sample_names"] = table.sample_names.astype(str)
    if table.y is not None:
        y = np.asarray(table.y)
        # Labels may be called like one of the arrays above, or like a file elsewhere; the names here are ours.
        found |= {LABELS: y.astype(str) if y.dtype == object else y, LABEL_NAME: np.array([table.label_name])}
    return found


def _matrix(path: Path, table: Table, transpose: bool, _: Path | None) -> None:
    arrays, ending = _arrays(table, transpose), format_of(path)
    X = arrays["X"]
    if ending == ".npy":
        np.save(path, X.toarray() if issparse(X) else X, allow_pickle=False)
    elif ending == ".npz":
        if issparse(X):
            # The layout of scipy.sparse.save_npz, with room for the names beside it.
            parts = {"format": np.array(b"csr"), "shape": np.array(X.shape), "data": arrays.pop("X").data}
            arrays |= parts | {"indices": X.indices, "indptr": X.indptr}
        np.savez_compressed(path, allow_pickle=False, **arrays)
    elif ending == ".mat":
        # MATLAB has text of different lengths in cells only.
        cells = {name: v.astype(object) if v.dtype.kind == "U" else v for name, v in arrays.items()}
        savemat(path, cells, do_compression=True)
    else:
        with _opened(path) as stream:
            mmwrite(stream, X)


def _hdf(path: Path, table: Table, transpose: bool, _: Path | None) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        for name, value in _arrays(table, transpose).items():
            dense = value.toarray() if issparse(value) else value
            kind = h5py.string_dtype() if dense.dtype.kind == "U" else None
            file.create_dataset(name, data=dense.astype(object) if kind else dense, dtype=kind)


def _h5ad(path: Path, table: Table, _: bool, source: Path | None) -> None:
    """Write a table with the cells' and genes' annotations of the store that it came from, if that has the genes."""
    import anndata
    import pandas

    samples = np.arange(table.shape[0]) if table.sample_names is None else table.sample_names
    obs, var = (pandas.DataFrame(index=names.astype(str)) for names in (samples, table.feature_names))
    # Old files are read with remarks on their layout, which concern who wrote them.
    with warnings.catch_warnings(action="ignore"):
        adata = None
        if source is not None and source.suffix.lower() in (".h5ad", ".zarr"):
            root = open_store(source)
            frames = {name: anndata.io.read_elem(root[name]) for name in ("obs", "var") if name in root}
            if set(var.index) <= set(frames.get("var", var).index):
                obs, var = frames.get("obs", obs), frames.get("var", var).loc[var.index]
                if not table.in_pieces:
                    adata = anndata.read_h5ad(source)[:, var.index].copy()
                    adata.raw = None  # It would hold all the genes that were left out.
        adata = anndata.AnnData(table.X[:], obs, var) if adata is None else adata
        adata.obs, adata.var = _with_plain_text(adata.obs), _with_plain_text(adata.var)
        adata.write_h5ad(path)


def _with_plain_text(frame: Any) -> Any:
    """Return a frame without the text type of pandas 3, which AnnData files cannot hold."""
    frame = frame.copy()
    frame.index = frame.index.astype(object)
    for name in frame.columns:
        if str(frame[name].dtype) == "category":
            frame[name] = frame[name].cat.rename_categories(frame[name].cat.categories.astype(object))
        elif str(frame[name].dtype) in ("str", "string"):
            frame[name] = frame[name].astype(object)
    return frame


ARROW = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather"}
"""Endings of formats that keep the types of columns, and what Arrow calls them."""

TABULAR = (".csv", ".tsv", ".txt", ".tab", *ARROW)
"""Endings of formats whose features may hold text."""

WRITERS: dict[str, Callable[[Path, Table, bool, Path | None], None]] = {
    **dict.fromkeys(TABULAR, _tabular),
    **dict.fromkeys((".npy", ".npz", ".mtx", ".mat"), _matrix),
    **dict.fromkeys((".h5", ".hdf5"), _hdf),
}
NEEDS: dict[Any, tuple[str, ...]] = {_tabular: ("pyarrow",), _hdf: ("h5py",), _h5ad: ("anndata",)}
"""Packages of extras that a writer needs; AnnData has one of its own, which keeps annotations."""
