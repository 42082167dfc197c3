import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from stored_tables import NAMES, stored

from tamis.io.errors import TableError
from tamis.io.sources.derived import Derived, equal_total_factors, row_totals


@pytest.mark.parametrize("kind", ["npy", "sparse h5ad"])
def test_columns_totals_and_logarithms(kind, table, tmp_path, small_blocks):
    source = stored(kind, table, tmp_path)
    found = Derived(source, np.array([5, 2]), np.arange(50.0), log1p=True)[:]
    found = found.toarray() if issparse(found) else found
    np.testing.assert_allclose(found, np.log1p(table[:, [5, 2]] * np.arange(50.0)[:, None]))
    if kind == "sparse h5ad":
        assert Derived(source, np.array([5, 2])).names.tolist() == [NAMES[5], NAMES[2]]


def test_totals_become_equal(table, tmp_path, small_blocks):
    source = stored("sparse h5ad", table, tmp_path)
    scaled = Derived(source, factors=equal_total_factors(row_totals(table)))[:]
    np.testing.assert_allclose(csr_array(scaled).sum(axis=1), np.median(table.sum(axis=1)))


def test_counts_only(table, tmp_path):
    table[7, 1] = -2
    source = stored("npy", table, tmp_path)
    with pytest.raises(TableError, match="--scale is for counts, but the table holds negative numbers"):
        row_totals(table)
    with pytest.raises(TableError, match="rows 0 to 49: --log1p needs numbers above -1"):
        Derived(source, log1p=True)[:]
