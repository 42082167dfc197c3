"""Ways to choose genes without cell types: functions of an AnnData object and sizes that return a list for each."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

import tamis
from tamis import SELECTORS
from tamis.single_cell.expression import read_expression
from tamis.single_cell.scores import excess_variance
from tamis.structure.pursuit import pursue

Lists = list[NDArray[np.intp]]
Way = Callable[[Any, Sequence[int]], Lists]


def select_genes(adata: Any, sizes: Sequence[int]) -> Lists:
    """Select by the default of tamis."""
    tables = [tamis.select_genes(adata, size, inplace=False) for size in sizes]
    return [np.flatnonzero(table["tamis_selected"].to_numpy()) for table in tables if table is not None]


def _nested(order: NDArray[np.intp], sizes: Sequence[int]) -> Lists:
    return [order[:size] for size in sizes]


def _log(adata: Any) -> NDArray[np.float64]:
    return read_expression(adata).sample.astype(np.float64)


def random(adata: Any, sizes: Sequence[int]) -> Lists:
    """Select at random."""
    return _nested(np.random.default_rng(0).permutation(adata.n_vars), sizes)


def variance(adata: Any, sizes: Sequence[int]) -> Lists:
    """Select by the variance of log-normalised expression."""
    return _nested(np.argsort(-_log(adata).var(axis=0)), sizes)


def dispersion(adata: Any, sizes: Sequence[int]) -> Lists:
    """Select by the dispersion relative to genes of a like mean, as scanpy's flavour "seurat" does."""
    X = np.expm1(_log(adata)) if _log(adata).min() >= 0 else _log(adata)
    return _nested(np.argsort(-excess_variance(X.mean(axis=0), X.var(axis=0))), sizes)


def loadings(adata: Any, sizes: Sequence[int], n_components: int = 20) -> Lists:
    """Select by the sum of absolute loadings times component variances, as Spapros's PCA way does."""
    X = _log(adata)
    found = PCA(min(n_components, len(X) - 1), random_state=0).fit(X)
    return _nested(np.argsort(-(np.abs(found.components_) * found.explained_variance_[:, None]).sum(axis=0)), sizes)


def greedy_linear(adata: Any, sizes: Sequence[int]) -> Lists:
    """Select, one by one, the standardised gene that explains most of what is left of all genes."""
    X = _log(adata)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    goal = PCA(min(300, *Z.shape) - 1, random_state=0).fit_transform(Z)
    order, _ = pursue(Z, goal, np.arange(Z.shape[1]), np.arange(0), max(sizes))
    return _nested(order, sizes)


def greedy_neighbours(adata: Any, sizes: Sequence[int], n_neighbors: int = 5) -> Lists:
    """Select, one by one, the gene that neighbours by the selected ones predict worst, relative to all genes.

    The error of a gene is the mean absolute difference from the mean over the nearest cells, as in geneBasis.
    """
    X = _log(adata)
    everything = _neighbour_errors(X, PCA(min(50, *X.shape) - 1, random_state=0).fit_transform(X), n_neighbors)
    order = [int(X.var(axis=0).argmax())]
    while len(order) < max(sizes):
        lead = _neighbour_errors(X, X[:, order], n_neighbors) - everything
        lead[order] = -np.inf
        order.append(int(lead.argmax()))
    return _nested(np.array(order), sizes)


def _neighbour_errors(X: NDArray[np.float64], space: NDArray[np.float64], n_neighbors: int) -> NDArray[np.float64]:
    near = NearestNeighbors(n_neighbors=n_neighbors).fit(space).kneighbors(return_distance=False)
    guess = sum(X[near[:, place]] for place in range(n_neighbors)) / n_neighbors
    return np.abs(X - guess).mean(axis=0)


def _selector(name: str) -> Way:
    def way(adata: Any, sizes: Sequence[int]) -> Lists:
        X = _log(adata)
        return [SELECTORS[name](size).fit(X).selected_ for size in sizes]

    return way


WAYS: dict[str, Way] = {
    "select_genes": select_genes,
    "structure-pursuit": _selector("structure-pursuit"),
    "PCA loadings": loadings,
    "dispersion": dispersion,
    "variance": variance,
    "greedy linear": greedy_linear,
    "greedy neighbours": greedy_neighbours,
    "MCFS": _selector("mcfs"),
    "random": random,
}
