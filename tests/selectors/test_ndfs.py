"""NDFS against loops and identities."""

import numpy as np
import pytest
from naive_baselines import blobs, heat_weights, normalised_laplacian, zscore

from tamis import NDFS

EPSILON = 1e-12


def naive_objective(X, L, F, W, alpha, beta, gamma):
    lengths = sum(np.sqrt((row**2).sum() + EPSILON) for row in W)
    fit = sum((X[i] @ W[:, c] - F[i, c]) ** 2 for i in range(len(X)) for c in range(F.shape[1]))
    penalty = ((F.T @ F - np.eye(F.shape[1])) ** 2).sum()
    return np.trace(F.T @ L @ F) + alpha * (fit + beta * lengths) + gamma / 2 * penalty


def naive_ndfs(X, F, alpha, beta, gamma, rounds):
    n, d = X.shape
    c = F.shape[1]
    L = normalised_laplacian(heat_weights(X, 5))
    U, objectives = np.diag(np.full(d, 1 / (2 * np.sqrt(c)))), []
    for _ in range(rounds):
        inverse = np.linalg.inv(X.T @ X + beta * U)
        M = L + alpha * (np.eye(n) - X @ inverse @ X.T)

        def value(F, M=M):
            return np.trace(F.T @ M @ F) + gamma / 2 * ((F.T @ F - np.eye(c)) ** 2).sum()

        slope, cubic, power = M @ F, F @ F.T @ F, 1.0
        while True:
            new = np.zeros_like(F)
            for i in range(n):
                for j in range(c):
                    top = gamma * F[i, j] + max(-slope[i, j], 0)
                    new[i, j] = F[i, j] * (top / (max(slope[i, j], 0) + gamma * cubic[i, j])) ** power
            if value(new) <= value(F):
                break
            power /= 2
        F = new
        W = inverse @ X.T @ F
        U = np.diag([1 / (2 * np.sqrt((row**2).sum() + EPSILON)) for row in W])
        objectives.append(naive_objective(X, L, F, W, alpha, beta, gamma))
    return np.array([np.sqrt((row**2).sum()) for row in W]), np.array(objectives)


@pytest.mark.parametrize(("n", "d"), [(24, 6), (12, 30)])
def test_scores_and_objectives_equal_loops(n, d):
    X = blobs(n, d, informative=(1, 2, 3, 4))
    F = np.full((n, 2), 0.2)
    F[: n // 2, 0] += 1
    F[n // 2 :, 1] += 1
    F /= np.sqrt((F**2).sum(axis=0))
    expected, objectives = naive_ndfs(zscore(X), F, 0.5, 2.0, 1e3, 6)
    selector = NDFS(n_clusters=2, alpha=0.5, beta=2.0, gamma=1e3, max_iter=6, tol=0, random_state=0).fit(X)
    assert np.allclose(selector.scores_, expected, rtol=1e-6)
    assert np.allclose(selector.objectives_, objectives)


@pytest.mark.parametrize("gamma", [1.0, 1e8])
@pytest.mark.parametrize("d", [8, 100])
def test_objective_never_rises(d, gamma):
    selector = NDFS(2, gamma=gamma, tol=0, max_iter=40, random_state=0).fit(blobs(d=d))
    objectives = selector.objectives_
    assert len(objectives) == 40
    assert (np.diff(objectives) <= 1e-9 * objectives[:-1]).all()
    assert (selector.indicators_ >= 0).all()


def test_stops_when_the_objective_stays():
    assert NDFS(2, tol=0.01, max_iter=200, random_state=0).fit(blobs()).n_iter_ < 200


def test_informative_columns_come_first():
    assert set(NDFS(2, random_state=0).fit(blobs()).selected_) == {1, 4}


@pytest.mark.parametrize("parameters", [{"alpha": 0}, {"beta": -1}, {"gamma": 0}, {"n_clusters": 0}, {"max_iter": 0}])
def test_bad_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        NDFS(**parameters).fit(blobs())
