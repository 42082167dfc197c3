"""UDFS against loops and identities."""

import numpy as np
import pytest
from naive_baselines import blobs, neighbour_lists, zscore

from tamis import UDFS
from tamis.columns import summarise_columns
from tamis.scaling import scale_table
from tamis.selectors.neighbour_graph import nearest_neighbours
from tamis.selectors.udfs import DenseScatter, LowRankScatter, local_matrix


def naive_local_matrix(X, k, ridge):
    n = len(X)
    G = np.zeros((n, n))
    for i, others in enumerate(neighbour_lists(X, k)):
        patch = [i, *others]
        H = np.eye(k + 1) - np.ones((k + 1, k + 1)) / (k + 1)
        centred = X[patch].T @ H
        S = np.zeros((n, k + 1))
        for position, row in enumerate(patch):
            S[row, position] = 1
        G += S @ H @ np.linalg.inv(centred.T @ centred + ridge * np.eye(k + 1)) @ H @ S.T
    return G


def naive_udfs(X, k, ridge, sparsity, c, rounds):
    M = X.T @ naive_local_matrix(X, k, ridge) @ X
    gamma = sparsity * np.trace(M) / len(M)
    U = np.diag(np.diag(M) / np.diag(M).mean())
    for _ in range(rounds):
        _, vectors = np.linalg.eigh(M + gamma * U)
        lengths = [np.sqrt((row**2).sum()) for row in vectors[:, :c]]
        U = np.diag([1 / (2 * np.sqrt(length**2 + 1e-12)) for length in lengths])
    return np.array(lengths)


def local_of(X, k=5, ridge=1.0):
    table = scale_table(X, summarise_columns(X), "standard")
    return table, local_matrix(table, nearest_neighbours(table, k), ridge)


@pytest.mark.parametrize(("n", "d"), [(30, 6), (12, 30)])
def test_scores_equal_loops(n, d):
    X = blobs(n, d)
    expected = naive_udfs(zscore(X), 4, 0.5, 0.02, 2, 6)
    selector = UDFS(n_clusters=2, n_neighbors=4, ridge=0.5, sparsity=0.02, max_iter=6, tol=0).fit(X)
    assert np.allclose(selector.scores_, expected, atol=1e-5)


def test_local_matrix_is_symmetric_and_positive_semidefinite():
    X = blobs(25, 5)
    _, G = local_of(X, 3, 0.1)
    assert np.allclose(G.toarray(), naive_local_matrix(zscore(X), 3, 0.1))
    assert np.array_equal(G.toarray(), G.toarray().T)
    values = np.linalg.eigvalsh(G.toarray())
    assert values.min() > -1e-12 * values.max()
    assert np.allclose(G.toarray().sum(axis=1), 0)


def test_low_rank_eigenvectors_equal_the_dense_ones():
    table, G = local_of(blobs(15, 40, seed=2))
    penalty = np.random.default_rng(0).uniform(0.5, 2, size=40)
    dense, low = DenseScatter(table.dense(), G), LowRankScatter(table.dense(), G)
    assert np.allclose(low.diagonal, dense.diagonal)
    (expected, exact), (values, found) = dense.smallest(penalty, 3, penalty), low.smallest(penalty, 3, penalty)
    assert np.allclose(exact @ exact.T, found @ found.T, atol=1e-7)
    assert np.allclose(np.sort(values), expected)


@pytest.mark.parametrize("d", [8, 100])
def test_objective_never_rises(d):
    objectives = UDFS(2, tol=0, max_iter=40).fit(blobs(d=d)).objectives_
    assert len(objectives) > 5
    assert (np.diff(objectives) <= 1e-8 * objectives[:-1]).all()


def test_stops_when_the_objective_stays():
    assert UDFS(2, tol=0.5, max_iter=40).fit(blobs()).n_iter_ < 5


def test_informative_columns_come_first():
    assert set(UDFS(2).fit(blobs()).selected_) == {1, 4}


@pytest.mark.parametrize("parameters", [{"ridge": 0}, {"sparsity": 0}, {"n_clusters": 0}, {"max_iter": 0}, {"tol": -1}])
def test_bad_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        UDFS(**parameters).fit(blobs())
