"""The single-cell sets, and which of them only confirm."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, load_npz

from research.data import find_file


@dataclass(frozen=True)
class CellSet:
    """A file of the data folder; ``types`` is where the cell types are, which only scores see."""

    file: str
    types: str
    confirms: bool


SETS = {
    "pbmc3k": CellSet("pbmc3k_spapros.h5ad", "celltype", False),
    "pbmc68k": CellSet("pbmc68k_reduced.h5ad", "bulk_labels", False),
    "pollen": CellSet("pollen_counts.npz", "y11", False),
    "pbmc_scannotate": CellSet("pbmc_scannotate.npz", "y", False),
    "treutlein_lung": CellSet("treutlein_lung.npz", "y", False),
    "goolam": CellSet("goolam_counts.npz", "y", True),
    "mixology": CellSet("mixology_3lines_2protocols.npz", "y", True),
    "yan_embryo": CellSet("yan_embryo.npz", "y", True),
    "zeisel": CellSet("zeisel_1000genes.npz", "y", True),
}
"""One shuffle of the sorted names with seed 0 dealt them: the first five chose the method, the others confirm it."""


def load(name: str) -> Any:
    """Read a set as AnnData without constant genes; ``obs["type"]`` holds the cell types, ``obs["batch"]`` batches."""
    import anndata
    import pandas

    one = SETS[name]
    path = find_file(one.file)
    if path.suffix == ".h5ad":
        stored = anndata.read_h5ad(path)
        X, labels = stored.X, {"type": stored.obs[one.types]}
    else:
        with np.load(path, allow_pickle=True) as parts:
            labels = {"type": parts[one.types]} | ({"batch": parts["batch"]} if "batch" in parts else {})
        X = load_npz(path)
    dense = np.asarray(X.toarray() if issparse(X) else X, dtype=np.float32)
    dense = dense[:, dense.std(axis=0) > 0]
    obs = pandas.DataFrame({key: np.asarray(values).astype(str) for key, values in labels.items()})
    obs.index = obs.index.astype(str)
    return anndata.AnnData(csr_array(dense) if issparse(X) else dense, obs)
