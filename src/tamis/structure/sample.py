"""Rows of a table, drawn at random: as arrays, with batches and names."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from tamis.io.sources import as_source

MAX_ROWS = 2000
"""Largest number of rows that are examined, drawn at random."""

MAX_CELLS = 2**28
"""Stored cells that are examined; of wider tables fewer rows are drawn."""


def sample_rows(
    X: Any, rng: np.random.Generator, max_cells: int = MAX_CELLS, min_rows: int = 200
) -> tuple[Any, NDArray[np.intp]]:
    """Return rows drawn at random, as an array or a CSC matrix, and their sorted positions; infinite cells are NaN."""
    source = as_source(X)
    if source is None:
        X = check_array(X, accept_sparse="csr", dtype="numeric", ensure_all_finite="allow-nan", ensure_min_samples=2)
    n, d = X.shape if source is None else source.shape
    width = X.nnz // n if issparse(X) else d
    size = min(n, MAX_ROWS, max(min_rows, max_cells // max(1, width)))
    if source is None:
        rows = np.sort(rng.permutation(n)[:size])
        taken: Any = X[rows]
    else:
        taken, rows = source.sample(size, rng)
    taken = taken.tocsc() if issparse(taken) else np.asarray(taken)
    if taken.dtype not in (np.float32, np.float64):
        taken = taken.astype(np.float64)
    values: Any = taken.data if issparse(taken) else taken
    # The rows drawn are a copy, unless a source hands out its own.
    if np.isinf(values).any():
        values = np.where(np.isinf(values), np.nan, values)
        taken = type(taken)((values, taken.indices, taken.indptr), taken.shape) if issparse(taken) else values
    return taken, rows


def dense_features(sample: Any, features: NDArray[np.intp]) -> NDArray[np.floating]:
    """Return some features of a sample, by sorted positions, as an array; all of them without a copy."""
    if issparse(sample):
        # As the rows of a dense table lie, so that sums have the same bits.
        return np.asarray(sample[:, features].toarray(order="C"))
    return np.asarray(sample if len(features) == sample.shape[1] else sample[:, features])


def standardised(X: NDArray[np.floating], batches: list[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Return features with mean 0 and variance 1 within each batch, 0 in missing cells."""
    Z = np.zeros(X.shape)
    for rows in batches:
        part = X[rows].astype(np.float64)
        observed = ~np.isnan(part)
        # In units of a power of two, which is exact, no square overflows or vanishes.
        part /= np.ldexp(1.0, np.frexp(np.where(observed, np.abs(part), 0.0).max(axis=0))[1] - 1)
        # A feature may be missing in all rows of a batch.
        counts = np.maximum(observed.sum(axis=0), 1)
        part = np.where(observed, part - np.nansum(part, axis=0) / counts, 0.0)
        spread = np.sqrt((part**2).sum(axis=0) / counts)
        Z[rows] = part / np.where(spread > 0, spread, 1.0)
    return Z


def feature_names(X: Any) -> NDArray[Any]:
    """Return the names of the features of X, ``x0, x1, ...`` if it has none."""
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(as_source(X), "names", None)
    if names is None:
        names = [f"x{j}" for j in range(np.shape(X)[1])]
    return np.array([str(name) for name in names], dtype=object)


def rows_of_batches(batch: ArrayLike, rows: NDArray[np.intp], n_rows: int) -> list[NDArray[np.intp]]:
    """Return the positions, among the rows drawn, of each batch."""
    labels = np.asarray(batch)
    if labels.shape != (n_rows,):
        raise ValueError(f"batch takes a label for each of the {n_rows} rows of X; got the shape {labels.shape}.")
    distinct, counts = np.unique(labels, return_counts=True)
    if (counts < 3).any():
        n_small = int((counts < 3).sum())
        raise ValueError(f"A batch needs at least 3 rows; {n_small} of {len(counts)} batches have fewer.")
    # Of a rare batch fewer rows may have been drawn, which tell nothing.
    drawn = [np.flatnonzero(labels[rows] == label) for label in distinct]
    return [part for part in drawn if len(part) >= 3]
