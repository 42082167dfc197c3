import numpy as np
import pytest
from scipy.sparse import csr_matrix

from tamis.columns import block_statistics, check_cells, summarise_columns


def listed(features):
    return ", ".join(f"feature {feature}" for feature in features)


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


@pytest.mark.parametrize("kind", ["float32", "float16", "uint8", "bool", object])
def test_every_kind_of_numbers_is_summarised_as_its_doubles(rng, kind):
    X = rng.integers(0, 5, (40, 3)).astype(kind)
    found, expected = (block_statistics(block)._asdict() for block in (X, X.astype(float)))
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)
        assert np.asarray(found[name]).dtype == np.asarray(values).dtype


def test_integers_do_not_overflow():
    X = np.full((100, 1), 255, dtype=np.uint8)
    X[0] = 0
    assert summarise_columns(X).mean[0] == pytest.approx(255 * 0.99)


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
@pytest.mark.parametrize("size", [1e300, 1e-280])
def test_squares_neither_overflow_nor_vanish(rng, size, kind):
    X = rng.standard_normal((20, 3))
    whole, parts = block_statistics(kind(X * size)), summarise_columns(kind(X * size), 9)
    for found in (whole, parts):
        np.testing.assert_allclose(found.mean, X.mean(axis=0) * size)
        np.testing.assert_allclose(found.std, X.std(axis=0) * size)
        check_cells(found, "standard", False, listed)


def test_the_order_in_memory_changes_no_bit(rng):
    X = rng.standard_normal((50, 7))
    assert np.array_equal(summarise_columns(X).std, summarise_columns(np.asfortranarray(X)).std)


def test_a_very_wide_sparse_table_is_summarised_as_it_is(rng):
    X = rng.poisson(0.05, (100, 300)).astype(float)
    expected = summarise_columns(X)
    found = summarise_columns(csr_matrix(X), block_values=600)
    for name in ("mean", "std", "low", "high"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-12)
    np.testing.assert_array_equal(found.constant, expected.constant)


def refuse(X, scale="standard"):
    with pytest.raises(ValueError, match="feature") as refusal:
        check_cells(summarise_columns(np.array(X)), scale, False, listed)
    return str(refusal.value)


def test_values_too_large_or_too_close_to_be_scaled_are_named():
    assert refuse([[1.7e308, 1.0], [-1.7e308, 2.0]]).startswith("feature 0: values beyond 1e+307")
    assert refuse([[1.0, 0.0], [2.0, 1e-310]]).startswith("feature 1: values beyond 1e+307, or that differ by less")


def test_values_that_stay_unscaled_must_be_smaller():
    X = np.array([[1e300, 1.0], [2e300, 2.0]])
    check_cells(summarise_columns(X), "standard", False, listed)
    assert refuse(X, None).startswith("feature 0: values beyond 1e+15")
    small = np.array([[1e-30, 1.0], [2e-30, 2.0]])
    check_cells(summarise_columns(small), "standard", False, listed)
    assert refuse(small, "center").startswith("feature 0: values beyond 1e+15, or that differ by less than 1e-15")


def test_constant_features_may_have_any_value():
    check_cells(summarise_columns(np.array([[1.7e308, 1.0], [1.7e308, 2.0]])), None, False, listed)
