"""The principal directions of structured features that exceed chance: what a selection has to explain."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from tamis.structure.evidence import STRICT_FDR, multimodality_pvalues
from tamis.structure.sample import BLOCK, Indices

Real = TypeVar("Real", np.float32, np.float64)
Array = NDArray[np.float64]

SHUFFLED_TABLES = 2
"""Shuffled tables whose eigenvalues tell what chance reaches."""

MIN_CORRELATION = 0.3
"""How much the features of a direction that others would hide must correlate on average: weak dependence of all on all,
as of neighbours in a chain, is no block."""

MAX_TURNED, MAX_TURNS = 256, 50
"""Eigenvectors of the largest eigenvalues that are turned, and steps of that, at most; most end after ten."""

MIN_LEFT = 0.5
"""Least share of a feature that directions have to leave for another direction to be seen in it."""

POWER = 0.5
"""A direction counts by this power of its variance: by 1, many similar features would decide; by 0, weak directions
would count as much as those that most features show."""

MODAL_GAIN = 8.0
"""How much more a direction with several modes counts where every direction has a feature: it parts rows into groups,
as no factor or trend does."""


@dataclass(frozen=True)
class Directions:
    """Directions ``F = Z[:, features] @ loadings`` of a standardised table Z.

    The variance of column c of F is ``λ_c ** POWER``, relative to their mean. When each has a feature, further features
    are to explain ``gains`` times as much of it.
    """

    features: Indices
    loadings: Array
    gains: Array

    def scores(self, Z: NDArray[Real]) -> NDArray[Real]:
        """Return the directions of the rows of a standardised table, in its precision."""
        return Z[:, self.features] @ self.loadings.astype(Z.dtype, copy=False)


def principal_directions(
    Z: Array, features: Indices, weights: Array, n_copies: Indices, modal: NDArray[np.bool_], rng: np.random.Generator
) -> Directions:
    """Compute the principal directions, above chance, of standardised features Z (n, d) at some positions of a table.

    With weights w and ``Y = Z diag(√w)``, let ``λ_1 ≥ λ_2 ≥ …`` be the eigenvalues and ``v_c`` the eigenvectors of
    ``YᵀY``. Directions count up to the last before one does not exceed that of the same place of Y with every feature
    shuffled by itself (parallel analysis, Horn 1965); the first one always counts. Many similar features raise that
    chance for others, so that those they hide follow (:func:`_hidden`).

    A feature with several modes of which all these leave more than half is a direction, too. Directions with several
    modes themselves, at the level 0.01, have the gain 8, others 1.
    """
    if not len(features):
        return Directions(features, np.empty((0, 0)), np.empty(0))
    (n, d), roots = Z.shape, np.sqrt(weights)
    chance = np.mean([np.linalg.eigvalsh(_gram(Z, roots, rng))[::-1] for _ in range(SHUFFLED_TABLES)], axis=0)
    values, vectors = (part[..., ::-1] for part in np.linalg.eigh(_gram(Z, roots)))
    counts = np.logical_and.accumulate(values > np.maximum(chance, 1e-9 * values[0]))
    counts[0] = True
    values, vectors = values[counts], vectors[:, counts]
    if n < d:
        vectors = roots[:, None] * (Z.T @ vectors) / np.sqrt(values)
    hidden = _hidden(Z, Z @ (roots[:, None] * vectors), 1.0 + n_copies, rng)
    vectors, values = np.hstack([vectors, hidden]), np.r_[values, ((Z @ (roots[:, None] * hidden)) ** 2).sum(axis=0)]
    n_lone = 0
    if modal.any():
        # They count as a feature that its partner explains wholly; by its share none would hold its own beside a block.
        lone = _lone_modes(Z, Z @ (roots[:, None] * vectors), np.flatnonzero(modal))
        n_lone, values = len(lone), np.r_[values, np.full(len(lone), float(n))]
        vectors = np.hstack([vectors, (np.arange(d)[:, None] == lone) / roots[lone]])
    gains = np.where(multimodality_pvalues(Z @ (roots[:, None] * vectors)) <= STRICT_FDR, MODAL_GAIN, 1.0)
    gains[len(gains) - n_lone :] = MODAL_GAIN
    # F = Y V has the column variances λ/n; dividing by √λ and multiplying by λ^(POWER/2) leaves λ^POWER.
    scale = values ** (POWER / 2) / np.sqrt(values * np.mean(values**POWER) / n)
    return Directions(features, roots[:, None] * vectors * scale, gains)


def _gram(Z: Array, roots: Array, rng: np.random.Generator | None = None, taken: Array | None = None) -> Array:
    """Return the smaller one of ``YᵀY`` and ``YYᵀ``, which share their positive eigenvalues, of ``Y = Z diag(√w)``.

    Orthonormal columns ``taken`` may be regressed out first, and the features shuffled, each by itself.
    """
    n, d = Z.shape
    gram, width = np.zeros((min(n, d),) * 2), d if d <= n else BLOCK
    for start in range(0, d, width):
        some = slice(start, start + width)
        Y = Z[:, some] if taken is None else Z[:, some] - taken @ (taken.T @ Z[:, some])
        Y = Y * roots[some]
        Y = Y if rng is None else rng.permuted(Y, axis=0)
        gram += Y.T @ Y if d <= n else Y @ Y.T
    return gram


def _hidden(Z: Array, F: Array, as_one: NDArray[np.floating], rng: np.random.Generator) -> Array:
    """Return unit vectors (d, r) of weaker directions that directions F hide.

    F is regressed out of the features of which it leaves more than half. Near copies count as one: with ``a_j`` their
    number, each is divided by ``√a_j``. Eigenvectors with larger eigenvalues than n, that of a single feature, are
    turned by the varimax rotation (Kaiser, 1958), since those of blocks of similar strength mix them. Of the directions
    ``v_c`` so turned, with the eigenvalues ``λ_c``, those count that exceed the largest eigenvalue of these features,
    shuffled, and whose features are alike: ``(q_c − 1) / (p_c − 1)``, about their mean correlation, is over 0.3, where
    ``q_c = λ_c / n`` is 1 for independent features and ``p_c = 1 / Σ_j a_j v_jc⁴`` is their number. They hide others in
    turn, and are regressed out, too, until there are no new ones.
    """
    d, taken = Z.shape[1], np.linalg.qr(F)[0]
    free = np.flatnonzero(((taken.T @ Z) ** 2).sum(axis=0) < (1 - MIN_LEFT) * len(Z))
    if len(free) < 2:
        return np.empty((d, 0))
    Z, as_one = Z[:, free], as_one[free]
    n, roots = len(Z), 1 / np.sqrt(as_one)
    values, vectors = eigh(_gram(Z, roots, taken=taken), subset_by_value=(n, np.inf))
    values, vectors = values[-MAX_TURNED:], vectors[:, -MAX_TURNED:]
    if n < len(free):
        vectors = roots[:, None] * (Z.T @ vectors) / np.sqrt(values)
    turn = _varimax(vectors)
    values, vectors = values @ turn**2, vectors @ turn
    alike = values / n - 1 > MIN_CORRELATION * (1 / (as_one @ vectors**4) - 1)
    counts = np.zeros(len(values), dtype=bool)
    while (alike & ~counts).any():
        shuffled = _gram(Z, roots, rng, np.linalg.qr(np.hstack([F, Z @ (roots[:, None] * vectors[:, counts])]))[0])
        largest = eigsh(shuffled, 1, return_eigenvectors=False, v0=rng.standard_normal(len(shuffled)))
        new = alike & ~counts & (values > largest)
        if not new.any():
            break
        counts = counts | new
    hidden = np.zeros((d, counts.sum()))
    hidden[free] = vectors[:, counts]
    return hidden


def _varimax(V: Array) -> Array:
    """Return the rotation R of orthonormal columns V under which the squares of ``V R`` vary most in each column."""
    turn, reached = np.eye(V.shape[1]), 0.0
    for _ in range(MAX_TURNS if len(turn) else 0):
        W = V @ turn
        left, sizes, right = np.linalg.svd(V.T @ (W**3 - W * (W**2).mean(axis=0)))
        turn = left @ right
        if sizes.sum() < reached * (1 + 1e-4):
            break
        reached = sizes.sum()
    return turn


def _lone_modes(Z: Array, F: Array, modal: Indices) -> Indices:
    """Return the features with several modes of which directions F, and those before them, leave more than half."""
    Q, lone = np.linalg.qr(F)[0], list[int]()
    for start in range(0, len(modal), BLOCK):
        some = modal[start : start + BLOCK]
        left, own = Z[:, some] - Q @ (Q.T @ Z[:, some]), list[Array]()
        for place, feature in enumerate(some):
            rest = left[:, place]
            if rest @ rest > MIN_LEFT * (Z[:, feature] @ Z[:, feature]):
                lone.append(feature)
                own.append(rest / np.linalg.norm(rest))
                left[:, place + 1 :] -= np.outer(own[-1], own[-1] @ left[:, place + 1 :])
        Q = np.column_stack([Q, *own])
    return np.array(lone, dtype=np.intp)
