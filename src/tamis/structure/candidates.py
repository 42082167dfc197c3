"""What a selection is made of: the features that carry structure, the next by evidence where these are too few."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.reprs import counted
from tamis.structure.dependence import PRODUCTS, dependence
from tamis.structure.directions import Directions, principal_directions
from tamis.structure.evidence import STRICT_FDR, discoveries
from tamis.structure.find import Structure
from tamis.structure.pursuit import Pursuit
from tamis.structure.sample import dense_features, rank_basis, sample_rows, standardised

COPY_CELLS = 2**19
"""Stored cells by which near copies among candidates are told."""


class FillerWarning(UserWarning):
    """Fewer features carry structure than were asked for, and the selection was filled up."""


def choose_candidates(
    structure: Structure, allowed: NDArray[np.intp], n_free: int, owner: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """Return the features to choose from, the strongest first.

    They are those that pass :data:`STRICT_FDR`, or the level of the test if that is stricter, with the strongest others
    that make up ``n_free``.

    Parameters
    ----------
    structure : Structure
        What is known of the features.
    allowed : ndarray of int
        Features that may be chosen, or groups.
    n_free : int
        Number of features or groups to choose.
    owner : ndarray of int, optional
        The group of each feature, if groups are chosen.
    """
    order, strict = structure.order, discoveries(structure.pvalues, min(STRICT_FDR, structure.fdr), owner)
    items = order if owner is None else owner[order]
    # The features of a group have the same evidence; its first one stands for it.
    first = np.sort(np.unique(items, return_index=True)[1])
    first = first[np.isin(items[first], allowed)]
    wanted = strict[order[first]]
    # With all features kept, one candidate is left, so that a table without structure has a goal.
    wanted[: max(1, n_free)] = True
    return items[first[wanted]]


def leave_out_copies(
    X: Any, structure: Structure, candidates: NDArray[np.intp], kept: NDArray[np.intp], n_free: int, seed: int
) -> NDArray[np.intp]:
    """Return candidates without near copies of kept features or of stronger candidates, as long as n_free are left.

    A copy adds nothing, but agrees with what it is a copy of, which a graph rewards.
    """
    evidence = np.argsort(structure.order)
    evidence[kept] = -1
    every = np.unique(np.r_[kept, candidates])
    if len(candidates) <= n_free:
        return candidates
    sample, rows = sample_rows(X, np.random.default_rng(seed), COPY_CELLS)
    values = dense_features(sample, every)
    # The test counts no copies of features that few rows carry, but these may be identical.
    _, number, times = np.unique([column.tobytes() for column in values.T], return_inverse=True, return_counts=True)
    suspected = (structure.n_copies[every] > 0) | (times[number] > 1)
    suspects, number = every[suspected], number[suspected]
    basis, stays = rank_basis(values[:, suspected], [np.arange(len(rows))]), np.isin(suspects, kept)
    copies = np.isposinf(dependence(basis, slice(None), slice(None), PRODUCTS[:1])) | (number[:, None] == number)
    by_evidence = np.argsort(evidence[suspects], kind="stable")
    for place in by_evidence[stays.sum() :]:
        stays[place] = not (copies[place] & stays).any()
    left_out = suspects[by_evidence[~stays[by_evidence]]]
    n_missing = max(0, n_free - len(candidates) + len(left_out))
    return candidates[~np.isin(candidates, left_out[n_missing:])]


def directions_of(X: Any, structure: Structure, features: NDArray[np.intp]) -> Directions:
    """Return the directions of features of a table in which none carries structure."""
    rng, features = np.random.default_rng(0), np.sort(features)
    sample, rows = sample_rows(X, rng)
    Z = standardised(dense_features(sample, features), [np.arange(len(rows))])
    return principal_directions(Z, features, *structure.counting(features), rng)


def pursuit_of(
    X: Any,
    directions: Directions,
    candidates: NDArray[np.intp],
    kept: NDArray[np.intp],
    owner: NDArray[np.intp] | None,
    seed: int,
) -> Pursuit:
    """Return the pursuit that explains directions of a table by candidates.

    Candidates and kept ones are features, or groups where ``owner`` has the group of each feature.
    """
    if owner is not None:
        kept, candidates = (np.flatnonzero(np.isin(owner, items)) for items in (kept, candidates))
    sample, rows = sample_rows(X, np.random.default_rng(seed))
    features = np.unique(np.r_[directions.features, candidates, kept])
    Z = standardised(dense_features(sample, features), [np.arange(len(rows))])
    goal = replace(directions, features=np.searchsorted(features, directions.features)).scores(Z)
    kept, free = (np.searchsorted(features, np.sort(some)) for some in (kept, candidates))
    kept, free = (some[Z[:, some].any(axis=0)] for some in (kept, free))
    items = features[free] if owner is None else owner[features[free]]
    return Pursuit(Z, goal, free, kept, items, gains=directions.gains)


def rank_rest(scores: NDArray[np.float64], structure: Structure, owner: NDArray[np.intp] | None) -> NDArray[np.float64]:
    """Return scores in which features or groups without one are ranked by their evidence, below the others."""
    items = structure.order if owner is None else owner[structure.order]
    rest = np.empty(len(scores))
    # The last of several assignments counts: that of a group's strongest feature.
    rest[items[::-1]] = -np.arange(len(items), 0, -1) / len(items)
    return np.where(scores > 0, scores, rest)


def filler_message(n_filler: int, n_chosen: int, n_structured: int) -> str:
    """Return the sentence that tells of filler, and what to do."""
    if not n_structured:
        return (
            "No feature that may be selected carries structure above chance, so that all of this selection is filler. "
            "Check that the right features and enough rows were read."
        )
    known = counted(n_structured, "feature")
    return (
        f"Of what may be selected, {known} {'has' if n_structured == 1 else 'have'} structure above chance; filler "
        f"takes {n_filler} of the {n_chosen} places (see filler_). Select at most {known}, or collect more rows."
    )
