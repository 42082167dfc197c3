"""RSR against loops and identities."""

import numpy as np
import pytest
from naive_baselines import blobs, zscore

from tamis import RSR

EPSILON = 1e-12


def lengths_of(matrix):
    return np.array([np.sqrt(sum(value**2 for value in row)) for row in matrix])


def naive_rsr(X, sparsity, rounds):
    n, d = X.shape
    GL, GR, objectives = np.eye(n), np.eye(d), []
    for _ in range(rounds):
        W = np.linalg.inv(X.T @ GL @ X + sparsity * GR) @ X.T @ GL @ X
        errors, lengths = lengths_of(X - X @ W), lengths_of(W)
        GL = np.diag([1 / (2 * np.sqrt(error**2 + EPSILON)) for error in errors])
        GR = np.diag([1 / (2 * np.sqrt(length**2 + EPSILON)) for length in lengths])
        objectives.append(np.sqrt(errors**2 + EPSILON).sum() + sparsity * np.sqrt(lengths**2 + EPSILON).sum())
    return lengths, np.array(objectives)


@pytest.mark.parametrize(("n", "d"), [(24, 6), (12, 20)])
def test_scores_and_objectives_equal_loops(n, d):
    X = blobs(n, d, informative=(1, 3, 4))
    expected, objectives = naive_rsr(zscore(X), 5.0, 7)
    selector = RSR(sparsity=5.0, max_iter=7, tol=0).fit(X)
    assert np.allclose(selector.scores_, expected)
    assert np.allclose(selector.objectives_, objectives)


@pytest.mark.parametrize("sparsity", [1.0, 100.0])
@pytest.mark.parametrize("d", [8, 100])
def test_objective_never_rises(d, sparsity):
    objectives = RSR(2, sparsity=sparsity, tol=0, max_iter=40).fit(blobs(d=d)).objectives_
    assert (np.diff(objectives) <= 1e-9 * objectives[:-1]).all()


def test_informative_columns_come_first():
    assert set(RSR(3, sparsity=40).fit(blobs(informative=(1, 4, 6))).selected_) == {1, 4, 6}


@pytest.mark.parametrize("parameters", [{"sparsity": 0}, {"max_iter": 0}, {"tol": -1}])
def test_bad_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        RSR(**parameters).fit(blobs())
