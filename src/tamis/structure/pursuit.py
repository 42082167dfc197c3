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
    Z: Array,
    goal: Array,
    candidates: NDArray[np.intp],
    kept: NDArray[np.intp],
    n_steps: int,
    items: NDArray[np.intp] | None = None,
) -> tuple[NDArray[np.intp], Array]:
    """Select n_steps candidates greedily, after those kept, with the share of the goal (n, r) that each explains.

    Each step regresses the feature x that it takes out of the goal and of all features, by ``x ← x − q qᵀx`` with
    ``q = x / √(‖x‖² + λ)``. Only the products of the features with the goal and their energies are kept up to date.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Standardised features.
    goal : ndarray of shape (n, r)
        What is to be explained.
    candidates, kept : ndarray of int
        Features to choose from, and those that are there already.
    n_steps : int
        Number of features, or items, to choose.
    items : ndarray of int, optional
        What each candidate is part of, such as a group; items are chosen as a whole, and returned. The candidates
        themselves by default.
    """
    items = candidates if items is None else items
    left = _Left(Z[:, np.r_[kept, candidates]], goal, len(kept))
    for feature in range(len(kept)):
        left.take(feature)
    free, total = dict.fromkeys(items.tolist()), max(float((goal**2).sum()), 1e-300)
    single, chosen, gains = len(free) == len(items), [], []
    members = {} if single else {item: np.flatnonzero(items == item) for item in free}
    for _ in range(min(n_steps, len(free))):
        gain = left.gains()
        if not single:
            gain = np.array([left.joint_gain(members[item]) if item in free else -1.0 for item in members])
        best = int(gain.argmax())
        item = int(items[best]) if single else list(members)[best]
        for feature in [best] if single else members[item].tolist():
            left.take(len(kept) + feature)
        del free[item]
        chosen.append(item)
        gains.append(gain[best])
    # The smallest positive score marks what was chosen, however little it added.
    return np.array(chosen, dtype=np.intp), np.maximum(np.array(gains) / total, 1e-12)


class _Left:
    """What is left of features and goal when some features are regressed out."""

    def __init__(self, features: Array, goal: Array, n_kept: int):
        self.features, self.goal, self.n_kept = features, goal.copy(), n_kept
        self.penalty, self.directions = RIDGE * len(features), list[Array]()
        self.products, self.energy = features.T @ goal, np.einsum("ij,ij->j", features, features)
        self.taken = np.zeros(features.shape[1], bool)

    def gains(self) -> Array:
        """Return how much of the goal each candidate explains, -1 for those that are taken."""
        gain = (self.products**2).sum(axis=1) / (self.energy + self.penalty)
        return np.where(self.taken, -1.0, gain)[self.n_kept :]

    def joint_gain(self, candidates: NDArray[np.intp]) -> float:
        """Return how much of the goal candidates explain together, ``tr Pᵀ (CᵀC + λI)⁻¹ P`` with ``P = CᵀF``."""
        C = np.stack([_without(self.features[:, self.n_kept + c], self.directions) for c in candidates], axis=1)
        P = C.T @ self.goal
        return float((P * np.linalg.solve(C.T @ C + self.penalty * np.eye(len(P)), P)).sum())

    def take(self, feature: int) -> None:
        """Regress a feature out of the goal and of all features."""
        q = _without(self.features[:, feature], self.directions)
        q /= np.sqrt(q @ q + self.penalty)
        along, rest = self.features.T @ _without(q, self.directions[::-1]), 2 - q @ q
        self.products -= rest * np.outer(along, q @ self.goal)
        self.energy = np.maximum(self.energy - rest * along**2, 0.0)
        self.goal -= np.outer(q, q @ self.goal)
        self.directions.append(q)
        self.taken[feature] = True


def _without(x: Array, taken: list[Array]) -> Array:
    """Return a copy of x from which directions are regressed out, one after the other."""
    x = x.copy()
    for q in taken:
        x -= q * (q @ x)
    return x
