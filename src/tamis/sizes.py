"""How many features to select: as many as explain the structure of a table on rows held out."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.features import label_numbers
from tamis.structure.directions import principal_directions
from tamis.structure.evidence import STRICT_FDR
from tamis.structure.find import Counting, Structure, examine
from tamis.structure.pursuit import Array, Pursuit, pursue, ridge_prediction
from tamis.structure.sample import Indices, dense_features, sample_rows, standardised

N_FOLDS = 5
NO_FEATURES: Indices = np.empty(0, np.intp)
MAX_K = 300
"""Largest number of features that is considered."""

MIN_GAIN = 0.25
"""Part of a direction that a feature must explain to be worth its place."""


class NoStructureError(ValueError):
    """No feature of the table depends on another above chance, so that no number of features can be suggested."""


@dataclass(frozen=True)
class KCurve:
    """How many directions of the structure the best k features explain on rows held out, for every k.

    Attributes
    ----------
    explained, errors : ndarray of shape (max_k,)
        Mean over folds of ``Σ_c R²_c`` over directions c, for k = 1, 2, ..., and its standard error.
    n_directions : int
        Number of directions, the most that can be explained.
    k : int
        The suggestion.
    """

    explained: Array
    errors: Array
    n_directions: int
    k: int


def choose_k(X: Any, *, groups: ArrayLike | None = None, must_keep: ArrayLike = (), random_state: Any = 0) -> KCurve:
    """Compute how many features to select.

    The directions of the structured features, each counted alike, and the pursuit of the features that explain them,
    are found on part of the rows; how much a ridge regression on the first k explains is taken on the rows held out.
    The smallest k is suggested after which no further feature adds :data:`MIN_GAIN` of a direction, or a standard
    error if that is more: a second feature of the same structure adds less, by averaging noise.

    Parameters
    ----------
    X : array, DataFrame, sparse matrix or source of shape (n_samples, n_features)
        Numbers.
    groups : array of shape (n_features,), optional
        The group of each feature, if groups are selected; k counts groups then.
    must_keep : array of int, default=()
        Features, by position, or groups, in the order of their labels, that are selected anyway; k counts them, and the
        curve begins after them.
    random_state : int, default=0
        Draws the rows that are examined, and deals them to folds.

    Returns
    -------
    KCurve
        The suggestion, and the curve behind it.
    """
    rng = np.random.default_rng(random_state)
    sample, rows = sample_rows(X, rng, 2**24)
    owner = None if groups is None else label_numbers(groups, sample.shape[1], "groups", "features")
    structure = examine(sample, [np.arange(len(rows))], STRICT_FDR, rng, np.empty(0, object), owner)
    if not structure.n_structured:
        raise NoStructureError(
            "Apart from near copies of each other, no feature of X depends on another more than by chance, so that no "
            "number of features can be suggested. Check that the right features and enough rows were read, or name "
            "the number."
        )
    return k_curve(sample, structure, rng, owner, np.unique(np.asarray(must_keep, dtype=np.intp)))


def k_curve(
    sample: Any,
    structure: Structure,
    rng: np.random.Generator,
    owner: NDArray[np.intp] | None = None,
    kept: Indices = NO_FEATURES,
) -> KCurve:
    """Compute what every k explains on rows held out, beside features or groups that are kept, and the suggestion."""
    features = np.flatnonzero(structure.structured)
    items = features if owner is None else owner[features]
    counting, r = structure.counting(features), structure.n_directions
    Z = standardised(dense_features(sample, features), [np.arange(sample.shape[0])])
    max_k = min(len(np.setdiff1d(items, kept)), MAX_K, 3 * r + 5)
    fold = rng.permutation(len(Z)) % N_FOLDS
    parts = [_explained(Z[fold != f], Z[fold == f], counting, r, max_k, items, kept) for f in range(N_FOLDS)]
    mean, error = np.mean(parts, axis=0), np.std(parts, axis=0, ddof=1) / np.sqrt(N_FOLDS)
    worth = np.flatnonzero(np.diff(mean) >= np.maximum(MIN_GAIN, error[1:]))
    return KCurve(mean[1:], error[1:], r, max(1, len(kept) + int(worth.max(initial=-1)) + 1))


def _explained(
    known: Array, held: Array, counting: Counting, n_directions: int, max_k: int, items: Indices, kept: Indices
) -> Array:
    """Return how many directions the first k items of a pursuit explain on other rows, for every k from 0."""
    everyone, given = np.arange(known.shape[1]), np.isin(items, kept)
    found = principal_directions(known, everyone, *counting, np.random.default_rng(0))
    goal, unseen = found.scores(known)[:, :n_directions], found.scores(held)[:, :n_directions]
    goal, unseen = goal / goal.std(axis=0), unseen / goal.std(axis=0)
    order, _ = pursue(Pursuit(known, goal, everyone[~given], everyone[given], items[~given]), max_k)
    explained = np.zeros(max_k + 1)
    for k in range(max_k + 1):
        some = np.flatnonzero(given | np.isin(items, order[:k]))
        left = unseen - ridge_prediction(known[:, some], goal, held[:, some]) if len(some) else unseen
        explained[k] = np.maximum(1 - (left**2).sum(axis=0) / (unseen**2).sum(axis=0), 0).sum()
    return explained
