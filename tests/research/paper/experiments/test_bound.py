import math

import pytest

from research.paper.experiments.bound import gamma, most_nuisance, share_apart, simulated_most


@pytest.mark.parametrize(("n", "epsilon"), [(2, 0.5), (5, 0.1), (50, 0.05)])
def test_gamma_gives_the_probability_back(n, epsilon):
    assert (1 - math.exp(-gamma(n, epsilon))) ** (2 * n**2 - n) == pytest.approx(1 - epsilon)


def test_the_two_segments_fill_the_gap_between_the_clusters():
    r, n = 10.0, 50
    d, g = most_nuisance(r, n), gamma(n, 0.05)
    assert 2 * math.sqrt(d * g) + 2 * g + 2 * math.sqrt(d * g) == pytest.approx(r**2)


def test_the_bound_is_zero_when_the_clusters_are_too_near():
    assert most_nuisance(1.0, 50) == 0


def test_the_bound_grows_as_the_fourth_power_for_large_r():
    assert most_nuisance(2000, 50) / most_nuisance(1000, 50) == pytest.approx(16, rel=1e-3)


@pytest.mark.parametrize("r", [8, 12])
def test_simulated_clusters_stay_apart_at_the_bound(r):
    d = int(most_nuisance(r, 10))
    assert d >= 10
    assert share_apart(r, 10, d, 2**-0.5, draws=100) >= 0.95


def test_far_beyond_the_bound_the_clusters_mix():
    assert share_apart(8, 10, 40 * int(most_nuisance(8, 10)), 2**-0.5, draws=20) < 0.5


def test_simulation_finds_a_limit_that_is_not_below_the_bound():
    assert simulated_most(8, 10, 2**-0.5, draws=20) >= most_nuisance(8, 10)


@pytest.mark.parametrize(("n", "epsilon"), [(0, 0.1), (5, 0), (5, 1)])
def test_impossible_settings_are_refused(n, epsilon):
    with pytest.raises(ValueError, match="n must be at least 1 and epsilon between 0 and 1; got"):
        gamma(n, epsilon)
