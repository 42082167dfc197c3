"""SRCFS against loops and the Laplacian score."""

import math

import numpy as np
import pytest
from naive_baselines import blobs, heat_weights, laplacian_score, zscore

from tamis import SRCFS, LaplacianScore


def naive_srcfs(X, k, subspaces, partitions, seed):
    random, d = np.random.RandomState(seed), X.shape[1]
    total, width = np.zeros(d), math.ceil(d / subspaces)
    for _ in range(partitions):
        order = random.permutation(d)
        for start in range(0, d, width):
            block = order[start : start + width]
            W = heat_weights(X[:, block], k)
            for j in block:
                total[j] += 1 - laplacian_score(X[:, j], W)
    return total / partitions


def test_scores_equal_loops():
    X = blobs(12, 7)
    expected = naive_srcfs(zscore(X), 3, 3, 4, seed=5)
    selector = SRCFS(n_subspaces=3, n_partitions=4, n_neighbors=3, random_state=5).fit(X)
    assert np.allclose(selector.scores_, expected)


def test_one_block_is_the_laplacian_score():
    X = blobs(30, 9)
    expected = LaplacianScore().fit(X)
    selector = SRCFS(n_subspaces=1, n_partitions=3, random_state=0).fit(X)
    assert np.allclose(selector.scores_, expected.scores_)
    assert np.array_equal(selector.ranking_, expected.ranking_)


def test_informative_columns_come_first():
    assert set(SRCFS(2, random_state=0).fit(blobs()).selected_) == {1, 4}


def test_partitions_follow_the_seed():
    X = blobs(d=30)
    one, same, other = (SRCFS(random_state=seed).fit(X).scores_ for seed in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("parameters", [{"n_subspaces": 0}, {"n_partitions": 0}])
def test_bad_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        SRCFS(**parameters).fit(blobs())
