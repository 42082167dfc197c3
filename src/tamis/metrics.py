"""Scores of any list of features, however it was chosen."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import issparse
from scipy.special import softmax
from sklearn.cluster import KMeans
from sklearn.metrics.cluster import contingency_matrix
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state

from tamis.columns import block_statistics
from tamis.structure.find import Structure
from tamis.verdict import explained_shares, halves_of

Array = NDArray[np.float64]

TINY = 1e-12


class Sample(NamedTuple):
    """Standardised rows of a table, and their positions in it."""

    Z: Array
    rows: NDArray[np.intp]


def clustering_accuracy(labels: ArrayLike, clusters: ArrayLike) -> float:
    """Return ``max_π Σ_i 1[y_i = π(c_i)] / n`` over the one-to-one matchings π of clusters with labels."""
    table = contingency_matrix(labels, clusters)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / table.sum())


def kmeans_accuracies(
    X: Any, labels: ArrayLike, *, n_runs: int = 20, init: str = "k-means++", random_state: Any = None,
    X_test: Any = None, labels_test: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """Return the clustering accuracy of several runs of k-means, each from a single start.

    There are as many clusters as labels. With ``X_test`` the centres found on X are scored on that.
    """
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_runs)
    n_clusters = len(np.unique(np.asarray(labels)))
    accuracies = []
    # Rows that are alike leave clusters empty, and many labels look like numbers: neither concerns the score.
    with warnings.catch_warnings(action="ignore"):
        for seed in seeds:
            model = KMeans(n_clusters, init=init, n_init=1, random_state=int(seed)).fit(X)
            true, found = (labels, model.labels_) if labels_test is None else (labels_test, model.predict(X_test))
            accuracies.append(clustering_accuracy(true, found))
    return np.array(accuracies)


def dense_sample(X: Any, *, max_rows: int = 2000, max_values: int = 10_000_000, random_state: Any = 0) -> Sample:
    """Draw rows at random, at least 200 if there are so many, and standardise their features; constant ones are 0.

    X is an array or a sparse matrix, which is never made dense whole. The sample has at most ``max_rows`` rows and, if
    they are more than 200, at most ``max_values`` values.
    """
    n, d = X.shape
    size = min(n, max_rows, max(200, max_values // max(1, d)))
    rows = np.sort(check_random_state(random_state).permutation(n)[:size]) if size < n else np.arange(n)
    taken = X[rows]  # a copy, which is standardised in place
    Z = np.asarray(taken.toarray() if issparse(taken) else taken, dtype=np.float64)
    statistics = block_statistics(Z)
    Z -= statistics.mean
    Z[:, statistics.constant] = 0.0
    Z /= np.where(statistics.std > 0, statistics.std, 1.0)
    return Sample(Z, rows)


def reconstruction_errors(
    Z: Array, columns: ArrayLike, *, targets: ArrayLike | None = None, n_folds: int = 3, random_state: Any = 0
) -> Array:
    """Return the errors, on rows held out, of features that are predicted from others by ridge regression.

    The error of a target is ``Σ (z − ẑ)² / Σ z²``: 0 is perfect, 1 is no better than the mean; overfitting goes beyond.
    It is 0 for the features to predict from (``columns``) and for constant ones. All features of the standardised
    table Z are targets by default. The penalty is chosen by generalised cross-validation within the other folds, once
    for all targets.
    """
    columns = np.asarray(columns, dtype=np.intp)
    wanted = np.arange(Z.shape[1]) if targets is None else np.asarray(targets, dtype=np.intp)
    taken: Any = slice(None) if targets is None else wanted  # of all features no copy is made
    fold = check_random_state(random_state).permutation(len(Z)) % min(n_folds, len(Z))
    squares = np.zeros(len(wanted))
    for held in range(fold.max() + 1):
        known, new = Z[fold != held], Z[fold == held]
        lost = _ridge(known[:, columns], known[:, taken], new[:, columns])
        lost -= new[:, taken]
        squares += np.einsum("ij,ij->j", lost, lost)
    energy = np.einsum("ij,ij->j", Z, Z)[wanted]
    errors = squares / np.where(energy > TINY, energy, 1.0)
    errors[np.isin(wanted, columns) | (energy <= TINY)] = 0.0
    return errors


def _ridge(G: Array, Y: Array, G_new: Array) -> Array:
    """Fit ``Y ≈ G W`` and return ``G_new W``, through the smaller of the two Gram matrices; Y is centred in place."""
    mean_g, mean_y = G.mean(axis=0), Y.mean(axis=0)
    G, G_new = G - mean_g, G_new - mean_g
    Y -= mean_y
    n, k = G.shape
    values, vectors = np.linalg.eigh(G.T @ G if k <= n else G @ G.T)
    kept = values > TINY * max(values[-1], TINY)
    values, vectors = values[kept], vectors[:, kept]
    # The coordinates of Y in the left singular vectors of G.
    coordinates = (vectors.T @ (G.T @ Y)) / np.sqrt(values)[:, None] if k <= n else vectors.T @ Y
    penalty = _best_penalty(values, (coordinates**2).sum(axis=1), float(np.einsum("ij,ij->", Y, Y)), n)
    scaled = coordinates * (np.sqrt(values) / (values + penalty))[:, None]
    to_singular = G_new @ vectors if k <= n else (G_new @ (G.T @ vectors)) / np.sqrt(values)
    guess: Array = to_singular @ scaled
    guess += mean_y
    return guess


def _best_penalty(values: Array, energies: Array, total: float, n: int) -> float:
    """Minimise generalised cross-validation, ``RSS / (n − tr H)²``."""
    penalties = n * np.logspace(-4, 2, 13)
    shrink = values / (values + penalties[:, None])
    criteria = (total - ((2 * shrink - shrink**2) * energies).sum(axis=1)) / (n - 1 - shrink.sum(axis=1)) ** 2
    return float(penalties[criteria.argmin()])


def redundancy(Z: Array, columns: ArrayLike) -> float:
    """Return the mean, over the features, of the largest absolute correlation with another of them."""
    G = Z[:, np.asarray(columns, dtype=np.intp)]
    correlations = np.abs(G.T @ G) / len(G)
    np.fill_diagonal(correlations, 0.0)
    return float(np.minimum(correlations.max(axis=0), 1.0).mean())


def smoothness(Z: Array, columns: ArrayLike, *, max_rows: int = 1000, bandwidth: float = 0.05) -> float:
    """Return how much of the features a random walk over the rows keeps, ``trace(GᵀPG) / trace(GᵀG)``.

    P steps from row to row with probabilities proportional to ``exp(−‖g_i − g_l‖² / 2σ²)``, without staying; σ² is
    the mean squared distance times ``bandwidth``. 1 means that neighbours agree in full, 0 that they do not.
    """
    G = Z[:max_rows, np.asarray(columns, dtype=np.intp)]
    gram, distances = G @ G.T, euclidean_distances(G, squared=True)
    variance = bandwidth * distances.sum() / (len(G) * (len(G) - 1))
    exponents = -distances / (2 * variance + TINY)
    np.fill_diagonal(exponents, -np.inf)
    return float((softmax(exponents, axis=1) * gram).sum() / (np.trace(gram) + TINY))


def score_lists(
    sample: Sample,
    lists: Sequence[NDArray[np.intp]],
    structure: Structure,
    labels: ArrayLike | None = None,
    *,
    random_state: Any = 0,
) -> list[dict[str, float]]:
    """Score lists of features, however they were chosen.

    Returns for each ``explained`` (share of the structure that it explains on rows held out, as in verdicts),
    ``smoothness``, ``redundancy`` and, with a label per row of the whole table, ``accuracy``, the mean of five k-means
    runs on the rows whose label is neither None nor empty.
    """
    Z, known = sample.Z, [] if labels is None else np.asarray(labels)[sample.rows].tolist()
    labelled = [row for row, label in enumerate(known) if label not in ("", None)]
    true, found = [known[row] for row in labelled], []
    shares = explained_shares(Z, lists, structure, halves_of(Z, np.random.default_rng(0)))
    for columns, share in zip(lists, shares, strict=True):
        scores = {"explained": share, "smoothness": smoothness(Z, columns), "redundancy": redundancy(Z, columns)}
        if labelled:
            accuracies = kmeans_accuracies(Z[labelled][:, columns], true, n_runs=5, random_state=random_state)
            scores["accuracy"] = float(accuracies.mean())
        found.append(scores)
    return found


def random_columns(
    sample: Sample, selected: NDArray[np.intp], owner: NDArray[np.intp], n_lists: int, random_state: Any = 0
) -> list[NDArray[np.intp]]:
    """Draw lists of as many features of the file, none of them constant, as a list has; ``owner`` is that of each."""
    usable, size = np.unique(owner[sample.Z.any(axis=0)]), len(np.unique(owner[selected]))
    rng = check_random_state(random_state)
    return [np.flatnonzero(np.isin(owner, rng.permutation(usable)[:size])) for _ in range(n_lists)]
