"""UDFS: features that discriminate between neighbourhoods (Yang, Shen, Ma, Huang and Zhou, 2011)."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from tamis.base import Task
from tamis.columns import BLOCK_VALUES
from tamis.scaling import Array, ScaledTable
from tamis.selectors import neighbour_graph as graphs
from tamis.selectors.parameters import Count, NonNegative, OptionalCount, Positive, ScaledSelector, with_parameters
from tamis.selectors.reweighting import bound_weights, converged, row_lengths, smooth_lengths


@with_parameters
class UDFS(ScaledSelector):
    r"""Rank features by their weight in projections that vary little within neighbourhoods.

    Every row i and its k nearest rows form a patch; :math:`\tilde X_i` holds their features less the patch's mean
    (d × (k+1)), :math:`S_i` picks them out of the n rows, and :math:`H = I - 11^\top/(k+1)`. With

    .. math:: G = \sum_i S_i H (\tilde X_i^\top \tilde X_i + \lambda I)^{-1} H S_i^\top, \qquad M = X^\top G X,

    the weights solve :math:`\min_{W^\top W = I_c} \operatorname{tr}(W^\top M W) + \gamma \lVert W \rVert_{2,1}` by
    reweighting: W takes the c eigenvectors of M + γU with the smallest eigenvalues, U = diag(1/2‖w_j‖) of the W
    before. The score of a feature is the length ‖w_j‖ of its row; large is good.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        Number of features to select; None selects half of them.
    n_clusters : int or None, default=None
        The number c of projections; None means the largest gap among the first 21 eigenvalues of the graph's
        Laplacian.
    n_neighbors : int, default=5
        Neighbours k of every row in its patch; at most all other rows.
    ridge : float, default=1.0
        The λ that makes the local scatter invertible. A large one measures plain local variance.
    sparsity : float, default=0.01
        The weight γ of the ℓ2,1 norm, relative to the mean of the diagonal of M.
    max_iter : int, default=20
        Largest number of reweightings.
    tol : float, default=1e-6
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
    n_clusters_ : int
        The c that was used.
    n_iter_ : int
        Number of reweightings.

    Notes
    -----
    If d > n, M has low rank, and the eigenvectors are found from ``(M + γU)⁻¹`` in the n-dimensional space of the
    rows: exactly, in O(n²d) time a reweighting. Else O(nd²). X is made dense: 8 n d bytes, twice if d > n.

    If d > n, the problem has solutions without any local variance, and which of them is found depends on the start.
    The start here is U = diag(M), made to have the mean 1: features with little local variance are favoured.

    References
    ----------
    Yang, Shen, Ma, Huang, Zhou. ℓ2,1-Norm Regularized Discriminative Feature Selection for Unsupervised Learning.
    IJCAI 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import UDFS
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> X[:30, [1, 3, 5]] += 6
    >>> sorted(UDFS(3).fit(X).selected_.tolist())
    [1, 3, 5]
    """

    n_clusters: OptionalCount = None
    n_neighbors: Count = 5
    ridge: Positive = 1.0
    sparsity: Positive = 0.01
    max_iter: Count = 20
    tol: NonNegative = 1e-6

    def _score(self, table: ScaledTable, task: Task) -> Array:  # noqa: ARG002
        n, d = table.shape
        neighbours = graphs.nearest_neighbours(table, self.n_neighbors)
        self.n_clusters_ = min(self.n_clusters or graphs.count_clusters(graphs.heat_graph(neighbours)), d)
        form = LowRankScatter if d > n and self.n_clusters_ < d - 1 else DenseScatter
        return self._reweight(form(table.dense(), local_matrix(table, neighbours, self.ridge)))

    def _reweight(self, scatter: "DenseScatter | LowRankScatter") -> Array:
        """Minimise ``tr(Wᵀ M W) + γ‖W‖₂,₁`` under ``Wᵀ W = I``, and return the lengths of the rows of W."""
        gamma, weights = self.sparsity * scatter.diagonal.mean(), scatter.diagonal / scatter.diagonal.mean()
        start, objectives = 1 / np.maximum(weights, np.finfo(float).eps), list[float]()
        for self.n_iter_ in range(1, self.max_iter + 1):  # noqa: B020
            values, W = scatter.smallest(gamma * weights, self.n_clusters_, start)
            lengths = row_lengths(W)
            trace = values.sum() - gamma * weights @ lengths**2
            objectives.append(float(trace + gamma * smooth_lengths(lengths).sum()))
            weights, start = bound_weights(lengths), W.sum(axis=1)
            if converged(objectives, self.tol):
                break
        self.objectives_ = np.array(objectives)
        return lengths


def local_matrix(table: ScaledTable, neighbours: graphs.Neighbours, ridge: float) -> csr_array:
    """Compute G, symmetric, positive semidefinite and sparse."""
    members = np.column_stack([np.arange(table.shape[0]), neighbours.indices])
    n, size = members.shape
    centring = np.eye(size) - 1 / size
    blocks, step = [], max(1, BLOCK_VALUES // (size * table.shape[1]))
    for chosen in (members[start : start + step] for start in range(0, n, step)):
        patches = table.take_rows(chosen.ravel()).reshape(*chosen.shape, -1)
        patches = patches - patches.mean(axis=1, keepdims=True)
        scatter = patches @ patches.transpose(0, 2, 1)
        # Beside a large scatter λ would be lost in its rounding errors.
        rounding = np.finfo(float).eps * np.trace(scatter, axis1=1, axis2=2)[:, None, None]
        blocks.append(centring @ np.linalg.inv(scatter + (ridge + rounding) * np.eye(size)) @ centring)
    local = graphs.sum_patches(members, np.concatenate(blocks))
    return (local + local.T).tocsr() / 2


class DenseScatter:
    """``M = Xᵀ G X`` as a d × d matrix."""

    def __init__(self, X: Array, local: csr_array):
        matrix = X.T @ (local @ X)
        self.matrix = (matrix + matrix.T) / 2
        self.diagonal = np.diagonal(self.matrix).copy()

    def smallest(self, penalty: Array, count: int, start: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """Compute the smallest eigenvalues of ``M + diag(penalty)`` and their vectors."""
        return graphs.some_eigenpairs(self.matrix + np.diag(penalty), 0, count - 1)


class LowRankScatter:
    """``M = Aᵀ A`` with an r × d matrix ``A = G^(1/2) X``, r < n."""

    def __init__(self, X: Array, local: csr_array):
        values, vectors = eigh(local.toarray(), check_finite=False)
        some = values > values[-1] * len(values) * np.finfo(float).eps
        self.root = (vectors[:, some] * np.sqrt(values[some])).T @ X
        self.diagonal = np.einsum("ij,ij->j", self.root, self.root)

    def smallest(self, penalty: Array, count: int, start: Array) -> tuple[Array, Array]:
        """Compute the smallest eigenvalues of ``Δ + Aᵀ A``, Δ = diag(penalty), and their vectors.

        The inverse, ``Δ⁻¹ − Δ⁻¹ Aᵀ (I + A Δ⁻¹ Aᵀ)⁻¹ A Δ⁻¹``, has the same vectors with its largest eigenvalues, and
        costs O(rd) to multiply by, so that Lanczos iterations find them.
        """
        d, scaled = len(penalty), self.root / penalty
        factor = cho_factor(np.eye(len(scaled)) + scaled @ self.root.T, overwrite_a=True, check_finite=False)

        def apply(vector: Array) -> Array:
            vector = vector.ravel()
            return np.asarray(vector / penalty - cho_solve(factor, scaled @ vector, check_finite=False) @ scaled)

        inverse = LinearOperator((d, d), matvec=apply, dtype=np.float64)
        values, W = eigsh(inverse, count, which="LA", v0=start, ncv=min(d, 2 * count + 16), tol=1e-8)
        return 1 / values, W
