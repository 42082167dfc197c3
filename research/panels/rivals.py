"""Ways to choose genes without cell types: functions of an AnnData object and sizes that return a list for each."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

import tamis
from tamis import SELECTORS
from tamis.single_cell.expression import counts_behind, read_expression
from tamis.structure.pursuit import Pursuit, pursue

MAX_FOREST_GENES, MIN_FOREST_CELLS = 2000, 8
"""Genes that Spapros's trees choose from, and cells of a type that it trains trees for."""

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


def _highly_variable(flavor: str, score: str) -> Way:
    """Return the way of scanpy's highly variable genes, by the score that orders them."""

    def way(adata: Any, sizes: Sequence[int]) -> Lists:
        import scanpy

        given = _plain(_log(adata) if flavor == "seurat" else _counts(adata))
        options = {"flavor": flavor, "n_top_genes": max(sizes)}
        if flavor == "pearson_residuals":
            scanpy.experimental.pp.highly_variable_genes(given, **options)
        else:
            try:
                scanpy.pp.highly_variable_genes(given, **options)
            except ValueError:  # Of few distinct means, the local regression needs all genes.
                scanpy.pp.highly_variable_genes(given, **options, span=1.0)
        return _nested(np.argsort(-given.var[score].fillna(-np.inf).to_numpy(), kind="stable"), sizes)

    return way


def _plain(X: NDArray[np.float64], obs: Any = None) -> Any:
    """Return AnnData of values that are not negative: scaled ones count from the least of each gene."""
    import anndata

    return anndata.AnnData(X if X.min() >= 0 else X - X.min(axis=0), obs)


def _counts(adata: Any) -> NDArray[np.float64]:
    """Return counts; without any, expression on a linear scale, or scaled expression as it is."""
    data = read_expression(adata)
    if data.kind in ("counts", "linear"):
        return np.asarray(adata.X.toarray() if issparse(adata.X) else adata.X, dtype=np.float64)
    counts = counts_behind(data.sample) if data.kind == "log" else data.sample.astype(np.float64)
    return np.expm1(data.sample.astype(np.float64)) if counts is None else counts


def loadings(adata: Any, sizes: Sequence[int], n_components: int = 20) -> Lists:
    """Select by the sum of absolute loadings times component variances."""
    X = _log(adata)
    found = PCA(min(n_components, len(X) - 1), random_state=0).fit(X)
    return _nested(np.argsort(-(np.abs(found.components_) * found.explained_variance_[:, None]).sum(axis=0)), sizes)


def spapros_pca(adata: Any, sizes: Sequence[int]) -> Lists:
    """Select by the PCA way of Spapros, the one that needs no cell types."""
    from spapros.selection import selection_methods

    table = selection_methods.select_pca_genes(_plain(_log(adata)), max(sizes), inplace=False, verbosity=0)
    return _nested(np.argsort(-table["selection_score"].to_numpy(), kind="stable"), sizes)


def spapros_de(adata: Any, sizes: Sequence[int]) -> Lists:
    """Select by the differential expression of cell types, as Spapros does."""
    from spapros.selection import selection_methods

    given = _plain(_log(adata), _types(adata))
    tables = [
        selection_methods.select_DE_genes(given, n, obs_key="type", inplace=False, verbosity=0)["selection"]
        for n in sizes
    ]
    return [np.flatnonzero(table.to_numpy()) for table in tables]


def spapros_forest(adata: Any, sizes: Sequence[int]) -> Lists:
    """Select by the whole of Spapros: trees of cell types on genes by PCA and differential expression."""
    from spapros.selection import ProbesetSelector

    given = _plain(_log(adata), _types(adata))
    common = given.obs["type"].value_counts()
    # The most variable genes, as its authors begin with.
    given.var["first"] = False
    given.var.iloc[np.argsort(-given.X.var(axis=0))[:MAX_FOREST_GENES], 0] = True
    selector = ProbesetSelector(
        given, "type", genes_key="first", n=max(sizes), celltypes=common[common >= MIN_FOREST_CELLS].index.tolist(),
        verbosity=0, save_dir=None, n_jobs=1,
    )  # fmt: skip
    selector.select_probeset()
    ranked = selector.probeset.sort_values(["gene_nr"]).index
    return _nested(given.var_names.get_indexer(ranked), sizes)


def _types(adata: Any) -> Any:
    return adata.obs[["type"]].astype("category")


def greedy_linear(adata: Any, sizes: Sequence[int]) -> Lists:
    """Select, one by one, the standardised gene that explains most of what is left of all genes."""
    X = _log(adata)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    goal = PCA(min(300, *Z.shape) - 1, random_state=0).fit_transform(Z)
    order, _ = pursue(Pursuit(Z, goal, np.arange(Z.shape[1]), np.arange(0)), max(sizes))
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


def _selector(name: str, nested: bool = False) -> Way:
    """Return the way of a selector, which ranks genes once for all sizes if lists are nested."""

    def way(adata: Any, sizes: Sequence[int]) -> Lists:
        X = _log(adata)
        fitted = [SELECTORS[name](size).fit(X).selected_ for size in ([max(sizes)] if nested else sizes)]
        return _nested(fitted[0], sizes) if nested else fitted

    return way


WAYS: dict[str, Way] = {
    "select_genes": select_genes,
    "structure-pursuit": _selector("structure-pursuit"),
    "LSCAE": _selector("lscae"),
    "Spapros PCA": spapros_pca,
    "PCA loadings": loadings,
    "HVG seurat": _highly_variable("seurat", "dispersions_norm"),
    "HVG seurat_v3": _highly_variable("seurat_v3", "variances_norm"),
    "HVG pearson": _highly_variable("pearson_residuals", "residual_variances"),
    "variance": variance,
    "greedy linear": greedy_linear,
    "greedy neighbours": greedy_neighbours,
    "MCFS": _selector("mcfs"),
    "NDFS": _selector("ndfs", nested=True),
    "random": random,
}

LABELLED: dict[str, Way] = {"Spapros DE": spapros_de, "Spapros": spapros_forest}
"""Ways that see the cell types which score them."""
