"""Greedy choice of the features that explain a goal, and the ridge regression that explains it."""

import numpy as np
from numpy.typing import NDArray

RIDGE = 0.01
"""Ridge penalty, as a share of the rows."""

Array = NDArray[np.float64]


def ridge_prediction(known: Array, goal: Array, new: Array) -> Array:
    """Return ``new W``, with ``goal ≈ known W`` fitted by ridge regression."""
    n, k = known.shape
    if k <= n:
        return new @ np.linalg.solve(known.T @ known + RIDGE * n * np.eye(k), known.T @ goal)
    return new @ (known.T @ np.linalg.solve(known @ known.T + RIDGE * n * np.eye(n), goal))


def pursue(
    Z: Array, goal: Array, candidates: NDArray[np.intp], kept: NDArray[np.intp], n_steps: int
) -> tuple[NDArray[np.intp], Array]:
    """Select n_steps candidates greedily, after those kept, with the share of the goal (n, r) that each explains.

    Each step regresses the feature x that it takes out of the goal and of all features, by ``x ← x − q qᵀx`` with
    ``q = x / √(‖x‖² + λ)``. Only the products of the features with the goal and their energies are kept up to date.
    """
    features, left, penalty = Z[:, np.r_[kept, candidates]], goal.copy(), RIDGE * len(Z)
    products, energy = features.T @ goal, np.einsum("ij,ij->j", features, features)
    positions, gains, taken = [], [], list[Array]()
    free = np.r_[np.zeros(len(kept), bool), np.ones(len(candidates), bool)]
    for step in range(len(kept) + min(n_steps, len(candidates))):
        gain = (products**2).sum(axis=1) / (energy + penalty)
        best = step if step < len(kept) else int(np.where(free, gain, -1.0).argmax())
        free[best] = False
        positions.append(best)
        gains.append(gain[best])
        q = _without(features[:, best], taken)
        q /= np.sqrt(q @ q + penalty)
        along, rest = features.T @ _without(q, taken[::-1]), 2 - q @ q
        products -= rest * np.outer(along, q @ left)
        energy = np.maximum(energy - rest * along**2, 0.0)
        left -= np.outer(q, q @ left)
        taken.append(q)
    chosen = np.array(positions[len(kept) :], dtype=np.intp) - len(kept)
    # The smallest positive score marks what was chosen, however little it added.
    return candidates[chosen], np.maximum(np.array(gains[len(kept) :]) / max(float((goal**2).sum()), 1e-300), 1e-12)


def _without(x: Array, taken: list[Array]) -> Array:
    """Return a copy of x from which directions are regressed out, one after the other."""
    x = x.copy()
    for q in taken:
        x -= q * (q @ x)
    return x
