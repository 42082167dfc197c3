"""MCFS against an independent least-angle regression."""

import numpy as np
import pytest
from naive_baselines import blobs, heat_weights, normalised_laplacian, zscore

from tamis import MCFS


def naive_lars(X, y, steps):
    """Least-angle regression, written from Efron et al. (2004), equation by equation."""
    d = X.shape[1]
    active, beta = [], np.zeros(d)
    for step in range(steps):
        correlations = X.T @ (y - X @ beta)
        largest = max(abs(correlations))
        if step == 0:
            active.append(int(np.argmax(np.abs(correlations))))
        signs = [np.sign(correlations[j]) for j in active]
        XA = np.column_stack([s * X[:, j] for s, j in zip(signs, active, strict=True)])
        inverse = np.linalg.inv(XA.T @ XA)
        size = 1 / np.sqrt(inverse.sum())
        weights = size * inverse.sum(axis=1)
        inner = X.T @ (XA @ weights)
        best, entering = largest / size, None
        for j in range(d):
            if j in active:
                continue
            options = ((largest - correlations[j]) / (size - inner[j]), (largest + correlations[j]) / (size + inner[j]))
            for gamma in options:
                if 1e-12 < gamma < best:
                    best, entering = gamma, j
        for s, j, w in zip(signs, active, weights, strict=True):
            beta[j] += best * s * w
        active.append(entering)
    return beta


def naive_targets(X, k, count):
    distances = [np.sqrt(((a - b) ** 2).sum()) for i, a in enumerate(X) for j, b in enumerate(X) if i != j]
    W = heat_weights(X, k, sigma=np.mean(distances))
    _, vectors = np.linalg.eigh(normalised_laplacian(W))
    return vectors[:, 1 : count + 1] / np.sqrt(W.sum(axis=1))[:, None]


@pytest.mark.parametrize(("n", "d"), [(20, 6), (12, 16)])
def test_scores_equal_loops(n, d):
    X = blobs(n, d, shift=3)
    Z = zscore(X)
    targets = naive_targets(Z, 5, 3)
    expected = np.array([naive_lars(Z, y, 4) for y in targets.T])
    selector = MCFS(n_eigenvectors=3, n_nonzero=4).fit(X)
    assert np.allclose(np.abs(selector.coefficients_), np.abs(expected))
    assert np.allclose(selector.scores_, np.abs(expected).max(axis=0))


def test_scores_are_absolute():
    X = blobs()
    X[:, 4] *= -1
    selector = MCFS(2, n_eigenvectors=1).fit(X)
    assert selector.coefficients_.min() < 0 < selector.coefficients_.max()
    assert (selector.scores_ >= 0).all()
    assert np.allclose(selector.scores_, np.abs(selector.coefficients_).max(axis=0))
    assert set(selector.selected_) == {1, 4}


@pytest.mark.parametrize("d", [8, 60])
def test_every_regression_has_as_many_weights_as_asked(d):
    selector = MCFS(5).fit(blobs(d=d))
    assert ((selector.coefficients_ != 0).sum(axis=1) == 5).all()
    selector = MCFS(5, n_nonzero=7).fit(blobs(d=d))
    assert ((selector.coefficients_ != 0).sum(axis=1) == 7).all()


def test_more_weights_than_rows_are_cut():
    selector = MCFS(30).fit(blobs(n=10, d=60))
    assert ((selector.coefficients_ != 0).sum(axis=1) <= 9).all()
    assert len(selector.selected_) == 30


@pytest.mark.parametrize("parameters", [{"n_eigenvectors": 0}, {"n_nonzero": 0}])
def test_bad_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        MCFS(**parameters).fit(blobs())
