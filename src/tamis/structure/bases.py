"""Features as orthonormal polynomials of their ranks: what dependence is measured on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

POLYNOMIALS = (1, 2, 4)
"""Degrees that are kept: a trend, a middle against both ends, and a finer even shape."""

CLIP = 5.0
"""Largest basis value. A feature that few rows carry has values beyond it there; drawing them in, and not scaling up
again, keeps two chance coincidences of rare values from looking like dependence."""

MIN_REST = 0.05
"""Share of its spread that a polynomial must keep when lower ones are taken out; ties leave a binary feature one."""

BLOCK = 256
"""Features whose polynomials are computed at a time, so that what is computed on the way stays in the cache."""


@dataclass(frozen=True)
class RankBasis:
    """Basis values of every feature.

    Attributes
    ----------
    values : ndarray of float32, shape (degrees, n_features, n_rows)
        Mean 0 and, but for clipping, variance 1; 0 in missing cells and for degrees that a feature does not have.
    present : ndarray of bool, shape (degrees, n_features)
        Which degrees a feature has.
    """

    values: NDArray[np.float32]
    present: NDArray[np.bool_]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.values.shape[1]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.values.shape[2]

    def take(self, features: NDArray[np.intp] | slice) -> "RankBasis":
        """Return the basis of some features."""
        return RankBasis(self.values[:, features], self.present[:, features])

    def shuffled(self, rng: np.random.Generator, batches: list[NDArray[np.intp]]) -> "RankBasis":
        """Return the basis with the rows of every feature in an order of its own, within batches."""
        values = np.empty_like(self.values)
        for rows in batches:
            keys = rng.random((self.n_features, len(rows)), dtype=np.float32)
            order = rows[np.argsort(keys, axis=1)]
            for made, given in zip(values, self.values, strict=True):
                made[:, rows] = np.take_along_axis(given, order, axis=1)
        return RankBasis(values, self.present)


def rank_basis(X: NDArray[np.floating], batches: list[NDArray[np.intp]]) -> RankBasis:
    """Compute polynomials of the ranks of each feature, within each batch.

    Ranks make the basis free of the law and of monotone transforms of a feature. With ``u`` the standardised ranks,
    ``p_g`` is ``p_{g−1} · u`` made orthogonal to ``1, p_1, …, p_{g−1}`` over the rows and scaled to variance 1; the
    degrees of :data:`POLYNOMIALS` are kept. A missing cell is 0 everywhere, and the other cells of its feature are
    scaled so that the mean square over all rows is 1 again.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Numbers; NaN is missing.
    batches : list of ndarray of int
        The sorted rows of each batch; one array of all rows if there are none.
    """
    n, d = X.shape
    values = np.zeros((len(POLYNOMIALS), d, n), dtype=np.float32)
    present = np.zeros((len(POLYNOMIALS), d), dtype=bool)
    for start in range(0, d, BLOCK):
        block = slice(start, min(start + BLOCK, d))
        features = np.ascontiguousarray(X[:, block].T)
        for rows in batches:
            # Rows are sorted, so that a batch of all of them needs no copy.
            where: Any = slice(None) if len(rows) == n else rows
            values[:, block, where] = _polynomials(features[:, where])
        present[:, block] = np.any(values[:, block], axis=2)
    return RankBasis(values, present)


def _polynomials(features: NDArray[np.floating]) -> NDArray[np.float32]:
    """Compute the kept polynomials of features (d, n): (degrees, d, n)."""
    order = np.argsort(features, axis=1)
    ordered = np.take_along_axis(features, order, axis=1)
    # NaN is not below anything, so that features with missing cells are not distinct either.
    distinct = np.all(ordered[:, 1:] > ordered[:, :-1], axis=1) & ~np.isnan(ordered[:, -1])
    values = np.empty((len(POLYNOMIALS), *features.shape), dtype=np.float32)
    # Features without ties have the same ranks, in different orders: their polynomials are computed once.
    once = _of_ranks(np.arange(1.0, features.shape[1] + 1)[None])
    ranks = np.empty_like(order[distinct])
    np.put_along_axis(ranks, order[distinct], np.arange(features.shape[1])[None], axis=1)
    for made, polynomial in zip(values, once, strict=True):
        made[distinct] = polynomial[0, ranks]
    values[:, ~distinct] = _of_ranks(features[~distinct])
    return values


def _of_ranks(features: NDArray[np.floating]) -> NDArray[np.float32]:
    """Compute the kept polynomials of features (d, n) of which any may have ties or missing cells."""
    observed = ~np.isnan(features)
    ranks = rankdata(features, axis=1, nan_policy="propagate" if observed.all() else "omit")
    share = np.maximum(observed.mean(axis=1, keepdims=True), 1 / features.shape[1])
    u = _standardised(np.where(observed, ranks, 0.0), observed, share, 0.0)
    every = [u]
    while len(every) < max(POLYNOMIALS):
        product = every[-1] * u
        every.append(_standardised(product, observed, share, MIN_REST, every))
    return np.clip(np.stack([every[degree - 1] for degree in POLYNOMIALS]), -CLIP, CLIP).astype(np.float32)


def _standardised(
    x: NDArray, observed: NDArray[np.bool_], share: NDArray, min_rest: float, lower: list[NDArray] | None = None
) -> NDArray:
    """Return x centred, orthogonal to lower polynomials, with mean square 1, or 0 where almost nothing is left."""
    x = np.where(observed, x - x.mean(axis=1, keepdims=True) / share, 0.0)
    before = np.sqrt((x**2).mean(axis=1, keepdims=True))
    for polynomial in lower or []:
        x = x - (x * polynomial).mean(axis=1, keepdims=True) * polynomial
    spread = np.sqrt((x**2).mean(axis=1, keepdims=True))
    kept = spread > np.maximum(min_rest * before, 1e-9)
    return np.where(kept, x / np.where(kept, spread, 1.0), 0.0)
