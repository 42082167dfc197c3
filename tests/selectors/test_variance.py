"""The variance score."""

import numpy as np

from tamis import VarianceScore


def test_scores_are_variances():
    X = np.array([[0.0, 5, 1], [1, 0, 1], [0, 9, 2]])
    expected = [sum((v - sum(column) / 3) ** 2 for v in column) / 3 for column in X.T.tolist()]
    selector = VarianceScore(2).fit(X)
    assert np.allclose(selector.scores_, expected)
    assert selector.selected_.tolist() == [1, 0]
