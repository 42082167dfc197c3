"""NDFS: features that predict non-negative cluster indicators (Li, Yang, Liu, Zhou and Lu, 2012)."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from tamis.base import Task
from tamis.scaling import Array, ScaledTable
from tamis.selectors import neighbour_graph as graphs
from tamis.selectors import parameters as p
from tamis.selectors.reweighting import WeightedRidge, bound_weights, converged, row_lengths, smooth_lengths

SOFTNESS = 0.2
"""Added to the first indicators: a zero would stay zero under multiplicative steps."""

HALVINGS = 40
"""Largest number of times that a step is halved before F is left as it is."""


@p.with_parameters
class NDFS(p.ScaledSelector):
    r"""Rank features by their weight in the regression of cluster indicators that are learnt with it.

    .. math:: \min_{F \ge 0, W} \operatorname{tr}(F^\top \hat L F)
              + \alpha \bigl(\lVert X W - F \rVert^2 + \beta \lVert W \rVert_{2,1}\bigr)
              + \tfrac{\gamma}{2} \lVert F^\top F - I \rVert^2

    with the normalised Laplacian :math:`\hat L` and a large γ. With U = diag(1/2‖w_j‖) of the W before, a round is

    .. math:: M = \hat L + \alpha \bigl(I - X (X^\top X + \beta U)^{-1} X^\top\bigr), \quad
              F \leftarrow F \circ \Bigl(\frac{\gamma F + [MF]_-}{[MF]_+ + \gamma F F^\top F}\Bigr)^{s}, \quad
              W = (X^\top X + \beta U)^{-1} X^\top F

    with s = 1, halved until the objective does not rise. The score of a feature is the length ‖w_j‖ of its row;
    large is good.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        Number of features to select; None selects half of them.
    n_clusters : int or None, default=None
        The number of indicators; None takes the largest gap among the first 21 eigenvalues of the graph's Laplacian.
    alpha : float, default=1.0
        Weight α of the regression against the smoothness of F.
    beta : float, default=10.0
        Weight β of the norm of W.
    gamma : float, default=1e8
        Weight γ of the orthogonality of F.
    max_iter : int, default=30
        Largest number of rounds.
    tol : float, default=1e-6
        Stop when the objective changes by less than this share.
    n_neighbors : int, default=5
        Neighbours of every row in the graph; at most all other rows.
    bandwidth : {"neighbors", "pairwise"} or float, default="neighbors"
        The σ of the weights ``exp(−distance²/2σ²)``: the mean distance to the neighbours, the mean distance between
        two rows, or σ itself.
    scale : {"standard", "center"} or None, default="standard"
        Preprocessing of the features: z-scores, centring or none.
    must_keep, never : sequence of int or str, default=()
        Features, by position, name or glob (``"MT-*"``), that are always or never selected.
    groups : sequence of labels, mapping of label to features, or None, default=None
        Features that are selected or left out together; a group has the mean score of its features.
    random_state : int, RandomState or None, default=None
        Seed of the k-means that gives the first F; an int makes the selection reproducible.

    Attributes
    ----------
    indicators_ : ndarray of shape (n_samples, n_clusters)
        The F that was found.
    objectives_ : ndarray
        The objective after every round; it never rises.
    n_clusters_ : int
        The number of indicators.
    n_iter_ : int
        Number of rounds.

    Notes
    -----
    A round takes O(n²d) time if d > n, else O(nd²). X is made dense: 8 n d bytes, twice if d > n.

    References
    ----------
    Li, Yang, Liu, Zhou, Lu. Unsupervised Feature Selection Using Nonnegative Spectral Analysis. AAAI 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import NDFS
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> X[:30, [1, 3, 5]] += 6
    >>> sorted(NDFS(3, random_state=0).fit(X).selected_.tolist())
    [1, 3, 5]
    """

    n_clusters: p.OptionalCount = None
    alpha: p.Positive = 1.0
    beta: p.Positive = 10.0
    gamma: p.Positive = 1e8
    max_iter: p.Count = 30
    tol: p.NonNegative = 1e-6
    n_neighbors: p.Count = 5
    bandwidth: p.Bandwidth = "neighbors"
    random_state: p.Seed = None

    def _score(self, table: ScaledTable, task: Task) -> Array:  # noqa: ARG002
        graph = graphs.build_graph(table, self.n_neighbors, self.bandwidth)
        self.n_clusters_ = min(self.n_clusters or graphs.count_clusters(graph), table.shape[0])
        F = first_indicators(graph, self.n_clusters_, check_random_state(self.random_state))
        return self._alternate(table.dense(), graphs.normalised_adjacency(graph), F)

    def _alternate(self, X: Array, adjacency: csr_array, F: Array) -> Array:
        """Improve F and W in turn, and return the lengths of the rows of W."""
        n, d = X.shape
        gram, lengths, objectives = X.T @ X if d <= n else None, np.full(d, np.sqrt(F.shape[1])), list[float]()
        for self.n_iter_ in range(1, self.max_iter + 1):  # noqa: B020
            ridge = WeightedRidge(X, self.beta * bound_weights(lengths), gram)
            F = self._improved(F, ridge, adjacency)
            solution = ridge.solve(F)
            lengths = ridge.lengths(solution)
            fit = np.square(ridge.residual(F, solution)).sum() + self.beta * smooth_lengths(lengths).sum()
            smooth = (F * (F - adjacency @ F)).sum()
            objectives.append(float(smooth + self.alpha * fit) + self._penalty(F))
            if converged(objectives, self.tol):
                break
        self.indicators_, self.objectives_ = F, np.array(objectives)
        return lengths

    def _improved(self, F: Array, ridge: WeightedRidge, adjacency: csr_array) -> Array:
        """Take a multiplicative step in F that does not let ``tr(Fᵀ M F) + γ/2 ‖Fᵀ F − I‖²`` rise."""

        def slope(F: Array) -> Array:
            return np.asarray(F - adjacency @ F + self.alpha * ridge.residual(F, ridge.solve(F)))

        def value(F: Array) -> float:
            return float((F * slope(F)).sum()) + self._penalty(F)

        # The parts of MF with different signs go to different sides, so that F stays non-negative; the ratio is below
        # one where the gradient is positive, and so points downhill.
        rise, before = slope(F), value(F)
        denominator = np.maximum(rise, 0) + self.gamma * F @ (F.T @ F)
        ratio = (self.gamma * F + np.maximum(-rise, 0)) / np.maximum(denominator, np.finfo(float).tiny)
        for halving in range(HALVINGS):
            candidate = F * ratio ** (0.5**halving)
            if value(candidate) <= before:
                return candidate
        return F

    def _penalty(self, F: Array) -> float:
        return self.gamma / 2 * float(np.square(F.T @ F - np.eye(F.shape[1])).sum())


def first_indicators(graph: csr_array, count: int, random: np.random.RandomState) -> Array:
    """Cluster the rows of the spectral embedding by k-means, and return softened indicators with unit columns."""
    spectrum = np.column_stack([graphs.trivial_vector(graph), graphs.smooth_spectrum(graph, count - 1)[1]])
    embedding = spectrum / np.maximum(row_lengths(spectrum), np.finfo(float).tiny)[:, None]
    # Distinct rows can be fewer than the clusters asked for; k-means would warn of empty ones.
    n_distinct = len(np.unique(embedding.round(9), axis=0))
    labels = KMeans(min(count, n_distinct), n_init=10, random_state=random).fit_predict(embedding)
    F = np.eye(count)[labels] + SOFTNESS
    return np.asarray(F / row_lengths(F.T))
