"""The scaled table, block by block."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tamis.columns import summarise_columns
from tamis.scaling import scale_table


@pytest.fixture(params=["dense", "sparse", "fortran"])
def stored(request):
    X = np.random.default_rng(0).poisson(1.0, size=(13, 7)).astype(np.uint8)
    X[:, 2] = 4
    return {"dense": X, "sparse": csr_array(X), "fortran": np.asfortranarray(X)}[request.param]


def plain(stored):
    return (stored.toarray() if hasattr(stored, "toarray") else stored).astype(float)[:, [0, 1, 3, 4, 5, 6]]


def test_scaling_leaves_out_constant_columns(stored):
    table = scale_table(stored, summarise_columns(stored), "standard")
    values = plain(stored)
    assert table.columns.tolist() == [0, 1, 3, 4, 5, 6]
    assert np.allclose(table.dense(), (values - values.mean(0)) / values.std(0))


@pytest.mark.parametrize(("scale", "shift"), [("center", True), (None, False)])
def test_other_scales(stored, scale, shift):
    values = plain(stored)
    expected = values - values.mean(0) if shift else values
    assert np.allclose(scale_table(stored, summarise_columns(stored), scale).dense(), expected)


def test_blocks_put_together_are_the_table(stored):
    table = scale_table(stored, summarise_columns(stored), "standard")
    assert np.array_equal(np.vstack([block for _, block in table.row_blocks(20)]), table.dense())
    assert np.array_equal(np.hstack([block for _, block in table.column_blocks(20)]), table.dense())


def test_subset_shows_some_columns(stored):
    table = scale_table(stored, summarise_columns(stored), "standard")
    part = table.subset(np.array([4, 1]))
    assert part.columns.tolist() == [5, 1]
    assert np.array_equal(part.dense(), table.dense()[:, [4, 1]])
    assert np.array_equal(np.hstack([block for _, block in part.column_blocks(13)]), part.dense())


def test_columns_too_small_to_have_a_spread_stay_finite():
    X = np.array([[1e-200, 1.0], [3e-200, 2.0], [2e-200, 4.0]])
    assert np.isfinite(scale_table(X, summarise_columns(X), "standard").dense()).all()
