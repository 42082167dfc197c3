"""Scores of the cells × genes of a panel."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, f1_score, normalized_mutual_info_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

N_COMPONENTS = 50
NEIGHBOURS = (5, 10, 15, 20, 25, 30)
"""Sizes of neighbourhoods, the cell itself included, as scanpy counts."""

CLUSTERS = ((5, 20), (21, 60))
RESOLUTIONS = np.geomspace(0.05, 16, 28)
MAX_CORRELATION, TOLERANCE = 0.8, 0.05
RARE_SHARE = 0.05
N_FOLDS = 5

Array = NDArray[np.floating]
Partitions = dict[int, NDArray[np.intp]]


def principal_components(X: Array, seed: int) -> Array:
    """Return the leading components of centred expression, at most :data:`N_COMPONENTS`."""
    n_components = max(1, min(N_COMPONENTS, X.shape[1] - 1, X.shape[0] - 1))
    solver = "covariance_eigh" if X.shape[1] < 5000 else "auto"
    return np.asarray(PCA(n_components, svd_solver=solver, random_state=seed).fit_transform(X.astype(np.float64)))


def nearest(X: Array, count: int = max(NEIGHBOURS) - 1) -> NDArray[np.intp]:
    """Return the nearest other cells of each cell, the nearest first."""
    near = NearestNeighbors(n_neighbors=min(count, len(X) - 1)).fit(X)
    return np.asarray(near.kneighbors(return_distance=False))


def neighbour_overlap(whole: NDArray[np.intp], panel: NDArray[np.intp]) -> float:
    """Return the mean share of common neighbours, over sizes from 5 to 30, those between interpolated."""
    sizes = [size for size in NEIGHBOURS if size - 1 <= whole.shape[1]]
    pairs = [zip(whole[:, : k - 1], panel[:, : k - 1], strict=True) for k in sizes]
    shares = [np.mean([np.isin(a, b).mean() for a, b in cells]) for cells in pairs]
    return float(np.interp(np.arange(sizes[0], sizes[-1] + 1), sizes, shares).mean())


def partitions(components: Array, seed: int) -> Partitions:
    """Return Leiden clusters of the graph of 15 nearest cells, by their number, over resolutions."""
    import random

    import igraph

    near = nearest(components, 15)
    rows = np.repeat(np.arange(len(near)), near.shape[1])
    graph = igraph.Graph(len(near), np.column_stack([rows, near.ravel()]).tolist()).simplify()
    found: Partitions = {}
    igraph.set_random_number_generator(random.Random(seed))
    try:
        for resolution in RESOLUTIONS:
            clusters = np.array(graph.community_leiden("modularity", resolution=resolution, n_iterations=2).membership)
            found.setdefault(int(clusters.max()) + 1, clusters)
    finally:
        igraph.set_random_number_generator(random)
    return found


def partition_similarity(whole: Partitions, panel: Partitions) -> dict[str, float]:
    """Return the mean mutual information of clusters over their numbers; numbers that did not occur are interpolated.

    Panels and all genes are compared where their numbers of clusters are nearest.
    """
    numbers = np.array(sorted(whole))
    others = np.array(sorted(panel))
    nearest = others[np.abs(others - numbers[:, None]).argmin(axis=1)]
    known = [normalized_mutual_info_score(whole[n], panel[m]) for n, m in zip(numbers, nearest, strict=True)]
    means = {(low, high): np.interp(np.arange(low, high + 1), numbers, known).mean() for low, high in CLUSTERS}
    return {f"nmi_{low}_{high}": float(mean) for (low, high), mean in means.items()}


def correlations(X: Array) -> dict[str, float]:
    """Return 1 − the mean absolute correlation of two genes, and the share of genes below :data:`MAX_CORRELATION`.

    A gene whose largest correlation is within :data:`TOLERANCE` of the limit counts in part.
    """
    varying = X[:, X.std(axis=0) > 0].astype(np.float64)
    absolute = np.abs(np.corrcoef(varying, rowvar=False))
    pairs = absolute[np.tril_indices_from(absolute, -1)]
    np.fill_diagonal(absolute, 0.0)
    below = np.clip((MAX_CORRELATION + TOLERANCE - absolute.max(axis=0)) / (2 * TOLERANCE), 0.0, 1.0)
    return {"correlation": float(1 - pairs.mean()), "correlation_share": float(below.mean())}


def classification(X: Array, types: NDArray[np.str_]) -> tuple[dict[str, float], Any]:
    """Return the F1 scores of cell types on cells held out, and how types are confused (shares of each type).

    Cells whose type is empty, and those of types with one cell, do not count.
    """
    import pandas

    names, codes, counts = np.unique(types, return_inverse=True, return_counts=True)
    # A type of fewer cells than folds cannot be held out.
    usable = np.isin(codes, np.flatnonzero((counts >= 2) & (names != "")))
    X, codes = X[usable], codes[usable]
    known = np.unique(codes)
    if len(known) < 2:
        raise ValueError(f"Scores of cell types need 2 types with at least 2 cells each; got {len(known)}.")
    folds = StratifiedKFold(max(2, min(N_FOLDS, counts[known].min())), shuffle=True, random_state=0)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500))
    guess = cross_val_predict(logistic, X, codes, cv=folds)
    near = cross_val_predict(KNeighborsClassifier(min(15, max(1, int(counts[known].min())))), X, codes, cv=folds)
    f1 = f1_score(codes, guess, average=None, labels=known)
    rare = counts[known] <= max(RARE_SHARE * len(codes), counts[known].min())
    found = {"f1": f1.mean(), "f1_knn": f1_score(codes, near, average="macro"), "f1_rare": f1[rare].mean()}
    shares = confusion_matrix(codes, guess, labels=known, normalize="true")
    return {name: float(value) for name, value in found.items()}, pandas.DataFrame(shares, names[known], names[known])


def batch_mixing(X: Array, batch: NDArray[np.str_]) -> float:
    """Return the share of the 15 nearest cells that are of other batches, relative to that of all cells; at most 1."""
    near = nearest(principal_components(X, 0), 15)
    _, codes, counts = np.unique(batch, return_inverse=True, return_counts=True)
    expected = 1 - (counts[codes] - 1) / (len(codes) - 1)
    observed = (codes[near] != codes[:, None]).mean(axis=1)
    return float(min(1.0, observed.mean() / expected.mean())) if len(counts) > 1 else 1.0


def excess_variance(X: Array) -> Array:
    """Return how far the logarithm of the variance of each gene exceeds a parabola in that of its mean."""
    mean, variance = (np.log(np.maximum(part, 1e-12)) for part in (np.abs(X.mean(axis=0)), X.var(axis=0)))
    return np.asarray(variance - np.polyval(np.polyfit(mean, variance, 2), mean))
