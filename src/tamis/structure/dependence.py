"""How strongly each feature depends on another one, on a scale common to all kinds of features."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.structure.bases import RankBasis

NEAR_COPY = 0.97
"""Features whose rank correlation reaches this are near copies; they are no evidence for each other."""

TILE = 512
"""Features on each side of a tile, small enough for a processor's cache."""


class Strongest(NamedTuple):
    """For each feature, its strongest dependence on another one.

    Attributes
    ----------
    strength : ndarray of float
        The dependence, ``-inf`` if there is no other feature.
    partner : ndarray of int
        The feature it depends on most, -1 if there is none.
    n_copies : ndarray of int
        Number of near copies that were left out.
    """

    strength: NDArray[np.float32]
    partner: NDArray[np.intp]
    n_copies: NDArray[np.intp]

    @classmethod
    def empty(cls, n_features: int) -> "Strongest":
        """Return a record of features that were compared with nothing yet."""
        return cls(np.full(n_features, -np.inf, np.float32), np.full(n_features, -1), np.zeros(n_features, np.intp))


def strongest_dependence(basis: RankBasis) -> Strongest:
    """Compute the strongest dependence of each feature on any other; every pair is compared once."""
    found, tiles = Strongest.empty(basis.n_features), list(_tiles(basis.n_features))
    for number, first in enumerate(tiles):
        for second in tiles[number:]:
            z = dependence(basis.take(first), basis.take(second))
            if first == second:
                np.fill_diagonal(z, np.nan)
            _keep_largest(found, first, z, second.start)
            if first != second:
                _keep_largest(found, second, z.T, first.start)
    return found


def strongest_among(
    basis: RankBasis, numbers: NDArray[np.intp], others: RankBasis, other_numbers: NDArray[np.intp]
) -> Strongest:
    """Compute the strongest dependence of some features on others, a feature with the same number excepted."""
    found = Strongest.empty(basis.n_features)
    for rows in _tiles(basis.n_features):
        for columns in _tiles(others.n_features):
            z = dependence(basis.take(rows), others.take(columns))
            z[numbers[rows, None] == other_numbers[None, columns]] = np.nan
            _keep_largest(found, rows, z, columns.start)
    known = found.partner >= 0
    found.partner[known] = other_numbers[found.partner[known]]
    return found


def dependence(first: RankBasis, second: RankBasis) -> NDArray[np.float32]:
    """Compute the dependence of all pairs of features, as about a standard normal value under independence.

    With ``r_ab`` the correlation of polynomial a of one feature and b of the other, the statistics are ``n r_11²``
    (trend), ``n r_22²`` (both ends against the middle) and ``n Σ_ab r_ab²``. Each is chi-squared with as many degrees
    of freedom as it has terms, which Wilson and Hilferty's cube root brings to one scale; the largest counts. Near
    copies have ``inf``: they are no evidence for each other.
    """
    n = first.n_rows
    total = np.zeros((first.n_features, second.n_features), np.float32)
    single = total
    for a, left in enumerate(first.values):
        for b, right in enumerate(second.values):
            squares = left @ right.T
            if a == b == 0:
                copies = np.abs(squares) >= NEAR_COPY * n
            np.square(squares, out=squares)
            total += squares
            if a == b < 2:
                single = np.maximum(single, squares)
    freedom = np.multiply.outer(first.present.sum(axis=0), second.present.sum(axis=0)).astype(np.float32)
    z = np.maximum(_normal(single, 1.0, n), _normal(total, np.maximum(freedom, 1.0), n))
    z[copies] = np.inf
    return z


def _normal(squares: NDArray[np.float32], freedom: NDArray[np.float32] | float, n: int) -> NDArray[np.float32]:
    """Return ``squares / n``, chi-squared, on a standard normal scale (Wilson and Hilferty, 1931)."""
    spread = 2 / (9 * freedom)
    return (np.cbrt(squares / (n * freedom)) - (1 - spread)) / np.sqrt(spread)


def _tiles(length: int) -> Iterator[slice]:
    for start in range(0, length, TILE):
        yield slice(start, min(start + TILE, length))


def _keep_largest(found: Strongest, features: slice, z: NDArray[np.float32], offset: int) -> None:
    """Update the record of some features by a tile of dependences; NaN marks a feature itself, inf a near copy."""
    copies = z == np.inf
    found.n_copies[features] += copies.sum(axis=1)
    z = np.where(copies | np.isnan(z), -np.inf, z)
    best = z.argmax(axis=1)
    value = z[np.arange(len(z)), best]
    better = value > found.strength[features]
    found.strength[features][better] = value[better]
    found.partner[features][better] = best[better] + offset
