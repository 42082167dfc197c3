import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import rankdata

from tamis.io.sources import RowBlocks
from tamis.structure.sample import (
    CLIP,
    INNOVATIONS,
    SHAPES,
    TAIL,
    rank_basis,
    sample_rows,
    standardised,
    tail_bounds,
    tied_places,
)


def test_rows_are_drawn_where_there_are_too_many(rng):
    X = np.arange(600.0)[:, None] * np.ones(5)
    sample, rows = sample_rows(X, rng, max_cells=1000)
    assert len(rows) == 200
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(sample, X[rows])


def test_infinite_cells_are_missing_and_the_table_is_not_changed(rng):
    X = rng.standard_normal((40, 3))
    blocks = [X[:20].astype(np.float32), X[20:].astype(np.float32)]
    blocks[0][3, 1] = np.inf
    sample, _ = sample_rows(RowBlocks(blocks), rng)
    assert np.isnan(sample[3, 1])
    assert np.isposinf(blocks[0][3, 1])


def test_standardised_features_have_mean_zero_and_variance_one_within_batches(rng):
    X = 5 + 3 * rng.standard_normal((60, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:30, 3] = np.nan
    X[:, 2] = 7
    batches = [np.arange(30), np.arange(30, 60)]
    Z = standardised(X, batches)
    for rows in batches:
        for j in range(4):
            x = X[rows, j]
            x = x[~np.isnan(x)]
            expected = (x - x.mean()) / (x.std() or 1) if len(x) else x
            np.testing.assert_allclose(Z[rows, j][~np.isnan(X[rows, j])], expected, atol=1e-12)
    assert not Z[np.isnan(X)].any()


def test_cells_far_from_the_middle_of_a_feature_are_drawn_in(rng):
    X = rng.standard_normal((1001, 4))
    X[:3, 0], X[:, 1], X[5, 2], X[:900, 3] = 1e6, np.exp(3 * X[:, 1]), np.nan, 0
    low, high = tail_bounds(X)
    for j in range(3):
        x = np.sort(X[~np.isnan(X[:, j]), j])
        first, median, last = x[[int((len(x) - 1) * q) for q in (0.16, 0.5, 0.84)]]
        assert (low[j], high[j]) == pytest.approx((median - 2 * (last - first), median + 2 * (last - first)))
    assert (low[3], high[3]) == (-np.inf, np.inf)
    assert tail_bounds(np.full((5, 1), np.nan)) == (-np.inf, np.inf)
    Z = standardised(X, [np.arange(1001)])
    assert np.abs(Z[:, [0, 1, 2]]).max() < 6
    np.testing.assert_allclose(Z[:, :2].std(axis=0), 1)
    assert np.corrcoef(Z[3:, 0], X[3:, 0])[0, 1] > 0.999


def whole(X):
    return rank_basis(X, [np.arange(len(X))])


def naive(x, n=None):
    """Shapes of the ranks of one complete feature, by Gram and Schmidt over powers, and over the ends at last."""
    ranks = rankdata(x)
    v = (2 * ranks - 1) / len(x) - 1
    known, kept = [np.ones(len(x))], []
    for shape in range(1, TAIL + 1):
        start = (
            -np.sign(v) * np.log(1 - np.abs(v)) if shape == TAIL else ((ranks - ranks.mean()) / ranks.std()) ** shape
        )
        left = start
        for lower in known:
            left = left - lower * (left @ lower) / (lower @ lower)
        left *= np.sign(left @ start) / left.std()
        known.append(left)
        if shape in SHAPES:
            kept.append(left)
    return np.clip(kept, -largest_value(n or len(x)), largest_value(n or len(x)))


def largest_value(n):
    return min(CLIP, np.sqrt(n) / 4)


@pytest.mark.parametrize("decimals", [16, 1], ids=["distinct", "ties"])
def test_shapes_of_ranks_are_those_of_gram_and_schmidt(rng, decimals):
    X = rng.standard_normal((80, 5)).round(decimals)
    values = whole(X).values
    for j, x in enumerate(X.T):
        np.testing.assert_allclose(values[:, j], naive(x), atol=2e-5)


@pytest.mark.parametrize("decimals", [16, 1], ids=["distinct", "ties"])
def test_shapes_are_orthonormal_over_the_rows(rng, decimals, monkeypatch):
    monkeypatch.setattr("tamis.structure.sample.CLIP", 100.0)
    values = whole(rng.standard_normal((6400, 30)).round(decimals)).values.astype(np.float64)
    products = np.einsum("ajn,bjn->jab", values, values) / 6400
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(len(SHAPES)), products.shape), atol=1e-5)
    np.testing.assert_allclose(values.mean(axis=2), 0, atol=1e-6)


def test_ranks_do_not_change_under_monotone_transforms(rng):
    X = rng.standard_normal((60, 4))
    np.testing.assert_array_equal(whole(X).values, whole(np.exp(X)).values)


def test_a_binary_feature_has_one_shape_and_a_constant_one_none(rng):
    X = np.column_stack([rng.random(90) < 0.4, np.ones(90), rng.standard_normal(90)]).astype(float)
    assert whole(X).present.T.tolist() == [[True, False, False, False], [False] * 4, [True] * 4]


def test_a_feature_of_three_levels_has_two_shapes():
    basis = whole(np.tile([0.0, 1.0, 2.0], 30)[:, None])
    assert basis.present[:, 0].tolist() == [True, True, False, False]


def test_missing_cells_are_zero_and_the_others_scaled_to_mean_square_one(rng):
    X = rng.standard_normal((100, 3))
    X[rng.random(X.shape) < 0.3] = np.nan
    values = whole(X).values.astype(np.float64)
    missing = np.broadcast_to(np.isnan(X).T, values.shape)
    assert not values[missing].any()
    np.testing.assert_allclose((values[0] ** 2).mean(axis=1), 1, atol=1e-4)
    for j, x in enumerate(X.T):
        observed = ~np.isnan(x)
        expected = naive(x[observed], n=10**6) / np.sqrt(observed.mean())
        expected = np.clip(expected, -largest_value(100), largest_value(100))
        np.testing.assert_allclose(values[:, j, observed], expected, atol=1e-4)


def test_a_feature_without_any_value_has_no_shapes():
    basis = whole(np.column_stack([np.full(40, np.nan), np.arange(40.0)]))
    assert not basis.present[:, 0].any()
    assert basis.present[:, 1].all()


def test_rare_values_are_drawn_in():
    for n, most in ((200, np.sqrt(200) / 4), (1000, 5)):
        x = np.zeros(n)
        x[:2] = 1, 2
        assert whole(x[:, None]).values.max() == pytest.approx(most)


def test_each_batch_has_its_own_ranks(rng):
    X = rng.standard_normal((1000, 4))
    batches = [np.arange(0, 1000, 2), np.arange(1, 1000, 2)]
    values = rank_basis(X, batches).values
    for rows in batches:
        np.testing.assert_array_equal(values[:, :, rows], whole(X[rows]).values)


def test_more_features_than_a_block_holds_are_the_same_as_alone(rng, monkeypatch):
    X = rng.standard_normal((30, 23)).round(1)
    expected = whole(X).values
    monkeypatch.setattr("tamis.structure.sample.BLOCK", 4)
    np.testing.assert_array_equal(whole(X).values, expected)


def test_shuffled_features_follow_those_of_the_table(rng):
    X = rng.standard_normal((20, 6)).round(1)
    basis, alone = rank_basis(X, [np.arange(20)], 40, rng), whole(X)
    np.testing.assert_array_equal(basis.values[:, :6], alone.values)
    np.testing.assert_array_equal(basis.present[:, :6], alone.present)
    known = {tuple(np.sort(values)) for values in alone.values[0]}
    assert {tuple(np.sort(values)) for values in basis.values[0, 6:]} <= known


def test_tied_places_are_the_first_and_the_last_of_equal_values():
    first, last = tied_places(np.array([[1.0, 1, 2, 3, 3, 3], [0.0, 1, 2, 3, 4, 5]]))
    assert first.tolist() == [[0, 0, 2, 3, 3, 3], [0, 1, 2, 3, 4, 5]]
    assert last.tolist() == [[1, 1, 2, 5, 5, 5], [0, 1, 2, 3, 4, 5]]


def autoregressive(rng, phi, n, d):
    return lfilter([1], [1, -phi], rng.standard_normal((n + 200, d)), axis=0)[200:]


@pytest.mark.parametrize("phi", [0.7, 0.9, 0.98, 1.0])
def test_series_in_time_are_slow(rng, phi):
    X = autoregressive(rng, phi, 500, 40)
    assert whole(X).memory.slow.mean() >= 0.95
    assert whole(X[rng.permutation(500)]).memory is None


def test_sorted_tables_are_not_slow(rng):
    groups = rng.uniform(0, 5, (10, 40))[np.repeat(np.arange(10), 50)]
    curve = np.sin(np.linspace(0, 1, 500)[:, None] * rng.uniform(2, 9, 40) + rng.uniform(0, 6, 40))
    noise = rng.standard_normal((500, 40))
    tables = (
        noise,
        groups,
        groups + noise,
        curve,
        curve + 0.2 * noise,
        np.sort(noise, axis=0),
        np.sort(groups, axis=0),
    )
    for X in tables:
        assert whole(X).memory is None


def test_rows_of_slow_features_count_by_their_autocorrelations(rng):
    X = np.column_stack([autoregressive(rng, 0.9, 400, 2), rng.standard_normal((400, 2))])
    basis = whole(X)
    x = basis.values[0].astype(float)
    alike = np.array([True, True, False, False])
    assert basis.memory.slow.tolist() == alike.tolist()
    rho = np.array([[(z[lag:] * z[:-lag]).sum() / (z * z).sum() for lag in range(1, 101)] for z in x]) * alike[:, None]
    lost = basis.memory.rows_in_one(slice(4), slice(4))
    np.testing.assert_allclose(lost, np.maximum(1 + 2 * rho @ rho.T, 1), rtol=1e-4)
    assert basis.memory.rows_in_one(slice(2, 4), slice(2, 4)) is None


def test_the_innovations_of_slow_features_are_what_rows_add(rng):
    X = autoregressive(rng, 0.9, 400, 3)
    X[7, 1] = np.nan
    basis = whole(X)
    x = basis.values[0].astype(float)
    for j, z in enumerate(x):
        added = z[1:] - (z[1:] * z[:-1]).sum() / (z * z).sum() * z[:-1]
        observed = np.delete(np.arange(1, 400), 6) if j == 1 else np.arange(1, 400)
        correlation = np.corrcoef(basis.values[INNOVATIONS, j, observed], rankdata(added[observed - 1]))[0, 1]
        assert correlation == pytest.approx(1, abs=1e-3)
    assert basis.values[INNOVATIONS, 1, 7] == 0
