import numpy as np
import pytest
from scipy.stats import ks_2samp, kstest, spearmanr

from tamis.structure import dependence as module
from tamis.structure.dependence import (
    COST,
    N_COMPONENTS,
    NEAR_COPY,
    PRODUCTS,
    dependence,
    dependence_on_components,
    strongest_dependence,
)
from tamis.structure.evidence import tail_probability
from tamis.structure.sample import rank_basis


def basis_of(X, n_shuffled=0, rng=None):
    return rank_basis(X, [np.arange(len(X))], n_shuffled, rng)


def strongest(X):
    return strongest_dependence(basis_of(X), X.shape[1], np.random.default_rng(0))[0]


@pytest.fixture
def table(rng):
    X = rng.standard_normal((70, 7))
    X[:, 1] = X[:, 0] ** 2 + 0.3 * rng.standard_normal(70)
    X[:, 2] = X[:, 2] > 0.3
    X[:, 4] = X[:, 3] + 0.8 * rng.standard_normal(70)
    X[:, 5] = rng.poisson(1.0, 70)
    return X


def naive_dependence(basis, i, j):
    n = basis.values.shape[2]
    left, right = basis.values[:, i].astype(float), basis.values[:, j].astype(float)
    r = np.array([[np.mean(a * b) for b in right] for a in left])
    freedom = sum(basis.present[a, i] and basis.present[b, j] for a, b in PRODUCTS)
    total = n * sum(r[pair] ** 2 for pair in PRODUCTS) - COST * (freedom - 1)
    return max(n * r[0, 0] ** 2, n * r[1, 1] ** 2, n * r[3, 3] ** 2, total)


def test_dependence_is_that_of_a_double_loop(table):
    basis = basis_of(table)
    T = dependence(basis, slice(None), slice(None))
    for i in range(7):
        for j in range(7):
            expected = np.inf if i == j else naive_dependence(basis, i, j)
            assert T[i, j] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_shapes_that_most_features_lack_are_multiplied_where_they_are(rng, missing):
    X = (rng.random((90, 12)) < 0.4).astype(float)
    X[:, ::5] = rng.standard_normal((90, 3))
    X[rng.random(X.shape) < missing] = np.nan
    basis = basis_of(X)
    assert basis.present[1].sum() == 3
    found = dependence(basis, slice(None), slice(None))
    continuous = np.flatnonzero(basis.present[1])
    # Of these alone, none lacks a shape.
    np.testing.assert_allclose(dependence(basis, continuous, continuous), found[np.ix_(continuous, continuous)], 1e-5)
    # Of two binary ones, only the trends are compared.
    binary = np.setdiff1d(np.arange(12), continuous)
    expected = dependence(basis, binary, binary, PRODUCTS[:1])
    np.testing.assert_allclose(np.delete(np.delete(found, continuous, 0), continuous, 1), expected, 1e-5)


def test_the_trend_is_the_rank_correlation_of_spearman(rng):
    X = rng.standard_normal((60, 2)) @ [[1, 0.9], [0, 0.5]]
    basis = basis_of(X)
    r = np.mean(basis.values[0, 0] * basis.values[0, 1], dtype=float)
    assert r == pytest.approx(spearmanr(X).statistic, abs=1e-6)


def test_dependence_is_about_chi_squared_for_one_degree(rng):
    X = (rng.random((400, 150)) < 0.5).astype(float)
    T = dependence(basis_of(X), slice(75), slice(75, None))
    assert np.mean(T) == pytest.approx(1, abs=0.1)
    assert np.mean(T > 3.84) == pytest.approx(0.05, abs=0.01)


def test_near_copies_have_an_infinite_value_and_are_no_evidence(rng):
    x, y = rng.standard_normal((2, 100))
    X = np.column_stack([x, x + 0.01 * y, -x, rng.standard_normal(100)])
    basis = basis_of(X)
    assert np.isposinf(dependence(basis, slice(None), slice(None))[0, :3]).all()
    found = strongest(X)
    assert found.n_copies.tolist() == [2, 2, 2, 0]
    assert found.partner[:3].tolist() == [3, 3, 3]
    assert found.strength.max() < 12


def test_a_correlation_below_that_of_copies_is_evidence(rng):
    x = rng.standard_normal(200)
    X = np.column_stack([x, x + 0.4 * rng.standard_normal(200)])
    assert 0.85 < spearmanr(X).statistic < NEAR_COPY
    found = strongest(X)
    assert found.partner.tolist() == [1, 0]
    assert found.strength.min() > 100


@pytest.mark.parametrize("tile", [512, 3])
def test_strongest_dependence_is_the_largest_of_the_row(table, monkeypatch, tile):
    monkeypatch.setattr(module, "TILE", tile)
    X = np.column_stack([table, table[:, 0]])
    basis = basis_of(X)
    T = dependence(basis, slice(None), slice(None))
    T[np.isinf(T)] = -np.inf
    found = strongest(X)
    np.testing.assert_allclose(found.strength, T.max(axis=1), rtol=1e-5)
    np.testing.assert_array_equal(found.partner, T.argmax(axis=1))
    assert found.n_copies.tolist() == [1, 0, 0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("tile", [512, 3])
def test_shuffled_features_are_compared_with_the_others_alone(table, monkeypatch, rng, tile):
    monkeypatch.setattr(module, "TILE", tile)
    basis = basis_of(table, 10, rng)
    found, null = strongest_dependence(basis, 7, rng)
    T = dependence(basis, slice(7, None), slice(7))
    np.testing.assert_allclose(null, T.max(axis=1), rtol=1e-5)
    np.testing.assert_allclose(found.strength, strongest(table).strength, rtol=1e-5)
    np.testing.assert_array_equal(found.partner, strongest(table).partner)


def test_a_feature_without_others_has_no_partner(rng):
    found = strongest(rng.standard_normal((30, 1)))
    assert found.partner.tolist() == [-1]
    assert np.isneginf(found.strength).all()


def test_shuffling_keeps_the_values_of_a_feature_in_its_batches_and_its_degrees_together(rng):
    batches = [np.arange(15), np.arange(15, 40)]
    basis = rank_basis(rng.standard_normal((40, 1)), batches, 2, rng)
    original, *shuffled = basis.values.transpose(1, 2, 0)
    for values in shuffled:
        assert not np.array_equal(values, original)
        for rows in batches:
            assert sorted(map(tuple, values[rows])) == sorted(map(tuple, original[rows]))
    assert basis.present.all()


def test_pvalues_of_independent_features_are_uniform(rng):
    basis = basis_of(rng.standard_normal((80, 300)), 2000, rng)
    found, null = strongest_dependence(basis, 300, rng)
    assert len(null) == 2000
    assert kstest(tail_probability(found.strength, np.sort(null)), "uniform").pvalue > 0.01


@pytest.fixture
def wide(rng, monkeypatch):
    """Thirty groups of four features, half of them opposite, among 4,000; buckets of 32."""
    monkeypatch.setattr(module, "BUCKET", 32)
    monkeypatch.setattr(module, "ROUNDS", 8)
    X = rng.standard_normal((150, 4000))
    X[:, :120] += 2 * np.repeat(rng.standard_normal((150, 30)), 4, axis=1) * np.tile([1, 1, -1, -1], 30)
    return basis_of(X, 500, rng)


def test_groups_in_wide_tables_are_found_without_comparing_all_pairs(wide, rng):
    found, null = strongest_dependence(wide, 4000, rng)
    known = found.partner[:120] // 4 == np.arange(120) // 4
    assert known.mean() > 0.95
    assert found.partner.max() < 4000
    assert ks_2samp(found.strength[120:], null).pvalue > 0.01


def test_strengths_in_wide_tables_are_those_of_the_partners(wide, rng):
    found, _ = strongest_dependence(wide, 4000, rng)
    for j in (0, 50, 119, 3000):
        pair = slice(j, j + 1), slice(found.partner[j], found.partner[j] + 1)
        assert found.strength[j] == pytest.approx(float(dependence(wide, *pair)[0, 0]), rel=1e-4)


def test_copies_in_wide_tables_are_counted_once(wide, rng):
    values = wide.values.copy()
    values[:, 1:3] = values[:, :1]
    found, _ = strongest_dependence(wide._replace(values=values), 4000, rng)
    assert found.n_copies[:3].tolist() == [2, 2, 2]


def test_copies_and_features_of_one_owner_are_not_each_others_components(rng):
    once = rng.standard_normal((500, 14))
    basis, pair = basis_of(np.repeat(once, 2, axis=1)), np.arange(28) // 2
    alone, copy = np.full(28, -1), np.arange(28) ^ 1
    unknown, by_copy, by_owner = (
        dependence_on_components(basis, *told, np.random.default_rng(0))[0]
        for told in ((alone, None), (copy, None), (alone, pair))
    )
    assert unknown.max() > 100
    assert by_copy.max() < 25
    np.testing.assert_array_equal(by_owner, by_copy)


def test_dependence_on_components_is_that_of_a_singular_value_decomposition(rng):
    X = rng.standard_normal((60, 100)) + rng.standard_normal((60, 1))
    basis, alone = basis_of(X, 50, rng), np.full(100, -1)
    strength, null, law = dependence_on_components(basis, alone, None, np.random.default_rng(0))
    part = np.random.default_rng(0).integers(4, size=100)
    trends = basis.values[0].astype(float)
    for j in (0, 17, 99):
        first = np.linalg.svd(trends[:100][part != part[j]])[2][:1]
        assert strength[j] >= (first @ trends[j])[0] ** 2 * 0.999
    np.testing.assert_array_equal(law, np.tile(basis.law[100:], 4))
    assert len(null) == 4 * 50
    assert strength.min() > np.quantile(null, 0.9)


def test_few_features_have_no_components(rng):
    basis = basis_of(rng.standard_normal((60, N_COMPONENTS)), 5, rng)
    strength, null, law = dependence_on_components(basis, np.full(N_COMPONENTS, -1), None, rng)
    assert np.isneginf(strength).all()
    assert not len(null)
    assert not len(law)
