"""Greedy choice of the features that explain a goal, and the ridge regression that explains it."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.structure.sample import Indices

RIDGE = 0.01
"""Ridge penalty, as a share of the rows."""

Array = NDArray[np.float64]


def ridge_prediction(known: Array, goal: Array, new: Array) -> Array:
    """Return ``new W``, with ``goal ≈ known W`` fitted by ridge regression."""
    n, k = known.shape
    if k <= n:
        return new @ np.linalg.solve(known.T @ known + RIDGE * n * np.eye(k), known.T @ goal)
    return new @ (known.T @ np.linalg.solve(known @ known.T + RIDGE * n * np.eye(n), goal))


class Pursuit(NamedTuple):
    """What is to be explained, and by what.

    Attributes
    ----------
    Z : ndarray of shape (n, d)
        Standardised features.
    goal : ndarray of shape (n, r)
        What is to be explained.
    candidates, kept : ndarray of int
        Features to choose from, and those that are there already.
    items : ndarray of int, optional
        What each candidate is part of, such as a group; items are chosen as a whole, and returned. The candidates
        themselves by default.
    weights : ndarray or float, default=1
        What the gain of each item is multiplied by.
    gains : ndarray of shape (r,), optional
        How much the columns of the goal count, relative to each other, once as many features are chosen as there are.
    """

    Z: Array
    goal: Array
    candidates: Indices
    kept: Indices
    items: Indices | None = None
    weights: Array | float = 1.0
    gains: Array | None = None

    def steps(self) -> tuple[Indices, Iterator[Array]]:
        """Return the items to choose from, and an iterator over the gains of all, -1 for those that are taken."""
        items = self.candidates if self.items is None else self.items
        names = np.array(list(dict.fromkeys(items.tolist())), dtype=np.intp)
        members = None if len(names) == len(items) else [np.flatnonzero(items == name) for name in names]
        left = _Left(self.Z[:, np.r_[self.kept, self.candidates]], self.goal, len(self.kept))
        return names, _steps(left, np.full(len(names), self.weights), members, self.gains)


def pursue(stated: Pursuit, n_steps: int) -> tuple[Indices, Array]:
    """Select n_steps candidates, or items, greedily, with the share of the goal that each explains."""
    names, steps = stated.steps()
    found = [(gain.argmax(), gain.max()) for gain in islice(steps, n_steps)]
    chosen, shares = np.array(found, dtype=float).reshape(-1, 2).T
    # The smallest positive score marks what was chosen, however little it added.
    return names[chosen.astype(np.intp)], np.maximum(shares / max(float((stated.goal**2).sum()), 1e-300), 1e-12)


def shortlist(stated: Pursuit, n_steps: int, per_step: int) -> Indices:
    """Select the candidates, or items, with the largest gains at each step of a pursuit, ``per_step`` new ones each."""
    names, steps = stated.steps()
    listed = np.zeros(len(names), bool)
    for gain in islice(steps, n_steps):
        listed[np.argsort(np.where(listed, 1.0, -gain), kind="stable")[:per_step]] = True
    return names[listed]


def _steps(left: "_Left", weights: Array, members: list[Indices] | None, gains: Array | None) -> Iterator[Array]:
    """Yield the weighted gain of every item, then take the best one; -1 for those that are taken."""
    taken = np.zeros(len(weights), bool)
    for step in range(len(weights)):
        if gains is not None and step == max(0, len(gains) - left.n_kept):
            left.scale_goal(np.sqrt(gains / gains.max(initial=1.0)))
        gain = left.gains() if members is None else np.array([left.joint_gain(some) for some in members])
        gain = np.where(taken, -1.0, gain * weights)
        yield gain
        best = int(gain.argmax())
        taken[best] = True
        for feature in [best] if members is None else members[best].tolist():
            left.take(left.n_kept + feature)


class _Left:
    """What is left of features and goal when some features, at first those kept, are regressed out.

    Taking x replaces every other feature and the goal by ``y − q qᵀy`` with ``q = x / √(‖x‖² + λ)``. Only the products
    of the features with the goal and their energies are kept up to date.
    """

    def __init__(self, features: Array, goal: Array, n_kept: int):
        self.features, self.goal, self.n_kept = features, goal.copy(), n_kept
        self.penalty, self.directions = RIDGE * len(features), list[Array]()
        self.products, self.energy = features.T @ goal, np.einsum("ij,ij->j", features, features)
        for feature in range(n_kept):
            self.take(feature)

    def scale_goal(self, factors: Array) -> None:
        """Multiply the columns of the goal by factors."""
        self.goal *= factors
        self.products *= factors

    def gains(self) -> Array:
        """Return how much of the goal each candidate explains."""
        gains: Array = (self.products**2).sum(axis=1) / (self.energy + self.penalty)
        return gains[self.n_kept :]

    def joint_gain(self, candidates: Indices) -> float:
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


def _without(x: Array, taken: list[Array]) -> Array:
    """Return a copy of x from which directions are regressed out, one after the other."""
    x = x.copy()
    for q in taken:
        x -= q * (q @ x)
    return x
