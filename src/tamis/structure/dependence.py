"""How strongly each feature depends on another one, and how strongly shuffled features do."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.utils.extmath import randomized_svd

from tamis.structure.sample import INNOVATIONS, MIN_FEATURES, Indices, RankBasis

Array = NDArray[np.float64]
Products = tuple[tuple[int, int], ...]
PRODUCTS: Products = ((0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (3, 3))
"""Shapes of one feature and of another, by their place in the basis, whose correlations are compared."""

SINGLE = (0, 1, 3, INNOVATIONS)
"""Shapes whose correlation with the same shape of another feature is evidence by itself."""

Pairs = tuple[Any, Any, Products, bool]
"""Features, partners that they are compared with, by which products, and whether the partners learn of it too."""

COST = 2.5
"""What a further correlation costs: about as much as it adds, by chance, to the largest of many sums."""

NEAR_COPY = 0.97
"""Features whose rank correlation reaches this are near copies; they are no evidence for each other."""

TILE = 512
"""Features on each side of a tile, small enough for a processor's cache."""

BUCKET, ROUNDS, BITS = 256, 16, 24
"""Features in a bucket, how often a wide table is dealt into buckets, and random projections that decide about it."""

MANY = 2**18
"""Of more features than that, two that depend on each other meet more rarely, and there are twice as many rounds."""

N_PARTS, N_COMPONENTS = 4, 8
"""Parts that features are dealt into, and principal components of all other parts that each is compared with."""

MAX_SUMMARISED = 2**14
"""Features, drawn at random from more, whose components are computed: what many share, some of them show."""

AT_ONCE = 4
"""Buckets or tiles that a thread is given at once; one alone is done in about the time that it takes to hand it out."""


class Strongest(NamedTuple):
    """The strongest dependence of each feature, ``-inf`` without any other, and on which; its near copies, and one."""

    strength: NDArray[np.float32]
    partner: Indices
    n_copies: Indices
    copy: Indices


def strongest_dependence(
    basis: RankBasis, d: int, rng: np.random.Generator, owner: NDArray[np.intp] | None = None
) -> tuple[Strongest, NDArray[np.float64]]:
    """Compute the strongest dependence of the first d features on each other, and of shuffled ones that follow on them.

    The latter are what chance reaches. Features of the same ``owner`` are no evidence for each other.

    Up to ``2 · BUCKET · ROUNDS`` features, all pairs are compared. More are dealt into buckets of similar ones
    (:func:`_buckets`), which costs less then, and those of a bucket are compared. The threads of
    :func:`joblib.parallel_config` share the work.
    """
    total = basis.values.shape[1]
    strength, partner, copy = np.full(total, -np.inf, np.float32), np.full(total, -1), np.full(total, -1)
    found, all_pairs = Strongest(strength, partner, np.zeros(total, np.intp), copy), d <= 2 * BUCKET * ROUNDS
    # A shuffled feature is of no group.
    groups = None if owner is None else np.append(owner, np.full(total - d, -1))
    stages: list[Iterable[Pairs]]
    products = PRODUCTS if basis.memory is None else (*PRODUCTS, (INNOVATIONS, INNOVATIONS))
    if all_pairs:
        starts = [*range(0, d, TILE), *range(d, total, TILE)]
        tiles = [slice(start, min(start + TILE, d if start < d else total)) for start in starts]
        known = [(number, tile) for number, tile in enumerate(tiles) if tile.start < d]
        # What two different tiles of the first d find holds for both.
        stages = [[(rows, tile, products, tile.start < rows.start < d) for i, tile in known for rows in tiles[i:]]]
    else:
        # What generates the hubs runs when the buckets have been compared.
        stages = [_buckets(basis, d, products, rng), _hubs(found, d, products, rng)]
    # Copies meet in one tile only, but in several buckets.
    n_jobs, count = None if total > MIN_FEATURES else 1, np.add if all_pairs else np.maximum
    for pairs in stages:
        parallel = Parallel(n_jobs, require="sharedmem", return_as="generator", batch_size=AT_ONCE)
        compared = parallel(delayed(_compare)(basis, *some, groups) for some in pairs)
        for features, values, partners, n_copies, copies in chain.from_iterable(compared):
            found.n_copies[features] = count(found.n_copies[features], n_copies)
            copy[features] = np.maximum(copy[features], copies)
            better = values > strength[features]
            strength[features[better]], partner[features[better]] = values[better], partners[better]
    of_features = Strongest(strength[:d], partner[:d], found.n_copies[:d], copy[:d])
    return of_features, strength[d:].astype(np.float64)


def dependence_on_components(
    basis: RankBasis, copy: Indices, owner: Indices | None, rng: np.random.Generator
) -> tuple[Array, Array, Indices]:
    """Compute how strongly the trend of each feature depends on the principal components of the trends of others.

    Many features that depend on each other a little, no two of them above chance, agree with what all of them share.
    So features are dealt into parts, near copies and those of one owner together, and the largest ``n r²`` with a
    component of the other parts counts, ``-inf`` where there is none. What chance reaches is that of the shuffled
    features, which follow the ``len(copy)`` others, with those of any part; their laws are returned with it.
    """
    d, linked, n = len(copy), np.flatnonzero(copy >= 0), basis.values.shape[2]
    edges = np.array([linked, copy[linked]])
    if owner is not None:
        _, first, group = np.unique(owner, return_index=True, return_inverse=True)
        edges = np.hstack([edges, [np.arange(d), first[group]]])
    n_sets, label = connected_components(coo_array((np.ones(edges.shape[1]), edges), shape=(d, d)), directed=False)
    part, trends, shuffled = rng.integers(N_PARTS, size=n_sets)[label], basis.values[0], np.arange(d, len(basis.law))
    if basis.memory is not None:  # what slow features share may be no more than that they are slow
        part[basis.memory.slow[:d]] = N_PARTS
    strength, null = np.full(d, -np.inf), [np.empty(0)]
    for number in range(N_PARTS):
        own, others = np.flatnonzero(part == number), np.flatnonzero((part != number) & (part < N_PARTS))
        if len(others) < N_COMPONENTS or not len(own):
            continue
        if len(others) > MAX_SUMMARISED:
            others = np.sort(rng.permutation(others)[:MAX_SUMMARISED])
        components, compared = randomized_svd(trends[others], N_COMPONENTS, random_state=0)[2], np.r_[own, shuffled]
        squares = (trends[compared] @ components.T) ** 2
        if basis.observed is not None:
            # A component varies less in rows of which much is missing, and more in those in which a feature is.
            there = basis.observed[compared].astype(np.float32)
            squares /= there @ (components**2).T * n / np.maximum(there.sum(axis=1), 1)[:, None]
        strength[own], of_shuffled = np.split(squares.max(axis=1).astype(np.float64), [len(own)])
        null.append(of_shuffled)
    return strength, np.concatenate(null), np.tile(basis.law[d:], len(null) - 1)


def _compare(
    basis: RankBasis, rows: Any, partners: Any, products: Products, mutual: bool, groups: Indices | None
) -> list[tuple[Indices, NDArray[np.float32], Indices, Indices, Indices]]:
    """Return some features with their strongest dependence on partners, and these with theirs if it is mutual.

    With it are the partner, the number of near copies among the partners, and one of them, -1 without any.
    """
    T, found = dependence(basis, rows, partners, products), []
    rows, partners = (np.r_[some] for some in (rows, partners))
    if groups is not None:
        T[groups[rows, None] == groups[partners]] = -np.inf
    for features, values, others in [(rows, T, partners), (partners, T.T, rows)][: 1 + mutual]:
        _, same, itself = np.intersect1d(features, others, assume_unique=True, return_indices=True)
        values[same, itself] = -np.inf
        n_copies, best, each = np.zeros(len(values), np.intp), values.argmax(axis=1), np.arange(len(values))
        largest, copy = values[each, best], np.full(len(values), -1)
        if np.isposinf(largest).any():  # near copies, which do not count
            copies = np.isposinf(values)
            n_copies, copy = copies.sum(axis=1), np.where(np.isposinf(largest), others[best], -1)
            values = np.where(copies, -np.inf, values)
            best = values.argmax(axis=1)
            largest = values[each, best]
        found.append((features, largest, others[best], n_copies, copy))
    return found


def dependence(basis: RankBasis, rows: Any, partners: Any, products: Products = PRODUCTS) -> NDArray[np.float32]:
    """Compute the dependence of features on partners by some products.

    With ``r_ab`` the correlation of shape a of one feature and b of the other, it is the largest of ``n r_aa²`` of a
    trend, of both ends against the middle and of the two ends, and of ``n Σ r_ab² − 2.5 (f − 1)``, the sum being over
    the f products that both features have. Under independence its tail is about that of a chi-squared variable, which
    is exponential. Near copies have ``inf``: they are no evidence for each other. Features are a slice, or positions
    the first of which are the partners.
    """
    n, n_shapes = basis.values.shape[2], max(products)[0] + 1
    first = basis.values[:n_shapes, rows]
    second = basis.values[:n_shapes, partners] if isinstance(rows, slice) else first[:, : len(partners)]
    # Which of the features have what each product takes.
    has_left = basis.present[[a for a, _ in products]][:, rows]
    has_right = basis.present[[b for _, b in products]][:, partners]
    total = (1 - has_left.T.astype(np.float32) @ has_right.astype(np.float32)) * np.float32(COST * n)
    single, room = np.zeros_like(total), np.empty_like(total)
    met, of_copies = (
        (None, float(n) ** 2) if basis.observed is None else _where_both_are_observed(basis, rows, partners)
    )
    slower = None if basis.memory is None else basis.memory.rows_in_one(rows, partners)
    for (a, b), left, right in zip(products, has_left, has_right, strict=True):
        # Of counts and rare features most lack most shapes, which are 0 and need not be multiplied.
        some = (a or b) and left.sum() * right.sum() < total.size / 2
        where: Any = np.ix_(left, right) if some else ...
        x, y = (first[a, left], second[b, right]) if some else (first[a], second[b])
        squares = np.matmul(x, y.T, out=None if some else room)
        squares *= squares
        if a == b == 0:
            copies = np.flatnonzero(squares >= NEAR_COPY**2 * of_copies)
        if met is not None:
            squares /= met[where]
        if slower is not None and a != INNOVATIONS:
            squares /= slower[where]
        total[where] += squares
        if a == b in SINGLE:
            single[where] = np.maximum(single[where], squares)
    T: NDArray[np.float32] = np.maximum(single, total, out=total)
    T /= n
    T.flat[copies] = np.inf
    return T


def _where_both_are_observed(basis: RankBasis, rows: Any, partners: Any) -> tuple[Any, Any]:
    """Return by how much chance is larger, for every pair, for cells that are missing together, and what copies reach.

    With n_x and n_y observed cells, of which m are in common rows, ``(Σ_i x_i y_i)²`` of independent features has the
    mean ``n² m / (n_x n_y)``, or n where no cell is missing. That of copies is the product of their energies in common
    rows, n² where none is missing. What clipping takes from a feature, a copy of it lacks as well, so that features
    that few rows carry are not near copies.
    """
    n, (x, y) = basis.values.shape[2], (basis.values[0, some] for some in (rows, partners))
    in_x, in_y = (np.asarray(basis.observed)[some].astype(np.float32) for some in (rows, partners))
    met = in_x @ in_y.T * n / np.maximum(np.outer(in_x.sum(axis=1), in_y.sum(axis=1)), 1)
    energy_x, energy_y = (z * z / np.maximum((z * z).mean(axis=1), 1e-9)[:, None] for z in (x, y))
    # Features that no row has together are not copies.
    return np.maximum(met, 1 / n), np.maximum((energy_x @ in_y.T) * (in_x @ energy_y.T), 1e-9)


def _buckets(basis: RankBasis, d: int, every: Products, rng: np.random.Generator) -> Iterator[Pairs]:
    """Yield features that are similar or opposite to each other, with those of them that are not shuffled.

    Features are ordered by the signs of random projections, which similar ones share (locality-sensitive hashing,
    Charikar 2002), and the order is cut into buckets, in which trends are compared. In every fourth round each is
    projected by its trend or by its second shape, as a coin decides, so that features meet that depend on each
    other without a trend, and all products are compared.
    """
    total, n = basis.values.shape[1:]
    # Where many features have one code, as those that share most of their variance, shuffled ones must not be the last.
    mixed = rng.spawn(1)[0].permutation(total)
    curved = [number % 4 == 3 for number in range(ROUNDS if total <= MANY else 2 * ROUNDS)]
    drawn = ((rng.standard_normal((n, BITS)), rng.random(total) < 0.5 if turn else None) for turn in curved)
    orders = Parallel(require="sharedmem")(delayed(_order)(basis.values, mixed, *some) for some in drawn)
    for order, products in zip(orders, (every if turn else every[:1] for turn in curved), strict=True):
        for bucket in np.array_split(order, max(1, total // BUCKET)):
            bucket = np.sort(bucket)
            if bucket[0] < d:  # else all are shuffled
                yield bucket, bucket[bucket < d], products, False


def _order(
    values: NDArray[np.float32], mixed: Indices, planes: NDArray[np.float64], curved: NDArray[np.bool_] | None
) -> Indices:
    """Return the features in the order of the signs of their projections, some of them by their second shape."""
    planes = planes.astype(np.float32)
    signs = values[0] @ planes > 0
    if curved is not None:
        signs = np.where(curved[:, None], values[1] @ planes > 0, signs)
    # A feature and its opposite have the same code; its BITS are three bytes.
    high, middle, low = np.packbits(signs ^ signs[:, :1], axis=1).T.astype(np.uint32)
    codes = high << 16 | middle << 8 | low
    return mixed[np.argsort(codes[mixed], kind="stable")]


def _hubs(found: Strongest, d: int, products: Products, rng: np.random.Generator) -> Iterator[Pairs]:
    """Yield all features with some of those that depend on others more than any shuffled feature does.

    A group of which two have met is then known to all its members.
    """
    known = np.flatnonzero(found.strength[:d] > found.strength[d:].max())
    hubs, total = np.sort(rng.permutation(known)[:TILE]), len(found.strength)
    if len(hubs):
        for start in range(0, total, TILE):
            yield slice(start, min(start + TILE, total)), hubs, products, False
