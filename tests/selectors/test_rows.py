import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix

from tamis.selectors.rows import StandardisedRows

CPU = torch.device("cpu")


@pytest.fixture
def table(rng):
    return rng.integers(0, 9, size=(12, 5)).astype(np.uint8)


def rows_of(X, columns):
    dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    return StandardisedRows(X, columns, dense.mean(axis=0)[columns], dense.std(axis=0)[columns], CPU)


@pytest.mark.parametrize("columns", [np.arange(5), np.array([0, 3])])
def test_sparse_and_dense_give_equal_bits(table, columns):
    dense, sparse = rows_of(table, columns), rows_of(csr_matrix(table), columns)
    for chosen in (None, torch.tensor([7, 1, 1])):
        assert dense.take(chosen).dtype == torch.float32
        torch.testing.assert_close(dense.take(chosen), sparse.take(chosen), rtol=0, atol=0)


def test_rows_are_standardised(table):
    whole = rows_of(table, np.arange(5)).take(None).double()
    torch.testing.assert_close(whole.mean(dim=0), torch.zeros(5).double(), atol=1e-6, rtol=0)
    torch.testing.assert_close(whole.std(dim=0, correction=0), torch.ones(5).double(), atol=1e-6, rtol=0)


def test_a_sparse_matrix_is_not_made_dense_for_a_batch(table):
    rows = rows_of(csr_matrix(table), np.arange(5))
    rows.take(torch.tensor([0]))
    assert rows._whole is None


def test_the_table_is_not_changed(table):
    before = table.copy()
    rows_of(table, np.arange(5)).take(None).zero_()
    np.testing.assert_array_equal(table, before)
