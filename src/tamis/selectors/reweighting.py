r"""What the methods with an ℓ2,1 norm share: its smoothed value, its quadratic bound, and the regression under it.

The norm :math:`\lVert W \rVert_{2,1} = \sum_j \lVert w_j \rVert` of the rows of W has no derivative at zero rows.
It is smoothed as :math:`\sum_j \sqrt{\lVert w_j \rVert^2 + \epsilon}`, for which the quadratic
:math:`\sum_j u_j \lVert w_j \rVert^2` with :math:`u_j = 1 / 2\sqrt{\lVert w_j \rVert^2 + \epsilon}` is, up to a
constant, an upper bound that touches at the W it was made from. Minimising the bound never lets the norm rise.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from tamis.scaling import Array

SMOOTHING = 1e-12
"""The ε, relative to rows of length one."""


def smooth_lengths(lengths: Array) -> Array:
    """Return ``√(length² + ε)``, whose sum is the smoothed norm."""
    return np.sqrt(lengths**2 + SMOOTHING)


def bound_weights(lengths: Array) -> Array:
    """Return the weights u of the quadratic bound."""
    return 0.5 / smooth_lengths(lengths)


def row_lengths(matrix: Array) -> Array:
    """Return the length of every row."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", matrix, matrix)))


def converged(objectives: list[float], tol: float) -> bool:
    """Return whether the last step changed the objective by less than the share ``tol``."""
    if len(objectives) < 2:
        return False
    before, after = objectives[-2:]
    return abs(before - after) <= tol * max(abs(before), np.finfo(float).tiny)


class WeightedRidge:
    """Minimiser W of ``‖XW − T‖² + Σ_j u_j ‖w_j‖²``, by the smaller of a d × d and an n × n system.

    With U = diag(u), ``W = (XᵀX + U)⁻¹ XᵀT``. If d > n, W is not formed: by Woodbury's identity it is ``U⁻¹ Xᵀ A`` with
    ``A = (I + X U⁻¹ Xᵀ)⁻¹ T``, and A is the residual T − XW. The Gram matrix ``XᵀX`` is used if d ≤ n.
    """

    def __init__(self, X: Array, u: Array, gram: Array | None = None):
        n, d = X.shape
        self.X, self.u, self.dual = X, u, d > n
        system = (X / u) @ X.T + np.eye(n) if self.dual else np.diag(u) + (X.T @ X if gram is None else gram)
        try:
            self.factor = cho_factor(system, check_finite=False)
        except LinAlgError:  # u vanishes beside X: as much as the rounding errors makes the system definite.
            rounding = len(system) * np.finfo(float).eps * np.trace(system)
            self.factor = cho_factor(system + rounding * np.eye(len(system)), check_finite=False)

    def solve(self, T: Array) -> Array:
        """Return W or, if d > n, A."""
        return np.asarray(cho_solve(self.factor, T if self.dual else self.X.T @ T, check_finite=False))

    def residual(self, T: Array, solution: Array) -> Array:
        """Return T − XW."""
        return solution if self.dual else T - self.X @ solution

    def lengths(self, solution: Array) -> Array:
        """Return the lengths of the rows of W; in the dual from ``w_jᵀ w_j = x_jᵀ A Aᵀ x_j / u_j²``."""
        if not self.dual:
            return row_lengths(solution)
        squares = np.einsum("ij,ij->j", self.X, (solution @ solution.T) @ self.X)
        return np.asarray(np.sqrt(np.maximum(squares, 0)) / self.u)
