"""A sparse atlas on disk with a known answer.

Every cell has one of 20 types. Every type has a group of ten marker features, which are on in most of its cells and
nearly nowhere else; the other features are on at random, in every cell alike. 1 % of the values are not zero. The group
of every feature is kept in ``var/group``, -1 for nuisance.
"""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

N_TYPES, MARKERS, DENSITY = 20, 10, 0.01
ON, ELSEWHERE = 0.8, 0.002
BLOCK = 25_000


def groups_of(n_features: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the groups of all features, the markers dealt among them."""
    n_markers = N_TYPES * MARKERS
    return rng.permutation(
        np.concatenate([np.repeat(np.arange(N_TYPES), MARKERS), np.full(n_features - n_markers, -1)])
    )


def block_of(rows: int, groups: NDArray[np.int64], rng: np.random.Generator) -> tuple[Any, NDArray[np.int64]]:
    """Make some cells: a CSR matrix of logarithmised counts, and their types."""
    types = rng.integers(N_TYPES, size=rows)
    markers, others = np.flatnonzero(groups >= 0), np.flatnonzero(groups < 0)
    rates = np.where(groups[markers] == types[:, None], ON, ELSEWHERE)
    on = csr_array(rng.random(rates.shape) < rates)
    left = DENSITY * len(groups) - (ON / N_TYPES + ELSEWHERE) * len(markers)
    count = rng.poisson(left * rows)
    cells = (np.ones(count, bool), (rng.integers(rows, size=count), rng.integers(len(others), size=count)))
    noise = csr_array(cells, shape=(rows, len(others)))
    table = hstack([on, noise], format="csr")[:, np.argsort(np.concatenate([markers, others]))]
    table.sort_indices()
    data = np.log1p(1 + rng.poisson(2.0, size=table.nnz)).astype(np.float32)
    return csr_array((data, table.indices.astype(np.int32), table.indptr), shape=table.shape), types


def write(path: Path, rows: int, n_features: int, seed: int = 0) -> NDArray[np.int64]:
    """Write an atlas block by block, in the layout of AnnData, and return the group of every feature."""
    rng = np.random.default_rng(seed)
    groups = groups_of(n_features, rng)
    part = Path(f"{path}.part")
    with h5py.File(part, "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        types = _write_matrix(file, rows, groups, rng)
        _write_frame(file, "obs", [f"cell_{i}" for i in range(rows)], {"type": types})
        names = [f"marker_{g}_{i}" if g >= 0 else f"nuisance_{i}" for i, g in enumerate(groups)]
        _write_frame(file, "var", names, {"group": groups})
    part.replace(path)
    return groups


def _write_matrix(file: Any, rows: int, groups: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    X = file.create_group("X")
    X.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": (rows, len(groups))})
    for name, kind in (("data", np.float32), ("indices", np.int32)):
        X.create_dataset(name, (0,), kind, maxshape=(None,), chunks=(2**17,))
    starts, types = [np.zeros(1, np.int64)], []
    for first in range(0, rows, BLOCK):
        table, block_types = block_of(min(BLOCK, rows - first), groups, rng)
        for name, values in (("data", table.data), ("indices", table.indices)):
            X[name].resize(X[name].shape[0] + len(values), axis=0)
            X[name][-len(values) :] = values
        starts.append(table.indptr[1:].astype(np.int64) + starts[-1][-1])
        types.append(block_types)
    X.create_dataset("indptr", data=np.concatenate(starts))
    return np.concatenate(types)


def _write_frame(file: Any, name: str, index: list[str], columns: dict[str, NDArray[Any]]) -> None:
    group = file.create_group(name)
    group.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0", "_index": "_index"})
    group.attrs["column-order"] = np.array(list(columns), dtype=h5py.string_dtype())
    group.create_dataset("_index", data=np.array(index, dtype=object), dtype=h5py.string_dtype())
    group["_index"].attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})
    for key, values in columns.items():
        group.create_dataset(key, data=values).attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
