"""Scores of a selection: how well the selected features cluster, classify and reconstruct the rows."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from tamis.metrics import clustering_accuracy, dense_sample, reconstruction_errors

SCORES: Mapping[str, str] = {
    "kmeans_accuracy": "k-means accuracy",
    "nmi": "NMI",
    "knn_accuracy": "5-NN accuracy",
    "r2": "ridge R²",
}
"""Name of a score in a row, and what pages call it; larger is better in all."""

N_RUNS, N_FOLDS, N_NEIGHBORS = 10, 5, 5


def score_selection(X: Any, y: ArrayLike, selected: ArrayLike, seed: int) -> dict[str, float]:
    """Score any list of features of a table.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The table, not necessarily scaled.
    y : array of shape (n_samples,)
        A label per row.
    selected : array of int
        The features.
    seed : int
        Of the k-means starts and of the folds, so that methods are compared on the same ones.

    Returns
    -------
    dict
        A value for every name of :data:`SCORES`.
    """
    X, y, selected = np.asarray(X), np.asarray(y), np.asarray(selected, dtype=np.intp)
    if len(np.unique(selected)) != len(selected):
        raise ValueError(f"A selection holds distinct features; {len(selected)} were given, some of them twice.")
    Z = dense_sample(X[:, selected], max_rows=len(X), max_values=X.size + 1).Z
    accuracy, nmi = clustering_scores(Z, y, seed)
    found = (accuracy, nmi, neighbour_accuracy(X[:, selected], y, seed), explained_variance(X, selected, seed))
    return {name: round(value, 5) for name, value in zip(SCORES, found, strict=True)}


def clustering_scores(Z: NDArray[np.float64], y: NDArray[Any], seed: int) -> tuple[float, float]:
    """Return the mean accuracy and the mean NMI of single runs of k-means with as many clusters as labels."""
    starts = check_random_state(seed).randint(np.iinfo(np.int32).max, size=N_RUNS)
    n_clusters = len(np.unique(y))
    found = []
    for start in starts:
        with warnings.catch_warnings():
            # Features that are nearly constant leave fewer distinct rows than classes; the scores show it.
            warnings.simplefilter("ignore", ConvergenceWarning)
            clusters = KMeans(n_clusters, n_init=1, random_state=int(start)).fit_predict(Z)
        found.append((clustering_accuracy(y, clusters), normalized_mutual_info_score(y, clusters)))
    accuracy, nmi = np.mean(found, axis=0)
    return float(accuracy), float(nmi)


def neighbour_accuracy(selected: NDArray[np.float64], y: NDArray[Any], seed: int) -> float:
    """Return the accuracy of nearest neighbours on rows held out, standardised by the other rows."""
    classifier = make_pipeline(StandardScaler(), KNeighborsClassifier(N_NEIGHBORS))
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # Some classes have fewer rows than there are folds.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return float(cross_val_score(classifier, selected, y, cv=folds).mean())


def explained_variance(X: NDArray[np.float64], selected: NDArray[np.intp], seed: int) -> float:
    """Return the share of the variance of all standardised features that ridge predicts on rows held out.

    ``R² = mean_j (1 − Σ_i (z_ij − ẑ_ij)² / Σ_i z_ij²)`` over all features that are not constant; selected ones count
    as explained in full.
    """
    Z = dense_sample(X, max_rows=len(X), max_values=X.size + 1).Z
    errors = reconstruction_errors(Z, selected, n_folds=N_FOLDS, random_state=seed)
    return 1 - float(errors[Z.any(axis=0)].mean())
