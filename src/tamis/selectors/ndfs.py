"""NDFS: columns that predict non-negative cluster indicators (Li, Yang, Liu, Zhou and Lu, 2012)."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from tamis.base import Task
from tamis.graph import count_clusters, normalised_adjacency, smooth_spectrum, trivial_vector
from tamis.scaling import ScaledTable
from tamis.selectors.reweighting import bound_weights, row_lengths, settled, smooth_lengths
from tamis.selectors.scaled import GraphSelector

Array = NDArray[np.float64]

SOFTNESS = 0.2
"""Added to the first indicators: a zero would stay zero under multiplicative steps."""

HALVINGS = 40
"""Most times that a step is halved before F is left as it is."""


class NDFS(GraphSelector):
    r"""Rank columns by their weight in the regression of cluster indicators that are learnt with it.

    .. math:: \min_{F \ge 0, W} \operatorname{tr}(F^\top \hat L F)
              + \alpha \bigl(\lVert X W - F \rVert^2 + \beta \lVert W \rVert_{2,1}\bigr)
              + \tfrac{\gamma}{2} \lVert F^\top F - I \rVert^2

    with the normalised Laplacian :math:`\hat L` and a large γ. With U = diag(1/2‖w_j‖) of the W before, a round is

    .. math:: M = \hat L + \alpha \bigl(I - X (X^\top X + \beta U)^{-1} X^\top\bigr), \quad
              F \leftarrow F \circ \Bigl(\frac{\gamma F + [MF]_-}{[MF]_+ + \gamma F F^\top F}\Bigr)^{s}, \quad
              W = (X^\top X + \beta U)^{-1} X^\top F

    with s = 1, halved until the objective does not rise. The score of a column is the length ‖w_j‖ of its row, large
    is good.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many columns to select; None selects half of them.
    n_clusters : int or None, default=None
        The number of indicators; None takes the largest gap among the first 21 eigenvalues of the graph's Laplacian.
    alpha : float, default=1.0
        Weight α of the regression against the smoothness of F.
    beta : float, default=10.0
        Weight β of the norm of W.
    gamma : float, default=1e8
        Weight γ of the orthogonality of F.
    max_iter : int, default=30
        Most rounds.
    tol : float, default=1e-6
        Stop when the objective changes by less than this share.
    n_neighbors : int, default=5
        Neighbours of every row in the graph; fewer if there are not so many other rows.
    bandwidth : {"neighbors", "pairwise"} or float, default="neighbors"
        The σ of the weights ``exp(−distance²/2σ²)``: the mean distance to the neighbours, the mean distance between
        two rows, or σ itself.
    scale : {"standard", "center"} or None, default="standard"
        What is done to the columns: z-scores, centring or nothing.
    must_keep, never : sequence of int or str, default=()
        Columns, by position or name, that are always or never selected.
    random_state : int, RandomState or None, default=None
        Seed of the k-means that gives the first F; an int gives the same columns every time.

    Attributes
    ----------
    indicators_ : ndarray of shape (n_samples, n_clusters_)
        The F that was found.
    objectives_ : ndarray
        The objective after every round; it never rises.
    n_clusters_ : int
        The number of indicators.
    n_iter_ : int
        Rounds done.

    Notes
    -----
    If d > n, ``I − X (XᵀX + βU)⁻¹ Xᵀ = β (βI + X U⁻¹ Xᵀ)⁻¹`` by Woodbury's identity, in O(n²d) time a round. Else
    O(nd²). X is made dense: 8 n d bytes, twice if d > n.

    References
    ----------
    Li, Yang, Liu, Zhou, Lu. Unsupervised Feature Selection Using Nonnegative Spectral Analysis. AAAI 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import NDFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> X[:30, [1, 3, 5]] += 6
    >>> sorted(NDFS(3, random_state=0).fit(X).selected_.tolist())
    [1, 3, 5]
    """

    _parameter_constraints: ClassVar[dict] = {
        **GraphSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        n_clusters: int | None = None,
        alpha: float = 1.0,
        beta: float = 10.0,
        gamma: float = 1e8,
        max_iter: int = 30,
        tol: float = 1e-6,
        n_neighbors: int = 5,
        bandwidth: str | float = "neighbors",
        scale: str | None = "standard",
        must_keep: Sequence[int | str] = (),
        never: Sequence[int | str] = (),
        random_state: Any = None,
    ):
        super().__init__(
            n_features_to_select,
            n_neighbors=n_neighbors,
            bandwidth=bandwidth,
            scale=scale,
            must_keep=must_keep,
            never=never,
        )
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _score(self, table: ScaledTable, task: Task) -> Array:  # noqa: ARG002
        graph, X = self._graph(table), table.dense()
        self.n_clusters_ = min(self.n_clusters or count_clusters(graph), len(X))
        F = first_indicators(graph, self.n_clusters_, check_random_state(self.random_state))
        regression = (DualRegression if X.shape[1] > X.shape[0] else PrimalRegression)(X, self.beta)
        W = self._alternate(regression, normalised_adjacency(graph), F)
        return row_lengths(W)

    def _alternate(self, regression: "PrimalRegression | DualRegression", adjacency: csr_array, F: Array) -> Array:
        weights = bound_weights(np.full(regression.X.shape[1], np.sqrt(F.shape[1])))
        objectives: list[float] = []
        for self.n_iter_ in range(1, self.max_iter + 1):  # noqa: B020
            regression.prepare(weights)
            F = self._improved(F, regression, adjacency)
            W = regression.weights(F)
            weights = bound_weights(row_lengths(W))
            objectives.append(self._objective(F, W, regression.X, adjacency))
            if settled(objectives, self.tol):
                break
        self.indicators_, self.objectives_ = F, np.array(objectives)
        return W

    def _improved(self, F: Array, regression: "PrimalRegression | DualRegression", adjacency: csr_array) -> Array:
        """Take a multiplicative step in F that does not let ``tr(Fᵀ M F) + γ/2 ‖Fᵀ F − I‖²`` rise."""

        def slope(indicators: Array) -> Array:
            return indicators - adjacency @ indicators + self.alpha * regression.misfit(indicators)

        def value(indicators: Array) -> float:
            return float((indicators * slope(indicators)).sum()) + self._penalty(indicators)

        ratio, before, power = step_ratio(F, slope(F), self.gamma), value(F), 1.0
        for _ in range(HALVINGS):
            candidate = F * ratio**power
            if value(candidate) <= before:
                return candidate
            power /= 2
        return F

    def _penalty(self, F: Array) -> float:
        return self.gamma / 2 * float(np.square(F.T @ F - np.eye(F.shape[1])).sum())

    def _objective(self, F: Array, W: Array, X: Array, adjacency: csr_array) -> float:
        smooth = float((F * (F - adjacency @ F)).sum())
        fit = float(np.square(X @ W - F).sum()) + self.beta * float(smooth_lengths(row_lengths(W)).sum())
        return smooth + self.alpha * fit + self._penalty(F)


def first_indicators(graph: csr_array, count: int, random: np.random.RandomState) -> Array:
    """Cluster the rows of the spectral embedding by k-means, and give softened indicators with unit columns."""
    spectrum = np.column_stack([trivial_vector(graph), smooth_spectrum(graph, count - 1).vectors])
    embedding = spectrum / np.maximum(row_lengths(spectrum), np.finfo(float).tiny)[:, None]
    # Equal rows can be fewer than the clusters asked for; k-means would warn of empty ones.
    count_found = min(count, len(np.unique(embedding.round(9), axis=0)))
    labels = KMeans(count_found, n_init=10, random_state=random).fit_predict(embedding)
    F = np.eye(count)[labels] + SOFTNESS
    return F / row_lengths(F.T)


def step_ratio(F: Array, slope: Array, gamma: float) -> Array:
    """Give ``(γF + [MF]₋) / ([MF]₊ + γ F Fᵀ F)``, the multiplicative step in F.

    The parts of MF with different signs go to different sides, so that F stays non-negative; below one where the
    gradient is positive, it points downhill.
    """
    numerator = gamma * F + np.maximum(-slope, 0)
    denominator = np.maximum(slope, 0) + gamma * F @ (F.T @ F)
    return numerator / np.maximum(denominator, np.finfo(float).tiny)


class PrimalRegression:
    """Ridge regression on the columns, ``W = (XᵀX + βU)⁻¹ Xᵀ F``, with a d × d matrix."""

    def __init__(self, X: Array, beta: float):
        self.X, self.beta = X, beta
        self.gram = X.T @ X

    def prepare(self, weights: Array) -> None:
        """Factorise for the diagonal of U."""
        self.factor = cho_factor(self.gram + np.diag(self.beta * weights), overwrite_a=True, check_finite=False)

    def weights(self, F: Array) -> Array:
        """Give W."""
        return cho_solve(self.factor, self.X.T @ F, check_finite=False)

    def misfit(self, F: Array) -> Array:
        """Give ``(I − X (XᵀX + βU)⁻¹ Xᵀ) F``."""
        return F - self.X @ self.weights(F)


class DualRegression:
    """The same by an n × n matrix: ``W = U⁻¹ Xᵀ (βI + X U⁻¹ Xᵀ)⁻¹ F``."""

    def __init__(self, X: Array, beta: float):
        self.X, self.beta = X, beta

    def prepare(self, weights: Array) -> None:
        """Factorise for the diagonal of U."""
        self.inverse = 1 / weights
        core = (self.X * self.inverse) @ self.X.T + self.beta * np.eye(len(self.X))
        self.factor = cho_factor(core, overwrite_a=True, check_finite=False)

    def weights(self, F: Array) -> Array:
        """Give W."""
        return self.inverse[:, None] * (self.X.T @ cho_solve(self.factor, F, check_finite=False))

    def misfit(self, F: Array) -> Array:
        """Give ``β (βI + X U⁻¹ Xᵀ)⁻¹ F``."""
        return self.beta * cho_solve(self.factor, F, check_finite=False)
