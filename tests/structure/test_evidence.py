import numpy as np
import pytest
from scipy.stats import false_discovery_control, kstest

from tamis.structure.bases import rank_basis
from tamis.structure.dependence import Strongest, strongest_dependence
from tamis.structure.evidence import TAIL_SHARE, dependence_pvalues, discoveries, null_strengths, tail_probability


@pytest.fixture
def ordered(rng):
    return np.sort(rng.gumbel(size=2000))


def test_tail_probability_never_rises(ordered):
    values = np.linspace(ordered[0] - 1, ordered[-1] + 20, 5000)
    assert (np.diff(tail_probability(values, ordered)) <= 1e-12).all()


def test_tail_probability_is_the_share_of_draws_below_the_tail(ordered):
    for value in np.quantile(ordered, [0.0, 0.1, 0.5, 0.9, 0.97]):
        share = (1 + np.sum(ordered >= value)) / 2001
        assert tail_probability(np.array([value]), ordered)[0] == pytest.approx(share)


def test_tail_probability_is_exponential_beyond(ordered):
    top = int(TAIL_SHARE * 2000)
    threshold = ordered[-top]
    excess = np.mean(ordered[-top:] - threshold)
    values = ordered[-1] + np.array([0.5, 3.0, 30.0])
    np.testing.assert_allclose(tail_probability(values, ordered), TAIL_SHARE * np.exp((threshold - values) / excess))


def test_draws_far_beyond_the_tail_count_as_often_as_they_are():
    ordered = np.sort(np.r_[np.random.default_rng(0).standard_normal(1990), np.full(10, 50.0)])
    assert tail_probability(np.array([50.0]), ordered)[0] >= 10 / 2000


def test_tail_probability_is_near_the_truth_far_out(ordered):
    assert tail_probability(np.array([9.0]), ordered)[0] == pytest.approx(1 - np.exp(-np.exp(-9.0)), rel=0.9)


@pytest.mark.parametrize("draws", [[], [1.0]])
def test_tail_probability_without_draws_is_one(draws):
    assert tail_probability(np.array([0.0, 5.0]), np.array(draws)).tolist() == [1.0, 1.0]


def test_tail_probability_of_draws_that_are_all_alike():
    alike = np.zeros(100)
    assert tail_probability(np.array([0.0]), alike)[0] == 1
    assert tail_probability(np.array([1.0]), alike)[0] == 0


@pytest.mark.parametrize("fdr", [0.01, 0.1, 0.3])
def test_discoveries_are_those_of_benjamini_and_hochberg(rng, fdr):
    pvalues = np.r_[rng.random(60), rng.random(20) * 0.001, 0.02, 0.02, 1.0]
    np.testing.assert_array_equal(discoveries(pvalues, fdr), false_discovery_control(pvalues) <= fdr)
    assert discoveries(pvalues, fdr).any()


def test_there_are_no_discoveries_among_nothing_or_large_pvalues():
    assert discoveries(np.array([]), 0.1).tolist() == []
    assert discoveries(np.array([0.2, 0.9, 1.0]), 0.1).tolist() == [False] * 3


def test_a_feature_without_a_partner_has_the_pvalue_one(ordered):
    found = Strongest(np.array([-np.inf, 50.0], np.float32), np.array([-1, 0]), np.zeros(2, np.intp))
    first, second = dependence_pvalues(found, ordered)
    assert first == 1
    assert second < 1e-6


def test_pvalues_of_independent_features_are_uniform(rng):
    X = rng.standard_normal((80, 300))
    basis = rank_basis(X, [np.arange(80)])
    null = null_strengths(basis, np.arange(300), [np.arange(80)], rng)
    assert len(null) >= 2000
    assert (np.diff(null) >= 0).all()
    assert kstest(dependence_pvalues(strongest_dependence(basis), null), "uniform").pvalue > 0.01


def test_null_strengths_are_drawn_until_there_are_enough(rng):
    basis = rank_basis(rng.standard_normal((40, 3)), [np.arange(40)])
    assert 50 <= len(null_strengths(basis, np.arange(3), [np.arange(40)], rng, n_draws=50)) < 54


def test_no_features_and_one_feature_have_no_null(rng):
    for d in (0, 1):
        basis = rank_basis(rng.standard_normal((40, d)), [np.arange(40)])
        assert null_strengths(basis, np.arange(d), [np.arange(40)], rng, n_draws=5).tolist() == []
