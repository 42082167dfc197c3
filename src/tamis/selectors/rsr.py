"""RSR: columns from which all others can be put together (Zhu, Zuo, Zhang, Hu and Shiu, 2015)."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve
from sklearn.utils._param_validation import Interval

from tamis.base import Task
from tamis.scaling import ScaledTable
from tamis.selectors.reweighting import bound_weights, row_lengths, settled, smooth_lengths
from tamis.selectors.scaled import ScaledSelector

Array = NDArray[np.float64]


class RSR(ScaledSelector):
    r"""Rank columns by their weight in the regularised representation of all columns by each other.

    .. math:: \min_W \lVert X - X W \rVert_{2,1} + \lambda \lVert W \rVert_{2,1}

    is solved by reweighting: with :math:`G_L = \operatorname{diag}(1 / 2\lVert \text{row}_i(X - XW) \rVert)` and
    :math:`G_R = \operatorname{diag}(1 / 2\lVert w_j \rVert)`,
    :math:`W \leftarrow (X^\top G_L X + \lambda G_R)^{-1} X^\top G_L X`. The score of a column is the length ‖w_j‖ of
    its row, large is good. Rows of X that fit badly count less than with squared errors.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many columns to select; None selects half of them.
    sparsity : float, default=100.0
        The weight λ of the norm of W.
    max_iter : int, default=30
        Most reweightings.
    tol : float, default=1e-5
        Stop when the objective changes by less than this share.
    scale : {"standard", "center"} or None, default="standard"
        What is done to the columns: z-scores, centring or nothing.
    must_keep, never : sequence of int or str, default=()
        Columns, by position or name, that are always or never selected.

    Attributes
    ----------
    objectives_ : ndarray
        The objective after every reweighting; it never rises.
    n_iter_ : int
        Reweightings done.

    Notes
    -----
    If d > n, W is never formed: ``W = G_R⁻¹ Xᵀ (λ G_L⁻¹ + X G_R⁻¹ Xᵀ)⁻¹ X`` by Woodbury's identity, and the lengths of
    its rows follow from n × n matrices, in O(n²d) time a reweighting. Else O(nd²). X is made dense: 8 n d bytes, and
    once more for each reweighting.

    References
    ----------
    Zhu, Zuo, Zhang, Hu, Shiu. Unsupervised feature selection by regularized self-representation.
    Pattern Recognition 48, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import RSR
    >>> rng = np.random.default_rng(0)
    >>> source = rng.normal(size=(60, 1))
    >>> X = np.hstack([rng.normal(size=(60, 2)), source + 0.5 * rng.normal(size=(60, 4)), source])
    >>> RSR(1).fit(X).selected_.tolist()
    [6]
    """

    _parameter_constraints: ClassVar[dict] = {
        **ScaledSelector._parameter_constraints,
        "sparsity": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        sparsity: float = 100.0,
        max_iter: int = 30,
        tol: float = 1e-5,
        scale: str | None = "standard",
        must_keep: Sequence[int | str] = (),
        never: Sequence[int | str] = (),
    ):
        super().__init__(n_features_to_select, scale=scale, must_keep=must_keep, never=never)
        self.sparsity = sparsity
        self.max_iter = max_iter
        self.tol = tol

    def _score(self, table: ScaledTable, task: Task) -> Array:  # noqa: ARG002
        X = table.dense()
        solver = (DualStep if X.shape[1] > X.shape[0] else PrimalStep)(X, self.sparsity)
        lengths, objectives = self._reweight(solver, *X.shape)
        self.objectives_, self.n_iter_ = np.array(objectives), len(objectives)
        return lengths

    def _reweight(self, solver: "PrimalStep | DualStep", n: int, d: int) -> tuple[Array, list[float]]:
        row_weights, column_weights = np.ones(n), np.ones(d)
        objectives: list[float] = []
        for _ in range(self.max_iter):
            lengths, errors = solver.step(row_weights, column_weights)
            row_weights, column_weights = bound_weights(errors), bound_weights(lengths)
            objectives.append(float(smooth_lengths(errors).sum() + self.sparsity * smooth_lengths(lengths).sum()))
            if settled(objectives, self.tol):
                break
        return lengths, objectives


class Step(NamedTuple):
    """Lengths of the rows of W, and of the rows of X − XW."""

    lengths: Array
    errors: Array


class PrimalStep:
    """``W = (Xᵀ G_L X + λ G_R)⁻¹ Xᵀ G_L X`` with d × d matrices."""

    def __init__(self, X: Array, sparsity: float):
        self.X, self.sparsity = X, sparsity

    def step(self, row_weights: Array, column_weights: Array) -> Step:
        """Solve for W with the weights of the rows of X (G_L) and of W (G_R)."""
        gram = (self.X * row_weights[:, None]).T @ self.X
        W = solve(gram + np.diag(self.sparsity * column_weights), gram, assume_a="pos", check_finite=False)
        return Step(row_lengths(W), row_lengths(self.X - self.X @ W))


class DualStep:
    """The same W by n × n matrices: ``W = G_R⁻¹ Xᵀ B X`` with ``B = (λ G_L⁻¹ + X G_R⁻¹ Xᵀ)⁻¹``.

    Then ``X − XW = λ G_L⁻¹ B X``, and with ``K = X Xᵀ`` the squared lengths are the diagonals of
    ``G_R⁻² Xᵀ B K B X`` and ``λ² G_L⁻² B K B``.
    """

    def __init__(self, X: Array, sparsity: float):
        self.X, self.sparsity = X, sparsity
        self.gram = X @ X.T

    def step(self, row_weights: Array, column_weights: Array) -> Step:
        """Solve for W with the weights of the rows of X (G_L) and of W (G_R)."""
        core = (self.X / column_weights) @ self.X.T + np.diag(self.sparsity / row_weights)
        inverse = solve(core, np.eye(len(core)), assume_a="pos", check_finite=False)
        middle = inverse @ self.gram @ inverse
        squares = np.einsum("ij,ij->j", self.X, middle @ self.X)
        lengths = np.sqrt(np.maximum(squares, 0)) / column_weights
        errors = self.sparsity / row_weights * np.sqrt(np.maximum(np.diagonal(middle), 0))
        return Step(lengths, errors)
