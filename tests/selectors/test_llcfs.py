"""LLCFS against loops and identities."""

import numpy as np
import pytest
from naive_baselines import blobs, neighbour_lists, zscore
from sklearn.exceptions import ConvergenceWarning

from tamis import LLCFS
from tamis.selectors.llcfs import kernel_neighbours, predictions, ridge_solutions


def naive_llcfs(X, k, beta, c, rounds):
    n, d = X.shape
    tau = np.full(d, 1 / d)
    for _ in range(rounds):
        lists = neighbour_lists(X * np.sqrt(tau), k)
        K = X @ np.diag(tau) @ X.T
        A, R = np.zeros((n, n)), []
        for i, near in enumerate(lists):
            Pi = np.eye(k) - np.ones((k, k)) / k
            Ki, ki = K[np.ix_(near, near)], K[i, near]
            R.append(Pi @ np.linalg.inv(Pi @ Ki @ Pi + np.eye(k) / beta))
            A[i, near] = (ki - Ki.sum(axis=0) / k) @ R[-1] + 1 / k
        _, vectors = np.linalg.eigh((np.eye(n) - A).T @ (np.eye(n) - A))
        sums = np.zeros(d)
        for i, near in enumerate(lists):
            for column in range(c):
                w = np.diag(tau) @ X[near].T @ R[i] @ vectors[near, column]
                sums += w**2
        tau = np.sqrt(sums) / np.sqrt(sums).sum()
    return tau


@pytest.mark.parametrize(("n", "d"), [(24, 5), (12, 20)])
def test_relevances_equal_loops(n, d):
    X = blobs(n, d)
    expected = naive_llcfs(zscore(X), 6, 0.5, 3, 4)
    selector = LLCFS(n_clusters=3, n_neighbors=6, beta=0.5, max_iter=4, tol=0).fit(X)
    assert np.allclose(selector.scores_, expected)


def test_two_forms_of_the_ridge_solution_agree():
    X = blobs(20, 5)
    K, beta = X @ X.T, 0.3
    members = kernel_neighbours(K, 6)
    Pi = np.eye(6) - 1 / 6
    for near, solution in zip(members, ridge_solutions(K, members, beta), strict=True):
        centred = Pi @ K[np.ix_(near, near)] @ Pi
        other = beta * (Pi - Pi @ np.linalg.inv(centred + np.eye(6) / beta) @ centred)
        assert np.allclose(solution, other)


def test_predictions_are_averages():
    X = blobs(20, 5)
    K = X @ X.T
    members = kernel_neighbours(K, 6)
    A = predictions(K, members, ridge_solutions(K, members, 0.3))
    assert np.allclose(A.sum(axis=1), 1)
    assert not A.diagonal().any()


@pytest.mark.parametrize("d", [8, 100])
def test_relevances_sum_to_one(d):
    scores = LLCFS(2).fit(blobs(d=d)).scores_
    assert scores.sum() == pytest.approx(1)
    assert (scores >= 0).all()


def test_informative_columns_come_first():
    assert set(LLCFS(2).fit(blobs()).selected_) == {1, 4}


def test_stops_when_the_relevances_stay():
    assert LLCFS(2, max_iter=100, tol=2.1).fit(blobs()).n_iter_ == 1


@pytest.mark.parametrize("parameters", [{"beta": 0}, {"n_clusters": 0}, {"n_neighbors": 0}, {"max_iter": 0}])
def test_bad_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        LLCFS(**parameters).fit(blobs())


def test_clusters_without_contact_are_a_warning():
    X = blobs(80, 6, informative=(1, 4), shift=100.0)
    with pytest.warns(ConvergenceWarning, match="Raise n_neighbors=5 above the size of the clusters, or n_clusters=2"):
        selector = LLCFS(2, n_clusters=2, n_neighbors=5).fit(X)
    assert np.allclose(selector.scores_, 1 / 6)
    assert set(LLCFS(2, n_clusters=2, n_neighbors=45).fit(X).selected_) == {1, 4}
