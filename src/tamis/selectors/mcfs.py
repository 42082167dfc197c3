"""MCFS: columns that together predict the eigenvectors of the graph (Cai, Zhang and He, 2010)."""

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path, lars_path_gram
from sklearn.utils._param_validation import Interval

from tamis.base import Task
from tamis.graph import degrees, inverse_roots, smooth_spectrum
from tamis.scaling import ScaledTable
from tamis.selectors.scaled import GraphSelector

Array = NDArray[np.float64]


class MCFS(GraphSelector):
    r"""Rank columns by their largest weight in sparse regressions of the graph's eigenvectors.

    The K smoothest vectors :math:`L y = \lambda D y`, the constant one left out, are each approximated by least-angle
    regression with m non-zero weights,

    .. math:: \min_{a_k} \lVert y_k - X a_k \rVert^2 \quad \text{with} \quad \lVert a_k \rVert_0 = m, \qquad
              \text{score}(j) = \max_k \lvert a_{kj} \rvert ,

    large is good. Columns with no weight in any of them have the score 0 and are ranked in their order in X.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many columns to select; None selects half of them.
    n_eigenvectors : int, default=5
        The K vectors; the number of clusters is a good choice if it is known.
    n_nonzero : int or None, default=None
        The m weights of each regression, at most n − 1; None takes the number of selected columns.
    n_neighbors : int, default=5
        Neighbours of every row in the graph; fewer if there are not so many other rows.
    bandwidth : {"neighbors", "pairwise"} or float, default="pairwise"
        The σ of the weights ``exp(−distance²/2σ²)``: the mean distance to the neighbours, the mean distance between
        two rows, or σ itself.
    scale : {"standard", "center"} or None, default="standard"
        What is done to the columns: z-scores, centring or nothing. The regressions have no intercept.
    must_keep, never : sequence of int or str, default=()
        Columns, by position or name, that are always or never selected.

    Attributes
    ----------
    coefficients_ : ndarray of shape (n_eigenvectors, n_features_in_)
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
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> X[:30, [1, 3]] += 6
    >>> sorted(MCFS(2, n_eigenvectors=1).fit(X).selected_.tolist())
    [1, 3]
    """

    _parameter_constraints: ClassVar[dict] = {
        **GraphSelector._parameter_constraints,
        "n_eigenvectors": [Interval(Integral, 1, None, closed="left")],
        "n_nonzero": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        n_eigenvectors: int = 5,
        n_nonzero: int | None = None,
        n_neighbors: int = 5,
        bandwidth: str | float = "pairwise",
        scale: str | None = "standard",
        must_keep: Sequence[int | str] = (),
        never: Sequence[int | str] = (),
    ):
        super().__init__(
            n_features_to_select,
            n_neighbors=n_neighbors,
            bandwidth=bandwidth,
            scale=scale,
            must_keep=must_keep,
            never=never,
        )
        self.n_eigenvectors = n_eigenvectors
        self.n_nonzero = n_nonzero

    def _score(self, table: ScaledTable, task: Task) -> Array:
        targets = smooth_targets(self._graph(table), self.n_eigenvectors)
        n_nonzero = min(self.n_nonzero or task.k, table.shape[0] - 1, table.shape[1])
        weights = sparse_weights(table, targets, n_nonzero)
        self.coefficients_ = np.zeros((targets.shape[1], len(task.statistics.mean)))
        self.coefficients_[:, table.columns] = weights
        return np.abs(weights).max(axis=0)


def smooth_targets(graph: csr_array, count: int) -> Array:
    """Give the smoothest non-trivial vectors ``y = D^(−1/2) ξ`` with ``yᵀ D y = 1``, as columns."""
    return inverse_roots(degrees(graph))[:, None] * smooth_spectrum(graph, count).vectors


def sparse_weights(table: ScaledTable, targets: Array, n_nonzero: int) -> Array:
    """Follow the least-angle path of every target up to ``n_nonzero`` weights; one row per target."""
    n, d = table.shape
    with warnings.catch_warnings():
        # Copies of columns already taken are passed over by the path, which warns of each.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if d > n:
            dense = table.dense()
            return np.array([lars_path(dense, y, max_iter=n_nonzero, **_LARS)[2] for y in targets.T])
        gram, products = _normal_equations(table, targets)
        return np.array([lars_path_gram(xy, gram, n_samples=n, max_iter=n_nonzero, **_LARS)[2] for xy in products])


_LARS = {"method": "lar", "return_path": False, "copy_X": True}


def _normal_equations(table: ScaledTable, targets: Array) -> tuple[Array, Array]:
    """Give ``Xᵀ X`` and the rows ``yᵀ X``, from blocks of rows."""
    d = table.shape[1]
    gram, products = np.zeros((d, d)), np.zeros((targets.shape[1], d))
    for rows, block in table.row_blocks():
        gram += block.T @ block
        products += targets[rows].T @ block
    return gram, products
