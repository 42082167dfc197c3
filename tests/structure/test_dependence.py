import numpy as np
import pytest
from scipy.stats import spearmanr

from tamis.structure.bases import rank_basis
from tamis.structure.dependence import NEAR_COPY, dependence, strongest_among, strongest_dependence


def basis_of(X):
    return rank_basis(X, [np.arange(len(X))])


@pytest.fixture
def table(rng):
    X = rng.standard_normal((70, 7))
    X[:, 1] = X[:, 0] ** 2 + 0.3 * rng.standard_normal(70)
    X[:, 2] = X[:, 2] > 0.3
    X[:, 4] = X[:, 3] + 0.8 * rng.standard_normal(70)
    X[:, 5] = rng.poisson(1.0, 70)
    return X


def cube_root(statistic, freedom):
    """Wilson and Hilferty's normal value of a chi-squared one."""
    return ((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / (2 / (9 * freedom)) ** 0.5


def naive_dependence(basis, i, j):
    n = basis.n_rows
    left, right = basis.values[:, i].astype(float), basis.values[:, j].astype(float)
    r = np.array([[np.mean(a * b) for b in right] for a in left])
    freedom = basis.present[:, i].sum() * basis.present[:, j].sum()
    single = max(n * r[0, 0] ** 2, n * r[1, 1] ** 2)
    return max(cube_root(single, 1), cube_root(n * (r**2).sum(), freedom))


def test_dependence_is_that_of_a_double_loop(table):
    basis = basis_of(table)
    z = dependence(basis, basis)
    for i in range(7):
        for j in range(7):
            expected = np.inf if i == j else naive_dependence(basis, i, j)
            assert z[i, j] == pytest.approx(expected, abs=1e-3)


def test_the_trend_is_the_rank_correlation_of_spearman(rng):
    X = rng.standard_normal((60, 2)) @ [[1, 0.9], [0, 0.5]]
    basis = basis_of(X)
    r = np.mean(basis.values[0, 0] * basis.values[0, 1], dtype=float)
    assert r == pytest.approx(spearmanr(X).statistic, abs=1e-6)


def test_dependence_is_about_standard_normal_for_one_degree(rng):
    X = (rng.random((400, 150)) < 0.5).astype(float)
    z = dependence(basis_of(X[:, :75]), basis_of(X[:, 75:]))
    assert abs(np.mean(z)) < 0.1
    assert np.std(z) == pytest.approx(1, abs=0.1)


def test_near_copies_have_an_infinite_value_and_are_no_evidence(rng):
    x, y = rng.standard_normal((2, 100))
    X = np.column_stack([x, x + 0.01 * y, -x, rng.standard_normal(100)])
    basis = basis_of(X)
    assert np.isposinf(dependence(basis, basis)[0, :3]).all()
    found = strongest_dependence(basis)
    assert found.n_copies.tolist() == [2, 2, 2, 0]
    assert found.partner[:3].tolist() == [3, 3, 3]
    assert found.strength.max() < 4


def test_a_correlation_below_that_of_copies_is_evidence(rng):
    x = rng.standard_normal(200)
    X = np.column_stack([x, x + 0.4 * rng.standard_normal(200)])
    assert 0.85 < spearmanr(X).statistic < NEAR_COPY
    found = strongest_dependence(basis_of(X))
    assert found.partner.tolist() == [1, 0]
    assert found.strength.min() > 8


@pytest.mark.parametrize("tile", [512, 3])
def test_strongest_dependence_is_the_largest_of_the_row(table, monkeypatch, tile):
    monkeypatch.setattr("tamis.structure.dependence.TILE", tile)
    basis = basis_of(table)
    z = dependence(basis, basis)
    np.fill_diagonal(z, -np.inf)
    found = strongest_dependence(basis)
    np.testing.assert_allclose(found.strength, z.max(axis=1), rtol=1e-5)
    np.testing.assert_array_equal(found.partner, z.argmax(axis=1))
    assert not found.n_copies.any()


@pytest.mark.parametrize("tile", [512, 3])
def test_strongest_among_all_features_is_the_strongest_dependence(table, monkeypatch, tile):
    monkeypatch.setattr("tamis.structure.dependence.TILE", tile)
    basis = basis_of(np.column_stack([table, table[:, 0]]))
    everyone = np.arange(8)
    every, among = strongest_dependence(basis), strongest_among(basis, everyone, basis, everyone)
    np.testing.assert_allclose(among.strength, every.strength, rtol=1e-5)
    np.testing.assert_array_equal(among.partner, every.partner)
    np.testing.assert_array_equal(among.n_copies, every.n_copies)
    assert every.n_copies.tolist() == [1, 0, 0, 0, 0, 0, 0, 1]


def test_strongest_among_some_names_them_by_their_numbers(table):
    basis = basis_of(table)
    partners = np.array([1, 4, 6])
    found = strongest_among(basis.take(np.array([0, 3])), np.array([0, 3]), basis.take(partners), partners)
    assert found.partner.tolist() == [1, 4]


def test_a_feature_without_others_has_no_partner(rng):
    found = strongest_dependence(basis_of(rng.standard_normal((30, 1))))
    assert found.partner.tolist() == [-1]
    assert np.isneginf(found.strength).all()
