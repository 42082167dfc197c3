"""The real sets: files of the data folder, and what is done to a table before selectors see it."""

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from research.data import find_file
from tamis.columns import summarise_columns
from tamis.io.readers import Request, read

MAX_ROWS = 3000
"""Larger tables are thinned to so many rows, drawn once with seed 0."""


class LabelledTable(NamedTuple):
    """A dense table without constant features, and a label per row, which only scores see."""

    X: NDArray[np.float64]
    y: NDArray[Any]


@dataclass(frozen=True)
class RealSet:
    """A file of the data folder.

    Attributes
    ----------
    name, file : str
        As the commands call it, and its file.
    labels : str
        Where the labels are.
    key : str or None
        Which array of the file is the table.
    log1p : bool
        Whether log(1 + x) is taken, as of counts.
    """

    name: str
    file: str
    labels: str
    key: str | None = None
    log1p: bool = False


MATLAB = (
    "ALLAML", "BASEHOCK", "COIL20", "GLIOMA", "Isolet", "ORL", "PCMAC", "Prostate-GE", "TOX-171", "USPS", "Yale",
    "christensen", "colon", "gordon", "khan", "lung_small", "madelon", "pixraw10P", "sorlie", "warpPIE10P",
)  # fmt: skip
TEXT_COUNTS = ("BASEHOCK", "PCMAC")

SETS: dict[str, RealSet] = {
    **{name: RealSet(name, f"{name}.mat", "Y", "X", name in TEXT_COUNTS) for name in MATLAB},
    **{
        one.name: one
        for one in (
            RealSet("mnist", "mnist.npz", "y_train", "X_train"),
            RealSet("pollen", "pollen_counts.npz", "y", log1p=True),
            RealSet("goolam", "goolam_counts.npz", "y", log1p=True),
            RealSet("rcv1_subset", "rcv1_subset.npz", "y"),
            RealSet("mixology", "mixology_3lines_2protocols.npz", "y", log1p=True),
            RealSet("zeisel", "zeisel_1000genes.npz", "y", log1p=True),
            RealSet("pbmc_scannotate", "pbmc_scannotate.npz", "y"),
            RealSet("yan_embryo", "yan_embryo.npz", "y", log1p=True),
            RealSet("treutlein_lung", "treutlein_lung.npz", "y", log1p=True),
            RealSet("pbmc68k", "pbmc68k_reduced.h5ad", "bulk_labels"),
            RealSet("pbmc3k", "pbmc3k_spapros.h5ad", "celltype"),
        )
    },
}


def real_set(name: str) -> RealSet:
    """Return a set by its name."""
    if name not in SETS:
        close = get_close_matches(name, SETS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise KeyError(f"There is no set {name!r}.{hint} Known: {', '.join(SETS)}.")
    return SETS[name]


@lru_cache(maxsize=1)
def load(name: str) -> LabelledTable:
    """Read a set: at most :data:`MAX_ROWS` rows, no constant features, counts as log(1 + x), not scaled."""
    one = real_set(name)
    table = read(find_file(one.file), Request(key=one.key, labels=one.labels, log1p=one.log1p))
    X, y = table.X, np.asarray(table.y).ravel()
    if len(y) > MAX_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(len(y), MAX_ROWS, replace=False))
        X, y = X[rows], y[rows]
    X = np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)
    return LabelledTable(X[:, ~summarise_columns(X).constant], y)
