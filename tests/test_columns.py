import numpy as np
import pytest
from scipy.sparse import csr_matrix

from tamis.columns import row_blocks, summarise_columns


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
