"""MCFS: features that together predict the eigenvectors of the graph (Cai, Zhang and He, 2010)."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path, lars_path_gram

from tamis.base import Task
from tamis.scaling import Array, ScaledTable
from tamis.selectors.neighbour_graph import build_graph, degrees, inverse_roots, smooth_spectrum
from tamis.selectors.parameters import Bandwidth, Count, OptionalCount, ScaledSelector, with_parameters


@with_parameters
class MCFS(ScaledSelector):
    r"""Rank features by their largest weight in sparse regressions of the graph's eigenvectors.

    The K smoothest vectors :math:`L y = \lambda D y`, the constant one left out, are each approximated by least-angle
    regression with m non-zero weights,

    .. math:: \min_{a_k} \lVert y_k - X a_k \rVert^2 \quad \text{with} \quad \lVert a_k \rVert_0 = m, \qquad
              \text{score}(j) = \max_k \lvert a_{kj} \rvert ,

    large is good. Features with no weight in any of them have the score 0 and are ranked in their order in X.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        Number of features to select; None selects half of them.
    n_eigenvectors : int, default=5
        The K vectors; the number of clusters is a good choice if it is known.
    n_nonzero : int or None, default=None
        The m weights of each regression, at most n − 1; None means the number of selected features.
    n_neighbors : int, default=5
        Neighbours of every row in the graph; at most all other rows.
    bandwidth : {"neighbors", "pairwise"} or float, default="pairwise"
        The σ of the weights ``exp(−distance²/2σ²)``: the mean distance to the neighbours, the mean distance between
        two rows, or σ itself.
    scale : {"standard", "center"} or None, default="standard"
        Preprocessing of the features: z-scores, centring or none. The regressions have no intercept.
    must_keep, never : sequence of int or str, default=()
        Features, by position, name or glob (``"MT-*"``), that are always or never selected.
    groups : sequence of labels, mapping of label to features, or None, default=None
        Features that are selected or left out together; a group has the mean score of its features.

    Attributes
    ----------
    coefficients_ : ndarray of shape (n_eigenvectors, n_features)
        The weights a.

    Notes
    -----
    O(n²d) time for the graph, and O(K m n d) for the regressions if d > n, else O(nd² + K m d²). Sparse X stays sparse
    if d ≤ n; if d > n, the regressions make it dense: 8 n d bytes.

    References
    ----------
    Cai, Zhang, He. Unsupervised Feature Selection for Multi-Cluster Data. KDD 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import MCFS
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> X[:30, [1, 3]] += 6
    >>> sorted(MCFS(2, n_eigenvectors=1).fit(X).selected_.tolist())
    [1, 3]
    """

    n_eigenvectors: Count = 5
    n_nonzero: OptionalCount = None
    n_neighbors: Count = 5
    bandwidth: Bandwidth = "pairwise"

    def _score(self, table: ScaledTable, task: Task) -> Array:
        graph = build_graph(table, self.n_neighbors, self.bandwidth)
        # The vectors y = D^(−1/2) ξ have yᵀ D y = 1.
        targets = inverse_roots(degrees(graph))[:, None] * smooth_spectrum(graph, self.n_eigenvectors)[1]
        weights = sparse_weights(table, targets, min(self.n_nonzero or task.k, table.shape[0] - 1, table.shape[1]))
        self.coefficients_ = np.zeros((len(weights), table.n_features))
        self.coefficients_[:, table.columns] = weights
        return np.asarray(np.abs(weights).max(axis=0))


def sparse_weights(table: ScaledTable, targets: Array, n_nonzero: int) -> Array:
    """Follow the least-angle path of every target up to ``n_nonzero`` weights; one row per target."""
    n, d = table.shape
    path: dict[str, Any] = {"max_iter": n_nonzero, "method": "lar", "return_path": False, "copy_X": True}
    # Copies of features already taken are passed over by the path, which warns of each.
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        if d > n:
            dense = table.dense()
            return np.array([lars_path(dense, y, **path)[2] for y in targets.T])
        gram, products = np.zeros((d, d)), np.zeros((targets.shape[1], d))
        for rows, block in table.row_blocks():
            gram += block.T @ block
            products += targets[rows].T @ block
        return np.array([lars_path_gram(xy, gram, n_samples=n, **path)[2] for xy in products])
