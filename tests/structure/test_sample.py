import numpy as np
import pytest
from scipy.stats import rankdata

from tamis.io.sources import RowBlocks
from tamis.structure.sample import SHAPES, TAIL, largest_value, rank_basis, sample_rows, standardised, tied_places


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


@pytest.mark.parametrize("decimals", [16, 1], ids=["distinct", "ties"])
def test_shapes_of_ranks_are_those_of_gram_and_schmidt(rng, decimals):
    X = rng.standard_normal((80, 5)).round(decimals)
    values = whole(X).values
    for j, x in enumerate(X.T):
        np.testing.assert_allclose(values[:, j], naive(x), atol=2e-5)


@pytest.mark.parametrize("decimals", [16, 1], ids=["distinct", "ties"])
def test_shapes_are_orthonormal_over_the_rows(rng, decimals, monkeypatch):
    monkeypatch.setattr("tamis.structure.sample.largest_value", lambda n: 100.0)
    values = whole(rng.standard_normal((80, 300)).round(decimals)).values.astype(np.float64)
    products = np.einsum("ajn,bjn->jab", values, values) / 80
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


def test_each_batch_has_its_own_ranks(rng, monkeypatch):
    monkeypatch.setattr("tamis.structure.sample.largest_value", lambda n: 5.0)
    X = rng.standard_normal((50, 4))
    batches = [np.arange(0, 50, 2), np.arange(1, 50, 2)]
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
