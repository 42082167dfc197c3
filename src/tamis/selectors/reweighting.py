r"""What the methods with an ℓ2,1 norm share: its smoothed value and the weights of its quadratic bound.

The norm :math:`\lVert W \rVert_{2,1} = \sum_j \lVert w_j \rVert` of the rows of W has no derivative at zero rows.
It is smoothed as :math:`\sum_j \sqrt{\lVert w_j \rVert^2 + \epsilon}`, for which the quadratic
:math:`\sum_j u_j \lVert w_j \rVert^2` with :math:`u_j = 1 / 2\sqrt{\lVert w_j \rVert^2 + \epsilon}` is, up to a
constant, an upper bound that touches at the W it was made from. Minimising the bound never lets the norm rise.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SMOOTHING = 1e-12
"""The ε, relative to rows of length one."""


def smooth_lengths(lengths: Array) -> Array:
    """Give ``√(length² + ε)``, whose sum is the smoothed norm."""
    return np.sqrt(lengths**2 + SMOOTHING)


def bound_weights(lengths: Array) -> Array:
    """Give the weights u of the quadratic bound."""
    return 0.5 / smooth_lengths(lengths)


def row_lengths(matrix: Array) -> Array:
    """Give the length of every row."""
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix))


def settled(objectives: list[float], tol: float) -> bool:
    """Tell whether the last step changed the objective by less than the share ``tol``."""
    if len(objectives) < 2:
        return False
    before, after = objectives[-2:]
    return abs(before - after) <= tol * max(abs(before), np.finfo(float).tiny)
