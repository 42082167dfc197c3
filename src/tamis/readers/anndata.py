"""AnnData files (.h5ad): cells × genes, a layer by its key, labels and names from ``obs``."""

from pathlib import Path
from typing import Any

import numpy as np

from tamis.readers.arrays import take_columns
from tamis.readers.table import Progress, ReadError, Request, Table, label_array, listed


def read(path: Path, request: Request, progress: Progress) -> Table:  # noqa: ARG001 (anndata tells no progress)
    """Read X, or the layer that ``--key`` names, or ``raw``."""
    import warnings

    import anndata

    with warnings.catch_warnings():
        # Old files are read with remarks on their layout, which concern who wrote them.
        warnings.simplefilter("ignore")
        adata = anndata.read_h5ad(path)
    X, names = _matrix(adata, request.key)
    if request.transpose:
        raise ReadError("an AnnData file is always cells × genes; leave --transpose out.")
    samples = adata.obs_names if request.index is None else _column(adata, request.index, "--index")
    y = None if request.labels is None else label_array(_column(adata, request.labels, "--labels"))
    samples = np.array([str(name) for name in samples], dtype=object)
    table = Table(X, names, samples, y, "cell", request.labels or "label")
    return take_columns(table, {}, request)


def _matrix(adata: Any, key: str | None) -> tuple[Any, np.ndarray]:
    key = key.removeprefix("layers/") if key else None
    names = adata.var_names
    if key in (None, "X"):
        X = adata.X
    elif key == "raw" and adata.raw is not None:
        X, names = adata.raw.X, adata.raw.var_names
    elif key in adata.layers:
        X = adata.layers[key]
    else:
        raise ReadError(f"--key names {key!r}, which is not a layer; there are {listed(['X', *adata.layers])}.")
    if X is None:
        raise ReadError(f"holds no X; name a layer with --key, of {listed(adata.layers)}.")
    return X, np.array([str(name) for name in names], dtype=object)


def _column(adata: Any, name: str, option: str) -> Any:
    if name not in adata.obs:
        raise ReadError(
            f"{option} names {name!r}, which is not a column of obs; there are {listed(adata.obs.columns)}."
        )
    return adata.obs[name]
