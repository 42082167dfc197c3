"""Scores of any list of features, however it was chosen."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import check_random_state


def clustering_accuracy(labels: ArrayLike, clusters: ArrayLike) -> float:
    """Give the share of samples whose cluster is that of their label, under the best one-to-one matching.

    ``ACC = max_π Σ_i 1[y_i = π(c_i)] / n``, found by the Hungarian method; π matches clusters with labels.
    """
    table = contingency_matrix(labels, clusters)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / table.sum())


def kmeans_accuracies(
    X: Any,
    labels: ArrayLike,
    *,
    n_runs: int = 20,
    init: str = "k-means++",
    random_state: Any = None,
    X_test: Any = None,
    labels_test: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Cluster n_runs times, each from a single start, and give the accuracy of every run.

    There are as many clusters as labels. With ``X_test`` the centres found on X are scored on that.
    """
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_runs)
    n_clusters = len(np.unique(np.asarray(labels)))
    accuracies = []
    for seed in seeds:
        model = KMeans(n_clusters, init=init, n_init=1, random_state=int(seed)).fit(X)
        if X_test is None or labels_test is None:
            accuracies.append(clustering_accuracy(labels, model.labels_))
        else:
            accuracies.append(clustering_accuracy(labels_test, model.predict(X_test)))
    return np.array(accuracies)
