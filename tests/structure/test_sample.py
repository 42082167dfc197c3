import numpy as np

from tamis.io.sources import RowBlocks
from tamis.structure.sample import sample_rows, standardised


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
