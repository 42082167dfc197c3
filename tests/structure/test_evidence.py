import numpy as np
import pytest
from scipy.stats import false_discovery_control

from tamis.structure.evidence import (
    SCALES,
    TAIL_SHARE,
    UNIFORM_DRAWS,
    discoveries,
    multimodality_pvalues,
    tail_probability,
)


@pytest.fixture
def ordered(rng):
    return np.sort(rng.gumbel(size=2000))


def test_tail_probability_never_rises(ordered):
    values = np.linspace(ordered[0] - 1, ordered[-1] + 20, 5000)
    assert (np.diff(tail_probability(values, ordered)) <= 1e-12).all()


def test_tail_probability_is_the_share_of_draws_below_the_tail(ordered):
    for value in np.quantile(ordered, [0.0, 0.1, 0.5, 0.7, 0.79]):
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


def test_features_of_one_owner_count_once():
    pvalues, owner = np.r_[np.full(50, 1e-6), np.linspace(0.03, 1, 10)], np.r_[np.zeros(50, int), np.arange(1, 11)]
    assert discoveries(pvalues, 0.1).sum() > 50
    assert discoveries(pvalues, 0.1, owner).sum() == 50


def test_chance_is_the_larger_one_of_all_draws_and_of_those_of_the_law(rng):
    null, of_null = np.r_[rng.exponential(5, 500), rng.exponential(1, 500), -np.inf], np.r_[np.repeat([0, 1], 500), 0]
    strength, law = np.array([20.0, 20.0, 1.0, -np.inf]), np.array([0, 1, 1, 0])
    every = tail_probability(strength, null)
    assert tail_probability(strength, null[:500])[0] > every[0]
    found = tail_probability(strength, null, laws=(law, of_null))
    assert found[0] == tail_probability(strength, null[:500])[0]
    assert found[3] == 1
    # Of the second law the roots have the tail.
    own = tail_probability(np.sqrt(strength[1:3]), np.sqrt(null[500:1000]))
    np.testing.assert_allclose(found[1:3], np.maximum(every[1:3], own))


def test_there_are_no_discoveries_among_nothing_or_large_pvalues():
    assert discoveries(np.array([]), 0.1).tolist() == []
    assert discoveries(np.array([0.2, 0.9, 1.0]), 0.1).tolist() == [False] * 3


def test_values_that_are_not_finite_have_the_probability_one(ordered):
    first, second = tail_probability(np.array([-np.inf, 50.0]), ordered)
    assert first == 1
    assert second < 1e-6


N = 300


def drawn(rng, law, d=100, n=N):
    return {
        "uniform": lambda: rng.random((n, d)),
        "normal": lambda: rng.standard_normal((n, d)),
        "rounded": lambda: rng.standard_normal((n, d)).round(1),
        "poisson": lambda: rng.poisson(30.0, (n, d)).astype(float),
        "lognormal": lambda: rng.lognormal(0, 1.5, (n, d)),
        "exponential": lambda: rng.exponential(size=(n, d)),
        "cauchy": lambda: rng.standard_cauchy((n, d)),
    }[law]()


def two_modes(rng, d, n=N):
    return rng.standard_normal((n, d)) + 6 * (rng.random((n, d)) < 0.4)


@pytest.mark.parametrize("law", ["uniform", "normal", "rounded", "poisson", "lognormal", "exponential", "cauchy"])
def test_features_with_one_mode_are_not_called_multimodal(rng, law):
    pvalues = multimodality_pvalues(drawn(rng, law))
    assert (pvalues <= 0.05).mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 100)
    assert pvalues.min() > 1e-4


ATOMS = {
    "a limit of detection": lambda x, rng: np.maximum(x, np.quantile(x, 0.045, axis=0)),
    "a cap": lambda x, rng: np.minimum(x, np.quantile(x, 0.96, axis=0)),
    "favourite numbers": lambda x, rng: np.where(rng.random(x.shape) < 0.1, x.round(), x.round(2)),
}


@pytest.mark.parametrize("atom", ATOMS)
def test_a_value_that_is_repeated_more_than_its_neighbours_is_no_mode(rng, atom):
    noise, two = rng.standard_normal((1000, 100)), rng.standard_normal((1000, 20)) + 5 * rng.integers(2, size=(1000, 1))
    assert (multimodality_pvalues(ATOMS[atom](noise, rng)) < 0.05).mean() <= 0.05
    assert (multimodality_pvalues(ATOMS[atom](two, rng)) < 0.01).all()


@pytest.mark.parametrize("decimals", [16, 1], ids=["continuous", "rounded"])
def test_two_modes_are_called(rng, decimals):
    assert multimodality_pvalues(two_modes(rng, 10).round(decimals)).max() < 1e-3


def naive_depth(x, m):
    """Logarithm of the deepest valley, by the formula, one row at a time."""
    density = [1 / (x[i + m] - x[i]) for i in range(len(x) - m)]
    depths = [min(max(density[: i + 1]), max(density[i:])) / f for i, f in enumerate(density)]
    return np.log(max(depths))


def test_pvalues_are_the_tail_of_the_naive_depths_of_uniform_features(rng):
    X = rng.random((100, 3)) + 0.3 * (rng.random((100, 3)) < 0.5)
    null = np.sort(np.random.default_rng(100).random((UNIFORM_DRAWS, 100)), axis=1)[:80]
    pvalues = multimodality_pvalues(X)
    for j in range(3):
        beaten = [
            np.mean([naive_depth(row, int(s * 100)) >= naive_depth(np.sort(X[:, j]), int(s * 100)) for row in null])
            for s in SCALES
        ]
        # The smallest of three dependent tails lies between itself and three times itself.
        assert min(beaten) - 0.12 <= pvalues[j] <= 3 * min(beaten) + 0.12


def test_discrete_features_and_those_of_few_rows_cannot_be_told(rng):
    discrete = rng.integers(0, 5, (N, 3)).astype(float)
    assert multimodality_pvalues(discrete).tolist() == [1, 1, 1]
    assert multimodality_pvalues(two_modes(rng, 2, n=49)).tolist() == [1, 1]
    assert (multimodality_pvalues(two_modes(rng, 2, n=50)) < 1).all()


def test_features_with_missing_cells_are_judged_by_their_other_rows(rng):
    X = two_modes(rng, 4)
    gaps = X.copy()
    gaps[rng.random(X.shape) < 0.2] = np.nan
    together = multimodality_pvalues(gaps)
    for j in range(4):
        alone = gaps[~np.isnan(gaps[:, j]), j][:, None]
        assert together[j] == multimodality_pvalues(alone)[0] < 1e-3


def test_scale_and_place_do_not_matter(rng):
    X = drawn(rng, "normal", d=5)
    np.testing.assert_allclose(multimodality_pvalues(1e-3 * X + 7), multimodality_pvalues(X), rtol=1e-6)


def test_more_features_than_a_block_holds_are_the_same_as_alone(rng, monkeypatch):
    X = np.hstack([drawn(rng, "normal", d=5), two_modes(rng, 4), drawn(rng, "rounded", d=3)])
    expected = multimodality_pvalues(X)
    monkeypatch.setattr("tamis.structure.evidence.BLOCK", 5)
    np.testing.assert_array_equal(multimodality_pvalues(X), expected)


@pytest.mark.parametrize("n", [500, 1000, 2000])
def test_rates_whose_fractions_lie_on_an_uneven_lattice_have_one_mode(rng, n):
    visits = rng.poisson(30, (n, 100)).clip(1)
    rates = rng.binomial(visits, rng.uniform(0.1, 0.5, 100)) / visits
    assert np.mean(multimodality_pvalues(rates) <= 0.01) <= 0.05
    twice = np.where(rng.random((n, 100)) < 0.5, rates, rng.binomial(visits, 0.9) / visits)
    assert np.mean(multimodality_pvalues(twice) <= 0.01) >= 0.9
