"""Reduced tables, written in the format that they came in."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from tamis.extras import require
from tamis.io.errors import first_line
from tamis.io.files import replacing
from tamis.io.readers import Table, format_of
from tamis.io.readers.arrays import LABEL_NAME, LABELS
from tamis.io.sources import TableSource
from tamis.io.sources.derived import Derived
from tamis.io.sources.stores import open_store


def take(table: Table, columns: NDArray[np.intp]) -> Table:
    """Keep some columns of a table; one that stays on disk stays there."""
    return Table(
        Derived(table.X, columns) if isinstance(table.X, TableSource) else table.X[:, columns],
        table.feature_names[columns],
        table.sample_names,
        table.y,
        table.index_name,
        table.label_name,
    )


def write_table(path: str | Path, table: Table, *, source: Path | None = None, transpose: bool = False) -> Path:
    """Write a table; the ending of the path tells the format.

    Parameters
    ----------
    path : str or Path
        Where to; a file there is replaced when the new one is complete.
    table : Table
        What to write: sample names and labels go with the numbers where the format has room for them.
    source : Path, optional
        The .h5ad file that the table came from, of which cells' annotations are kept.
    transpose : bool, default=False
        Whether features go into rows.

    Returns
    -------
    Path
        The path.
    """
    ending = format_of(path)
    require(f"Writing {ending}", *NEEDS.get(WRITERS.get(ending.removesuffix(".gz"), _h5ad), ()))
    check_names(path, table)
    if table.in_pieces and ending != ".h5ad":
        table = replace(table, X=table.X[:])
    try:
        with replacing(path) as temporary:
            if ending == ".h5ad":
                _h5ad(temporary, table, source)
            else:
                WRITERS[ending.removesuffix(".gz")](temporary, table, transpose)
    except (OSError, ImportError):
        raise
    except Exception as error:
        # Writers of other packages raise errors of their own kinds, deep inside them.
        reason = first_line(error).replace(str(temporary), str(path))
        raise ValueError(f"{path}: the table could not be written ({reason}); choose another format.") from error
    return Path(path)


def check_names(path: str | Path, table: Table) -> None:
    """Raise ValueError if the names of a table cannot all be written; to be asked before a long fit.

    Parameters
    ----------
    path : str or Path
        Where the table, or some features of it, will be written; its ending tells the format.
    table : Table
        With all its names.
    """
    names = [str(name) for name in table.feature_names]
    for name in [*names, table.index_name, table.label_name]:
        if "\0" in name or (not name.isprintable() and _is_broken(name)):
            raise ValueError(f"{path}: the name {name!r} holds signs that no file can hold; rename it in the table.")
    if WRITERS.get(format_of(path).removesuffix(".gz")) not in (_text, _parquet, _feather):
        return
    sides = ([table.index_name] if table.sample_names is not None else []) + (
        [table.label_name] if table.y is not None else []
    )
    twice = [name for name in sides if name in names] + sides[1:] * (len(set(sides)) < len(sides))
    if twice:
        raise ValueError(
            f"{path}: {twice[0]!r} is the name of a feature and of the samples' names or labels; rename one of them."
        )


def _is_broken(name: str) -> bool:
    """Tell whether a text is no Unicode, as when it was read from damaged bytes."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _columns(table: Table, transpose: bool) -> Any:
    """Give an Arrow table, with names in front and labels at the end."""
    import pyarrow as pa

    X = np.asarray(table.X.toarray() if issparse(table.X) else table.X)
    if transpose:
        samples = table.sample_names if table.sample_names is not None else [f"sample_{i}" for i in range(len(X))]
        arrays, names = [pa.array(table.feature_names.tolist(), pa.string())], ["feature"]
        return pa.Table.from_arrays(arrays + [pa.array(row) for row in X], names=names + [str(s) for s in samples])
    arrays, names = [], []
    if table.sample_names is not None:
        arrays, names = [pa.array(table.sample_names.tolist(), pa.string())], [table.index_name]
    arrays += [pa.array(np.ascontiguousarray(X[:, i])) for i in range(X.shape[1])]
    names += table.feature_names.tolist()
    if table.y is not None:
        arrays, names = [*arrays, pa.array(np.asarray(table.y).tolist())], [*names, table.label_name]
    return pa.Table.from_arrays(arrays, names=names)


def _text(path: Path, table: Table, transpose: bool) -> None:
    from pyarrow import csv as arrow_csv

    mark = "," if format_of(path).startswith(".csv") else "\t"
    options = arrow_csv.WriteOptions(delimiter=mark, quoting_style="needed")
    with _opened(path) as stream:
        arrow_csv.write_csv(_columns(table, transpose), stream, options)


def _opened(path: Path) -> Any:
    return gzip.open(path, "wb") if path.suffix == ".gz" else path.open("wb")


def _parquet(path: Path, table: Table, transpose: bool) -> None:
    from pyarrow import parquet

    parquet.write_table(_columns(table, transpose), path)


def _feather(path: Path, table: Table, transpose: bool) -> None:
    from pyarrow import feather

    feather.write_feather(_columns(table, transpose), path)


def _arrays(table: Table, transpose: bool) -> dict[str, Any]:
    X = table.X.T if transpose else table.X
    found = {"X": csr_array(X) if issparse(X) else np.asarray(X), "feature_names": table.feature_names.astype(str)}
    if table.sample_names is not None:
        found["sample_names"] = table.sample_names.astype(str)
    if table.y is not None:
        y = np.asarray(table.y)
        # Labels may be called like one of the arrays above, or like a file elsewhere; the names here are ours.
        found[LABELS] = y.astype(str) if y.dtype == object else y
        found[LABEL_NAME] = np.array([table.label_name])
    return found


def _npy(path: Path, table: Table, transpose: bool) -> None:
    np.save(path, _arrays(table, transpose)["X"], allow_pickle=False)


def _npz(path: Path, table: Table, transpose: bool) -> None:
    arrays = _arrays(table, transpose)
    X = arrays.pop("X")
    if issparse(X):
        # The layout of scipy.sparse.save_npz, with room for the names beside it.
        sparse = {"format": np.array(b"csr"), "shape": np.array(X.shape), "data": X.data}
        arrays |= sparse | {"indices": X.indices, "indptr": X.indptr}
    else:
        arrays["X"] = X
    np.savez_compressed(path, allow_pickle=False, **arrays)


def _mat(path: Path, table: Table, transpose: bool) -> None:
    from scipy.io import savemat

    arrays = _arrays(table, transpose)
    for name, value in arrays.items():
        # MATLAB has text of different lengths in cells only.
        arrays[name] = value.astype(object) if value.dtype.kind == "U" else value
    savemat(path, arrays, do_compression=True)


def _mtx(path: Path, table: Table, transpose: bool) -> None:
    from scipy.io import mmwrite

    with _opened(path) as stream:
        mmwrite(stream, _arrays(table, transpose)["X"])


def _hdf(path: Path, table: Table, transpose: bool) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        for name, value in _arrays(table, transpose).items():
            dense = value.toarray() if issparse(value) else value
            kind = h5py.string_dtype() if dense.dtype.kind == "U" else None
            file.create_dataset(name, data=dense.astype(object) if kind else dense, dtype=kind)


def _h5ad(path: Path, table: Table, source: Path | None) -> None:
    import warnings

    with warnings.catch_warnings():
        # Old files are read with remarks on their layout, which concern who wrote them.
        warnings.simplefilter("ignore")
        adata = _annotated(table, source)
        adata.obs, adata.var = _with_plain_text(adata.obs), _with_plain_text(adata.var)
        adata.write_h5ad(path)


def _annotated(table: Table, source: Path | None) -> Any:
    """Give the part of the source with all its annotations, or the bare table if that lacks the features."""
    import anndata
    import pandas

    if table.in_pieces:
        return _with_stored_frames(table, source)
    if source is not None and source.suffix.lower() == ".h5ad":
        adata = anndata.read_h5ad(source)
        adata.raw = None  # It would hold all the genes that were left out.
        if set(table.feature_names) <= set(adata.var_names):
            return adata[:, table.feature_names.tolist()].copy()
    var = pandas.DataFrame(index=table.feature_names.astype(str))
    samples = table.sample_names if table.sample_names is not None else np.arange(table.shape[0])
    return anndata.AnnData(table.X, pandas.DataFrame(index=samples.astype(str)), var)


def _with_stored_frames(table: Table, source: Path | None) -> Any:
    """Give the chosen columns of a table that stays on disk, with obs and var of its store and nothing else of it."""
    import anndata
    import pandas

    samples = np.arange(table.shape[0]) if table.sample_names is None else table.sample_names
    obs, var = pandas.DataFrame(index=samples.astype(str)), pandas.DataFrame(index=table.feature_names.astype(str))
    if source is not None and source.suffix.lower() in (".h5ad", ".zarr"):
        root = open_store(source)
        obs = anndata.io.read_elem(root["obs"]) if "obs" in root else obs
        stored = anndata.io.read_elem(root["var"]) if "var" in root else var
        var = stored.loc[var.index] if set(var.index) <= set(stored.index) else var
    return anndata.AnnData(table.X[:], obs, var)


def _with_plain_text(frame: Any) -> Any:
    """Give a frame without the text type of pandas 3, which AnnData files cannot hold."""
    frame = frame.copy()
    frame.index = frame.index.astype(object)
    for name in frame.columns:
        if str(frame[name].dtype) == "category":
            categories = frame[name].cat.categories
            frame[name] = frame[name].cat.rename_categories(categories.astype(object))
        elif str(frame[name].dtype) in ("str", "string"):
            frame[name] = frame[name].astype(object)
    return frame


WRITERS: dict[str, Callable[[Path, Table, bool], None]] = {
    ".csv": _text,
    ".tsv": _text,
    ".txt": _text,
    ".tab": _text,
    ".parquet": _parquet,
    ".pq": _parquet,
    ".feather": _feather,
    ".arrow": _feather,
    ".npy": _npy,
    ".npz": _npz,
    ".mtx": _mtx,
    ".mat": _mat,
    ".h5": _hdf,
    ".hdf5": _hdf,
}

NEEDS: dict[Any, tuple[str, ...]] = {
    _text: ("pyarrow",),
    _parquet: ("pyarrow",),
    _feather: ("pyarrow",),
    _hdf: ("h5py",),
    _h5ad: ("anndata",),
}
"""Packages of extras that a writer needs."""
