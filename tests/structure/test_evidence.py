import numpy as np
import pytest
from scipy.stats import false_discovery_control

from tamis.structure.evidence import TAIL_SHARE, discoveries, tail_probability


@pytest.fixture
def ordered(rng):
    return np.sort(rng.gumbel(size=2000))


def test_tail_probability_never_rises(ordered):
    values = np.linspace(ordered[0] - 1, ordered[-1] + 20, 5000)
    assert (np.diff(tail_probability(values, ordered)) <= 1e-12).all()


def test_tail_probability_is_the_share_of_draws_below_the_tail(ordered):
    for value in np.quantile(ordered, [0.0, 0.1, 0.5, 0.8, 0.89]):
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
    found = tail_probability(np.array([9.0]), ordered)[0]
    assert abs(np.log(found / -np.expm1(-np.exp(-9.0)))) < 1


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


def test_values_that_are_not_finite_have_the_probability_one(ordered):
    first, second = tail_probability(np.array([-np.inf, 50.0]), ordered)
    assert first == 1
    assert second < 1e-6
