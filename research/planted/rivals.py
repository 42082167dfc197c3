"""Simple rankings that a selector has to beat: each a few lines, a function of (X, k, seed) that returns k features."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.feature_selection import f_classif

Array = NDArray[np.float64]
Picks = NDArray[np.intp]

MAX_COMPONENTS = 10
N_CLUSTERS = 3


def pca_loadings(X: Array, k: int, seed: int) -> Picks:
    """Return the features with the largest squared loadings on the first components, weighted by their variance."""
    n_components = min(k, MAX_COMPONENTS, *X.shape)
    pca = PCA(n_components, random_state=seed).fit(_standardised(X))
    return _best(pca.explained_variance_ @ pca.components_**2, k)


def correlation(X: Array, k: int, seed: int) -> Picks:  # noqa: ARG001
    """Return the features with the largest absolute correlation with another feature."""
    Z = _standardised(X)
    products = np.abs(Z.T @ Z)
    np.fill_diagonal(products, 0)
    return _best(products.max(axis=0), k)


def kmeans_f(X: Array, k: int, seed: int) -> Picks:
    """Return the features that differ most, by their F value, between the three clusters of k-means."""
    Z = _standardised(X)
    labels = KMeans(N_CLUSTERS, n_init=10, random_state=seed).fit_predict(Z)
    scores, varying = np.zeros(X.shape[1]), np.ptp(X, axis=0) > 0
    scores[varying] = f_classif(Z[:, varying], labels)[0]
    return _best(scores, k)


def _standardised(X: Array) -> Array:
    spread = np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), np.inf)
    return (X - X.mean(axis=0)) / spread


def _best(scores: Array, k: int) -> Picks:
    return np.argsort(-scores, kind="stable")[:k]


RIVALS: dict[str, Callable[[Array, int, int], Picks]] = {
    "pca-loadings": pca_loadings,
    "correlation": correlation,
    "kmeans-f": kmeans_f,
}
