"""RSR: features that represent all others (Zhu, Zuo, Zhang, Hu and Shiu, 2015)."""

import numpy as np

from tamis.base import Task
from tamis.scaling import Array, ScaledTable
from tamis.selectors.parameters import Count, NonNegative, Positive, ScaledSelector, with_parameters
from tamis.selectors.reweighting import WeightedRidge, bound_weights, converged, row_lengths, smooth_lengths


@with_parameters
class RSR(ScaledSelector):
    r"""Rank features by their weight in the regularised representation of all features by each other.

    .. math:: \min_W \lVert X - X W \rVert_{2,1} + \lambda \lVert W \rVert_{2,1}

    is solved by reweighting: with :math:`G_L = \operatorname{diag}(1 / 2\lVert \text{row}_i(X - XW) \rVert)` and
    :math:`G_R = \operatorname{diag}(1 / 2\lVert w_j \rVert)`,
    :math:`W \leftarrow (X^\top G_L X + \lambda G_R)^{-1} X^\top G_L X`. The score of a feature is the length ‖w_j‖ of
    its row; large is good. Rows of X that fit badly count less than with squared errors.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        Number of features to select; None selects half of them.
    sparsity : float, default=100.0
        Weight λ of the norm of W.
    max_iter : int, default=30
        Largest number of reweightings.
    tol : float, default=1e-5
        Stop when the objective changes by less than this share.
    scale : {"standard", "center"} or None, default="standard"
        Preprocessing of the features: z-scores, centring or none.
    must_keep, never : sequence of int or str, default=()
        Features, by position, name or glob (``"MT-*"``), that are always or never selected.
    groups : sequence of labels, mapping of label to features, or None, default=None
        Features that are selected or left out together; a group has the mean score of its features.

    Attributes
    ----------
    objectives_ : ndarray
        The objective after every reweighting; it never rises.
    n_iter_ : int
        Number of reweightings.

    Notes
    -----
    If d > n, W is never formed, and a reweighting takes O(n²d) time, else O(nd²). X is made dense: 8 n d bytes, and
    twice more for each reweighting.

    References
    ----------
    Zhu, Zuo, Zhang, Hu, Shiu. Unsupervised feature selection by regularized self-representation.
    Pattern Recognition 48, 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import RSR
    >>> sorted(RSR(2).fit(load_iris().data).selected_.tolist())
    [2, 3]
    """

    sparsity: Positive = 100.0
    max_iter: Count = 30
    tol: NonNegative = 1e-5

    def _score(self, table: ScaledTable, task: Task) -> Array:  # noqa: ARG002
        X, objectives = table.dense(), list[float]()
        row_weights, feature_weights = np.ones(len(X)), np.ones(X.shape[1])
        for self.n_iter_ in range(1, self.max_iter + 1):  # noqa: B020
            lengths, errors = representation(X, row_weights, self.sparsity * feature_weights)
            row_weights, feature_weights = bound_weights(errors), bound_weights(lengths)
            objectives.append(float(smooth_lengths(errors).sum() + self.sparsity * smooth_lengths(lengths).sum()))
            if converged(objectives, self.tol):
                break
        self.objectives_ = np.array(objectives)
        return lengths


def representation(X: Array, row_weights: Array, penalty: Array) -> tuple[Array, Array]:
    """Minimise ``Σ_i g_i ‖row_i(X − XW)‖² + Σ_j u_j ‖w_j‖²``; return the lengths of the rows of W and of X − XW."""
    roots = np.sqrt(row_weights)[:, None]
    ridge = WeightedRidge(X * roots, penalty)
    solution = ridge.solve(ridge.X)
    return ridge.lengths(solution), row_lengths(ridge.residual(ridge.X, solution) / roots)
