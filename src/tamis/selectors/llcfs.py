"""LLCFS: feature weights learnt within local-learning based clustering (Zeng and Cheung, 2011)."""

from warnings import warn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from tamis.base import Task
from tamis.scaling import Array, ScaledTable
from tamis.selectors.neighbour_graph import build_graph, count_clusters, some_eigenpairs, sum_patches
from tamis.selectors.parameters import Count, NonNegative, OptionalCount, Positive, ScaledSelector, with_parameters

FLOOR = np.finfo(float).eps
"""Smallest relevance, so that a feature can come back."""

CONSTANT = 1e-9
"""Indicators that differ by less than this share within a neighbourhood are constant there."""


@with_parameters
class LLCFS(ScaledSelector):
    r"""Rank features by the relevance with which neighbours predict the cluster of a row.

    The indicator y of a row's cluster is predicted from its neighbours N_i by ridge regression, in which the feature l
    has the relevance :math:`\tau_l \ge 0`, :math:`\sum_l \tau_l = 1`. With :math:`K = X \operatorname{diag}(\tau)
    X^\top`, :math:`\Pi = I - 11^\top/n_i`, :math:`K_i = K[N_i, N_i]` and :math:`k_i = K[i, N_i]`:

    .. math:: R_i &= \Pi (\Pi K_i \Pi + I/\beta)^{-1}, \qquad
              a_i = (k_i - 1^\top K_i / n_i) R_i + 1^\top / n_i,\\
              Y &= \text{the } c \text{ smoothest eigenvectors of } (I - A)^\top (I - A),
                   \quad A[i, N_i] = a_i,\\
              w_i^c &= \operatorname{diag}(\tau) X[N_i]^\top R_i Y[N_i, c], \qquad
              \tau_l \propto \sqrt{\textstyle\sum_{i, c} (w_{il}^c)^2},

    repeated until τ stays. The score of a feature is its τ; large is good.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        Number of features to select; None selects half of them.
    n_clusters : int or None, default=None
        The number c of eigenvectors, the constant one among them, at least 2; None means the largest gap among the
        first 21 eigenvalues of the graph's Laplacian.
    n_neighbors : int, default=20
        Neighbours of every row, itself not among them; at most all other rows.
    beta : float, default=0.1
        Weight β of the errors of the ridge regressions against the size of their weights.
    max_iter : int, default=20
        Largest number of rounds.
    tol : float, default=1e-4
        Stop when ``Σ|change of τ|`` is below this.
    scale : {"standard", "center"} or None, default="standard"
        Preprocessing of the features: z-scores, centring or none.
    must_keep, never : sequence of int or str, default=()
        Features, by position, name or glob (``"MT-*"``), that are always or never selected.
    groups : sequence of labels, mapping of label to features, or None, default=None
        Features that are selected or left out together; a group has the mean score of its features.

    Attributes
    ----------
    n_clusters_ : int
        The c that was used.
    n_iter_ : int
        Number of rounds.

    Notes
    -----
    Clusters so far apart that no neighbourhood reaches across are predicted without any feature: τ stays uniform, and
    ``fit`` warns. More neighbours than the rows of a cluster help.

    O(n²d + n³) time a round, and 24 n² bytes. Sparse X stays sparse: it is made dense in blocks of 16 MB.

    References
    ----------
    Zeng, Cheung. Feature Selection and Kernel Learning for Local Learning-Based Clustering. TPAMI 33, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import LLCFS
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> X[:30, [1, 3]] += 6
    >>> sorted(LLCFS(2).fit(X).selected_.tolist())
    [1, 3]
    """

    n_clusters: OptionalCount = None
    n_neighbors: Count = 20
    beta: Positive = 0.1
    max_iter: Count = 20
    tol: NonNegative = 1e-4

    def _score(self, table: ScaledTable, task: Task) -> Array:  # noqa: ARG002
        n, d = table.shape
        wanted = self.n_clusters or count_clusters(build_graph(table, self.n_neighbors))
        self.n_clusters_ = max(2, min(wanted, n))
        relevances = np.full(d, 1 / d)
        for self.n_iter_ in range(1, self.max_iter + 1):  # noqa: B020
            kernel = weighted_kernel(table, relevances)
            members = kernel_neighbours(kernel, self.n_neighbors)
            solutions = ridge_solutions(kernel, members, self.beta)
            misfit = np.eye(n) - predictions(kernel, members, solutions).toarray()
            Y = some_eigenpairs(misfit.T @ misfit, 0, self.n_clusters_ - 1)[1]
            before, relevances = relevances, new_relevances(table, relevances, members, solutions, Y)
            if np.abs(relevances - before).sum() < self.tol:
                break
        if self.n_iter_ == 1 and relevances is before:
            warn(
                "LLCFS learnt nothing: every row has all its neighbours in its own cluster, so that no feature is "
                "needed to predict the cluster, and all features have the same score. Raise "
                f"n_neighbors={self.n_neighbors} above the size of the clusters, or n_clusters={self.n_clusters_}.",
                ConvergenceWarning,
                stacklevel=5,
            )
        return relevances


def weighted_kernel(table: ScaledTable, relevances: Array) -> Array:
    """Return ``K = X diag(τ) Xᵀ``, from blocks of columns."""
    n = table.shape[0]
    kernel = np.zeros((n, n))
    for columns, block in table.column_blocks():
        kernel += (block * relevances[columns]) @ block.T
    return (kernel + kernel.T) / 2


def kernel_neighbours(kernel: Array, n_neighbors: int) -> NDArray[np.intp]:
    """Return the nearest other rows of every row by ``K_ii + K_ll − 2 K_il``, sorted by position."""
    k = min(n_neighbors, len(kernel) - 1)
    norms = np.diagonal(kernel)
    squares = norms[:, None] + norms - 2 * kernel
    np.fill_diagonal(squares, np.inf)
    return np.sort(np.argpartition(squares, k - 1, axis=1)[:, :k], axis=1)


def ridge_solutions(kernel: Array, members: NDArray[np.intp], beta: float) -> Array:
    """Return ``R_i = Π (Π K_i Π + I/β)⁻¹`` of every row, n × k × k."""
    size = members.shape[1]
    centring = np.eye(size) - 1 / size
    local = kernel[members[:, :, None], members[:, None, :]]
    return np.asarray(centring @ np.linalg.inv(centring @ local @ centring + np.eye(size) / beta))


def predictions(kernel: Array, members: NDArray[np.intp], solutions: Array) -> csr_array:
    """Return A, whose row i predicts y_i from the neighbours of i; its rows sum to one."""
    n, size = members.shape
    local = kernel[members[:, :, None], members[:, None, :]]
    own = np.take_along_axis(kernel, members, axis=1)
    weights = np.einsum("ij,ijl->il", own - local.mean(axis=1), solutions) + 1 / size
    return csr_array((weights.ravel(), members.ravel(), np.arange(0, n * size + 1, size)), shape=(n, n))


def new_relevances(
    table: ScaledTable, relevances: Array, members: NDArray[np.intp], solutions: Array, Y: Array
) -> Array:
    """Return ``τ_l ∝ τ_l √(Σ_ic (X[N_i]ᵀ R_i Y[N_i, c])_l²)``, summing to one.

    They stay as they are if the indicators are constant in all neighbourhoods, for then only rounding errors are left.
    The sum is ``x_lᵀ Q x_l`` with an n × n matrix Q for all columns, which is sparse as the neighbourhoods are.
    """
    targets = solutions @ Y[members]
    if np.abs(targets).max() <= CONSTANT * np.abs(solutions).max() * np.abs(Y).max():
        return relevances
    products = sum_patches(members, targets @ targets.transpose(0, 2, 1))
    squares = np.empty(table.shape[1])
    for block_columns, block in table.column_blocks():
        squares[block_columns] = np.einsum("ij,ij->j", block, products @ block)
    lengths = np.maximum(relevances, FLOOR) * np.sqrt(np.maximum(squares, 0))
    total = lengths.sum()
    return lengths / total if total > 0 else relevances
