"""The Laplacian score against loops."""

import numpy as np
import pytest
from naive_baselines import blobs, heat_weights, laplacian_score, zscore

from tamis import LaplacianScore


def test_scores_equal_loops():
    X = blobs(12, 4)
    Z = zscore(X)
    W = heat_weights(Z, 3)
    expected = [1 - laplacian_score(Z[:, j], W) for j in range(4)]
    assert np.allclose(LaplacianScore(n_neighbors=3).fit(X).scores_, expected)


def test_unscaled_scores_equal_loops():
    X = blobs(12, 4) * [1, 10, 0.1, 3] + 5
    W = heat_weights(X, 3, sigma=8.0)
    expected = [1 - laplacian_score(X[:, j], W) for j in range(4)]
    assert np.allclose(LaplacianScore(n_neighbors=3, bandwidth=8.0, scale=None).fit(X).scores_, expected)


def test_informative_columns_come_first():
    assert set(LaplacianScore(2).fit(blobs()).selected_) == {1, 4}


def test_column_that_varies_only_on_an_isolated_row_has_no_score():
    X = np.array([[0.0, 0], [0, 1], [0, 2], [0, 3], [1e9, 1]])
    # The far row has the weight exp(-huge) = 0 to all others, so the first column is constant on the graph.
    selector = LaplacianScore(n_neighbors=2, bandwidth=1.0, scale=None).fit(X)
    assert selector.scores_[0] == -np.inf
    assert selector.ranking_.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"bandwidth": "wide"}, "'bandwidth' parameter of LaplacianScore must be .*'pairwise'"),
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"scale": "minmax"}, "'scale' parameter"),
    ],
)
def test_bad_parameters_are_named(parameters, words):
    with pytest.raises(ValueError, match=words):
        LaplacianScore(**parameters).fit(blobs())
