import numpy as np
import pytest
from scipy.sparse import csr_matrix

from tamis.columns import block_statistics, row_blocks, summarise_columns


@pytest.mark.parametrize("block_values", [1, 40, 10_000])
def test_statistics_do_not_depend_on_the_blocks(rng, block_values):
    X = rng.standard_normal((31, 8)) * 100 + 1e6
    summary = summarise_columns(X, block_values)
    np.testing.assert_allclose(summary.mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(summary.std, X.std(axis=0), rtol=1e-9)


def test_sparse_and_dense_give_equal_bits(rng):
    X = rng.standard_normal((50, 7)) * (rng.random((50, 7)) < 0.3)
    dense, sparse = summarise_columns(X), summarise_columns(csr_matrix(X))
    np.testing.assert_array_equal(dense.mean, sparse.mean)
    np.testing.assert_array_equal(dense.std, sparse.std)


def test_constant_columns_are_those_with_one_value():
    # The mean of ten times 0.1 is not exactly 0.1, so a variance of zero would not find the first column.
    X = np.column_stack([np.full(10, 0.1), np.zeros(10), np.r_[np.zeros(9), 1e-300]])
    assert summarise_columns(X).constant.tolist() == [True, True, False]


def test_non_finite_cells_are_counted_by_column():
    X = np.zeros((4, 3))
    X[0, 1] = X[2, 1] = np.nan
    X[3, 2] = -np.inf
    assert summarise_columns(X, block_values=3).non_finite.tolist() == [0, 2, 1]


def test_integers_do_not_overflow():
    X = np.full((100, 1), 255, dtype=np.uint8)
    X[0] = 0
    assert summarise_columns(X).mean[0] == pytest.approx(255 * 0.99)


def test_blocks_are_fresh_copies():
    X = np.zeros((5, 2))
    for block in row_blocks(X, 4):
        block += 1
    assert not X.any()


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
@pytest.mark.parametrize("size", [1e300, 1e-280])
def test_squares_neither_overflow_nor_vanish(rng, size, kind):
    X = rng.standard_normal((20, 3))
    whole, parts = block_statistics(kind(X * size)), summarise_columns(kind(X * size), 9)
    for found in (whole, parts):
        np.testing.assert_allclose(found.mean, X.mean(axis=0) * size)
        np.testing.assert_allclose(found.std, X.std(axis=0) * size)
        assert not found.out_of_range().any()


def test_the_order_in_memory_changes_no_bit(rng):
    X = rng.standard_normal((50, 7))
    assert np.array_equal(summarise_columns(X).std, summarise_columns(np.asfortranarray(X)).std)


def test_values_that_float64_cannot_scale_are_out_of_range():
    X = np.array([[1.7e308, 1.7e308, 0.0, 1.0], [-1.7e308, 1.7e308, 1e-310, 2.0]])
    assert summarise_columns(X).out_of_range().tolist() == [True, False, True, False]


def test_a_very_wide_sparse_table_is_summarised_as_it_is(rng):
    X = rng.poisson(0.05, (100, 300)).astype(float)
    expected = summarise_columns(X)
    found = summarise_columns(csr_matrix(X), block_values=600)
    for name in ("mean", "std", "low", "high"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-12)
    np.testing.assert_array_equal(found.constant, expected.constant)
