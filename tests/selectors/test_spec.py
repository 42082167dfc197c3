"""SPEC against loops and identities."""

import math

import numpy as np
import pytest
from naive_baselines import blobs, heat_weights, normalised_laplacian, zscore

from tamis import SPEC, LaplacianScore


def naive_phi(f, W, ranking, r, c):
    degree = [sum(row) for row in W]
    values, vectors = np.linalg.eigh(normalised_laplacian(W))
    weighted = [math.sqrt(degree[i]) * f[i] for i in range(len(f))]
    length = math.sqrt(sum(value**2 for value in weighted))
    a = [sum(weighted[i] / length * vectors[i, j] for i in range(len(f))) for j in range(len(f))]
    g = [max(value, 0) ** r if value > 1e-12 else 0.0 for value in values]
    if ranking == "phi1":
        return -sum(a[j] ** 2 * g[j] for j in range(len(f)))
    if ranking == "phi2":
        return -sum(a[j] ** 2 * g[j] for j in range(1, len(f))) / (1 - a[0] ** 2)
    return sum((2**r - g[j]) * a[j] ** 2 for j in range(1, c))


@pytest.mark.parametrize("exponent", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("ranking", ["phi1", "phi2", "phi3"])
def test_scores_equal_loops(ranking, exponent):
    X = blobs(14, 4, shift=3)
    Z = zscore(X)
    W = heat_weights(Z, 5)
    expected = [naive_phi(Z[:, j], W, ranking, exponent, 4) for j in range(4)]
    selector = SPEC(ranking=ranking, exponent=exponent, n_clusters=4).fit(X)
    assert np.allclose(selector.scores_, expected)


def test_phi2_with_exponent_one_is_the_laplacian_score():
    X = blobs(50, 10, seed=3)
    assert np.allclose(SPEC(ranking="phi2").fit(X).scores_, LaplacianScore().fit(X).scores_ - 1)


@pytest.mark.parametrize("scale", ["standard", None])
def test_phi2_does_not_depend_on_the_mean_of_a_column(scale):
    X = blobs(50, 10, seed=3)
    moved = X + np.arange(10)
    assert np.allclose(SPEC(scale=scale).fit(X).scores_, SPEC(scale=scale).fit(moved).scores_)


@pytest.mark.parametrize("ranking", ["phi1", "phi2", "phi3"])
@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_informative_columns_come_first(ranking, exponent):
    assert set(SPEC(2, ranking=ranking, exponent=exponent).fit(blobs()).selected_) == {1, 4}


def test_clusters_are_counted_without_labels():
    assert SPEC(2, ranking="phi3").fit(blobs()).n_clusters_ == 2


def test_column_that_varies_only_on_an_isolated_row_comes_last():
    X = np.array([[0.0, 0], [0, 1], [0, 2], [0, 3], [1e9, 1]])
    for ranking in ("phi1", "phi2"):
        selector = SPEC(ranking=ranking, n_neighbors=2, bandwidth=1.0, scale=None).fit(X)
        assert selector.scores_[0] == -np.inf


@pytest.mark.parametrize("parameters", [{"ranking": "phi4"}, {"exponent": 0}, {"n_clusters": 0}])
def test_bad_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        SPEC(**parameters).fit(blobs())
