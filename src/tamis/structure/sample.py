"""Rows of a table, drawn at random, their order, and their features as z-scores or as shapes of their ranks."""

from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from tamis.features import checked_table, label_numbers
from tamis.io.sources import as_source

MAX_ROWS, NARROW_CELLS = 2000, 2**23
"""At most ``max(MAX_ROWS, NARROW_CELLS // (d + 1000))`` rows are examined, drawn at random."""

MAX_CELLS = 2**28
"""Stored cells that are examined; of wider tables fewer rows are drawn."""

MAX_KEPT_CELLS = 2**22
"""Stored cells of the rows that a fitted selector keeps for its verdict, of at least 100 rows."""

FAR = 4.0
"""Half-widths of the middle of a feature beyond which its cells are drawn in."""

Indices = NDArray[np.intp]
Array = NDArray[np.float64]
Values = NDArray[np.float32]


def sample_rows(
    X: Any, rng: np.random.Generator, max_cells: int = MAX_CELLS, min_rows: int = 200
) -> tuple[Any, NDArray[np.intp]]:
    """Return rows drawn at random, as an array or a CSC matrix, and their sorted positions.

    Infinite cells of a source are NaN.
    """
    source = as_source(X)
    if source is None:
        X = checked_table(X, check_array, ensure_all_finite="allow-nan", ensure_min_samples=2)
    n, d = X.shape if source is None else source.shape
    width = X.nnz // n if issparse(X) else d
    most = max(MAX_ROWS, NARROW_CELLS // (d + 1000))
    size = min(n, most, max(min_rows, max_cells // max(1, width)))
    if source is None:
        rows = np.sort(rng.permutation(n)[:size])
        taken: Any = X[rows]
    else:
        taken, rows = source.sample(size, rng)
    taken = taken.tocsc() if issparse(taken) else np.asarray(taken)
    if taken.dtype not in (np.float32, np.float64):
        taken = taken.astype(np.float64)
    values: Any = taken.data if issparse(taken) else taken
    # The rows drawn are a copy, unless a source hands out its own.
    if np.isinf(values).any():
        values = np.where(np.isinf(values), np.nan, values)
        taken = type(taken)((values, taken.indices, taken.indptr), taken.shape) if issparse(taken) else values
    return taken, rows


def dense_features(sample: Any, features: NDArray[np.intp]) -> NDArray[np.floating]:
    """Return some features of a sample, by sorted positions, as an array; all of them without a copy."""
    if issparse(sample):
        # As the rows of a dense table lie, so that sums have the same bits.
        return np.asarray(sample[:, features].toarray(order="C"))
    return np.asarray(sample if len(features) == sample.shape[1] else sample[:, features])


def tail_bounds(X: NDArray[np.floating]) -> tuple[Array, Array]:
    """Return the values of each feature beyond which cells are drawn in: few far ones must not decide.

    They are four half-widths of the middle 68 % of the rows, about the standard deviation of a normal feature, from the
    median; where that middle has one value only, infinite.
    """
    ordered = np.sort(X.T.astype(np.float64), axis=1)
    last = np.maximum((~np.isnan(ordered)).sum(axis=1, keepdims=True) - 1, 0)
    low, median, high = np.take_along_axis(ordered, (last * (0.16, 0.5, 0.84)).astype(np.intp), axis=1).T
    reach = np.where(high > low, FAR * (high / 2 - low / 2), np.inf)
    # Without any value, there is no median either.
    return np.fmax(median - reach, -np.inf), np.fmin(median + reach, np.inf)


def standardised(X: NDArray[np.floating], batches: list[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Return features, far cells drawn in, with mean 0 and variance 1 within each batch, 0 in missing cells."""
    Z, X = np.zeros(X.shape), np.clip(X, *tail_bounds(X))
    for rows in batches:
        part = X[rows].astype(np.float64)
        observed = ~np.isnan(part)
        # In units of a power of two, which is exact, no square overflows or vanishes.
        part /= np.ldexp(1.0, np.frexp(np.where(observed, np.abs(part), 0.0).max(axis=0))[1] - 1)
        # A feature may be missing in all rows of a batch.
        counts = np.maximum(observed.sum(axis=0), 1)
        part = np.where(observed, part - np.nansum(part, axis=0) / counts, 0.0)
        spread = np.sqrt((part**2).sum(axis=0) / counts)
        Z[rows] = part / np.where(spread > 0, spread, 1.0)
    return Z


def rows_of_batches(batch: ArrayLike, rows: NDArray[np.intp], n_rows: int) -> list[NDArray[np.intp]]:
    """Return the positions, among the rows drawn, of each batch."""
    number = label_numbers(batch, n_rows, "batch", "rows")
    counts = np.bincount(number)
    if (counts < 3).any():
        n_small = int((counts < 3).sum())
        raise ValueError(f"A batch needs at least 3 rows; {n_small} of {len(counts)} batches have fewer.")
    # Of a rare batch fewer rows may have been drawn, which tell nothing.
    drawn = [np.flatnonzero(number[rows] == label) for label in range(len(counts))]
    enough = [part for part in drawn if len(part) >= 3]
    if not enough:
        raise ValueError(
            f"batch has {len(counts)} batches, of none of which 3 are among the {len(rows)} rows that are examined. "
            "Join small batches."
        )
    return enough


TAIL = 5
"""The shape that comes after the polynomials of degree 1 to 4."""

SHAPES = (1, 2, 4, TAIL)
"""Shapes that are kept: a trend, a middle against both ends, a finer even shape, and the two ends."""

INNOVATIONS = len(SHAPES)
"""Place, after these shapes, of the trend of what rows add to the rows before them, where some features are slow."""

CLIP = 5.0
"""Largest basis value, in tables of at least 400 rows. A feature that few rows carry has values beyond it there;
drawing them in, and not scaling up again, keeps chance coincidences of rare values from looking like dependence."""

KURTOSES = (3.0, 10.0, 30.0, 100.0)
"""Kurtoses of trends that part the laws of features; it is 1.8 without ties, and 98 if one row in 100 differs."""

MIN_REST = 0.05
"""Share of its spread that a shape must keep when earlier ones are taken out; ties leave a binary feature one."""

BLOCK = 256
"""Features whose shapes are computed at a time, so that what is computed on the way stays in the cache."""

MIN_FEATURES = 2048
"""Of no more features, threads cost more than they gain."""

MIN_ORDERED = 20
"""Of fewer rows, the order tells nothing."""

LAGS = (1, 3, 9)
"""Rows between those whose differences are compared."""

LARGEST = 0.05
"""Share of the differences, the largest ones, that is left out: sorted groups of rows differ where they meet."""

MIN_KEPT, MAX_GROWTH = 0.45, 4.5
"""Bounds of how the differences of a slow feature grow with the lag: the shares are 0 for independent rows or noisy
groups, 2 and 3 for a random walk, 8 and 9 for a smooth curve."""


class Memory(NamedTuple):
    """Which features are slow, and where the autocorrelations (places, n_lags) over the rows of each feature are.

    Those at place 0 are 0: of features whose neighbouring rows are not alike.
    """

    slow: NDArray[np.bool_]
    place: NDArray[np.intp]
    correlations: Values

    def rows_in_one(self, features: Any, others: Any) -> Values | None:
        """Return how many rows of two features tell as much as an independent one, for all pairs; None if all are fast.

        With the autocorrelations ρ at lags l, ``1 + 2 Σ_l ρ_i(l) ρ_j(l)`` if one is slow (Bartlett, 1935), else 1.
        """
        either = self.slow[features][:, None] | self.slow[others]
        if not either.any():
            return None
        left, right = (self.correlations[self.place[some]] for some in (features, others))
        return np.where(either, np.maximum(1 + 2 * left @ right.T, 1), np.float32(1))


class RankBasis(NamedTuple):
    """Basis values (shapes, n_features, n_rows), which shapes a feature has, its cells that are not missing, its law.

    Values have mean 0 and, but for clipping, variance 1; they are 0 in missing cells and for shapes that are absent.
    Where no cell of any feature is missing, ``observed`` (n_features, n_rows) is None. Laws are numbers. The memory is
    None where no feature is slow.
    """

    values: NDArray[np.float32]
    present: NDArray[np.bool_]
    observed: NDArray[np.bool_] | None
    law: Indices
    memory: Memory | None


def rank_basis(
    X: NDArray[np.floating], batches: list[Indices], n_shuffled: int = 0, rng: np.random.Generator | None = None
) -> RankBasis:
    """Compute shapes of the ranks of each feature within each batch, and after them those of shuffled features.

    Ranks make the basis free of the law and of monotone transforms of a feature. With ``u`` the standardised ranks,
    ``p_g`` is ``p_{g−1} · u``, and at last ``−sign(v) log(1 − |v|)`` of the ranks v from -1 to 1, made orthogonal to
    ``1, p_1, …, p_{g−1}`` over the rows and scaled to variance 1; :data:`SHAPES` are kept, and the trend of the
    innovations of features whose neighbouring rows are alike, if one is slow (:func:`row_memory`). A missing cell, NaN
    in X, is 0, and the other cells of its feature are scaled so that the mean square over all rows is 1 again. Shuffled
    features are drawn among the others, as many of each law, with their rows shuffled within batches.
    """
    (n, d), rng = X.shape, np.random.default_rng(0) if rng is None else rng
    # Where no feature is slow, the place of innovations is not written to, and takes no memory.
    values = np.zeros((len(SHAPES) + 1, d + n_shuffled, n), dtype=np.float32)
    present = np.zeros(values.shape[:2], dtype=bool)
    blocks = (slice(start, min(start + BLOCK, d)) for start in range(0, d, BLOCK))
    parallel = Parallel(None if d > MIN_FEATURES else 1, require="sharedmem")
    shapes = values[:INNOVATIONS], present[:INNOVATIONS]
    parallel(delayed(_fill)(*(part[:, block] for part in shapes), X[:, block], batches) for block in blocks)
    missing, memory = np.isnan(X.T), row_memory(values[0, :d], n_shuffled)
    if memory is None:
        values, present = shapes
    else:
        alike = np.flatnonzero(memory.place)
        added = innovations(values[0, alike], memory.correlations[memory.place[alike], 0])
        of_added = np.empty((INNOVATIONS, len(alike), n), np.float32)
        _fill(of_added, np.empty(of_added.shape[:2], bool), np.where(missing[alike].T, np.nan, added), batches)
        values[INNOVATIONS, alike], present[INNOVATIONS, alike] = of_added[0], True
    observed = np.vstack([~missing, np.empty((n_shuffled, n), bool)]) if missing.any() else None
    energy, fourth = (np.einsum(",".join(["ij"] * power) + "->i", *[values[0, :d]] * power) for power in (2, 4))
    law, order = np.digitize((~missing).sum(axis=1) * fourth / np.maximum(energy, 1e-9) ** 2, KURTOSES), np.arange(n)
    # Each law as often as any other, and each feature by an order of its own: those in one order would vary together.
    numbers = np.unique(law)
    dealt = [np.resize(rng.permutation(np.flatnonzero(law == one)), -(-n_shuffled // len(numbers))) for one in numbers]
    drawn = np.concatenate([np.arange(0), *dealt])[:n_shuffled]
    present[:, d:] = present[:, drawn]
    for place, feature in enumerate(drawn, start=d):
        for rows in batches:
            order[rows] = rng.permutation(rows)
        values[:, place] = values[:, feature, order]
        if observed is not None:
            observed[place] = observed[feature, order]
    return RankBasis(values, present, observed, np.r_[law, law[drawn]], memory)


def row_memory(trends: Values, n_shuffled: int) -> Memory | None:
    """Compute which features are slow from their trends (n_features, n_rows); None if no feature is.

    A feature is slow if neighbouring rows are alike above chance, and its differences grow as those of a random walk
    do. With ``v_l`` the mean square of the differences of rows l apart, the largest twentieth left out, that is
    ``(v_3 − v_1) / v_1 > 0.45``: what noise adds, as around sorted groups, is as large over one row as over three; and
    ``(v_9 − v_3) / (v_3 − v_1) < 4.5``: along a smooth curve, or in a sorted feature, it grows as the square of l. The
    shuffled features that follow are not slow.
    """
    d, n = trends.shape
    energy = np.maximum(np.einsum("ij,ij->i", trends, trends), 1e-9)
    following = np.einsum("ij,ij->i", trends[:, 1:], trends[:, :-1]) / energy
    alike = np.flatnonzero((following > max(3.0, np.sqrt(2 * np.log(max(d, 1)))) / np.sqrt(n)) & (n >= MIN_ORDERED))
    blocks, slow = np.array_split(alike, len(alike) // BLOCK + 1), np.zeros(d + n_shuffled, bool)
    for some in blocks if len(alike) else ():
        one, three, nine = (_difference(trends[some], lag) for lag in LAGS)
        slow[some] = (three - one > MIN_KEPT * one) & (nine - three < MAX_GROWTH * (three - one))
    if not slow.any():
        return None
    place, correlations = np.zeros(d + n_shuffled, np.intp), np.zeros((len(alike) + 1, n // 4), np.float32)
    place[alike] = np.arange(1, len(alike) + 1)
    for some in blocks:
        spectrum = np.abs(np.fft.rfft(trends[some], 2 * n, axis=1)) ** 2
        correlations[place[some]] = np.fft.irfft(spectrum, axis=1)[:, 1 : n // 4 + 1] / energy[some, None]
    return Memory(slow, place, correlations)


def _difference(trends: Values, lag: int) -> Values:
    """Return the mean square of the differences of rows some rows apart, the largest left out, of each feature."""
    squares = (trends[:, lag:] - trends[:, :-lag]) ** 2
    size = int((1 - LARGEST) * squares.shape[1])
    means: Values = np.partition(squares, size, axis=1)[:, :size].mean(axis=1)
    return means


def innovations(trends: Values, rho: Values) -> Values:
    """Return ``x_t − ρ(1) x_(t−1)`` (n_rows, n_features): what rows add to the rows before them."""
    x = trends.T.copy()
    x[1:] -= rho * trends.T[:-1]
    return x


def tied_places(ordered: NDArray[np.float64]) -> tuple[Indices, Indices]:
    """Return, for each place of ordered rows, the first and the last place with the same value."""
    n = ordered.shape[1]
    differs = ordered[:, 1:] != ordered[:, :-1]
    first, last = np.zeros(ordered.shape, np.intp), np.full(ordered.shape, n - 1)
    first[:, 1:] = np.maximum.accumulate(np.where(differs, np.arange(1, n), 0), axis=1)
    backwards = np.where(differs, np.arange(n - 1), n - 1)[:, ::-1]
    last[:, :-1] = np.minimum.accumulate(backwards, axis=1)[:, ::-1]
    return first, last


def _fill(
    values: NDArray[np.float32], present: NDArray[np.bool_], X: NDArray[np.floating], batches: list[Indices]
) -> None:
    """Compute the kept shapes of features X (n, d) within batches into values (shapes, d, n), and which are present."""
    # Of few rows, one alone must not decide.
    most, whole = min(CLIP, np.sqrt(len(X)) / 4), np.ascontiguousarray(X.T, dtype=np.float64)
    for rows in batches:
        # Rows are sorted, so that a batch of all of them needs no copy.
        where: Any = slice(None) if len(rows) == len(X) else rows
        features = whole[:, where]
        order = np.argsort(features, axis=1)
        ordered = np.take_along_axis(features, order, axis=1)
        # NaN is not below anything, so that features with missing cells are not distinct either.
        tied = ~(np.all(ordered[:, 1:] > ordered[:, :-1], axis=1) & ~np.isnan(ordered[:, -1]))
        by_order = np.empty((len(SHAPES), *features.shape), dtype=np.float32)
        # Features without ties have the same ranks, in different orders: their shapes are computed once.
        by_order[:, ~tied] = _of_ranks(np.arange(len(rows), dtype=np.float64)[None], np.ones((1, len(rows)), bool))
        if tied.any():
            by_order[:, tied] = _of_ranks(np.add(*tied_places(ordered[tied])) / 2, ~np.isnan(ordered[tied]))
        shapes = np.empty_like(by_order)
        for shape, sorted_values in zip(shapes, by_order, strict=True):
            np.put_along_axis(shape, order, sorted_values, axis=1)
        values[:, :, where] = np.clip(shapes, -most, most)
    present[:] = np.any(values, axis=2)


def _of_ranks(ranks: NDArray[np.float64], observed: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Compute the kept shapes of ranks (d, n), 0 in cells that are not observed."""
    count = np.maximum(observed.sum(axis=1, keepdims=True), 1)
    v = np.where(observed, (2 * ranks + 1) / count - 1, 0.0)
    every: list[NDArray[np.float64]] = []
    for shape in range(1, TAIL + 1):
        x = ranks if shape == 1 else -np.sign(v) * np.log1p(-np.abs(v)) if shape == TAIL else every[-1] * every[0]
        x = np.where(observed, x - np.where(observed, x, 0.0).sum(axis=1, keepdims=True) / count, 0.0)
        before = np.sqrt((x**2).mean(axis=1, keepdims=True))
        for earlier in every:
            x -= (x * earlier).mean(axis=1, keepdims=True) * earlier
        spread = np.sqrt((x**2).mean(axis=1, keepdims=True))
        kept = spread > np.maximum(MIN_REST * before, 1e-9)
        every.append(np.where(kept, x / np.where(kept, spread, 1.0), 0.0))
    return np.stack([every[shape - 1] for shape in SHAPES]).astype(np.float32)
