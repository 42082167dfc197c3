import numpy as np
import pytest

from tamis.structure.pursuit import RIDGE, Pursuit, pursue, shortlist
from tamis.structure.sample import standardised

NONE = np.empty(0, np.intp)


@pytest.fixture
def Z(rng):
    X = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 7)) + 0.5 * rng.standard_normal((80, 7))
    return standardised(X, [np.arange(80)])


@pytest.fixture
def goal(Z, rng):
    return Z @ rng.standard_normal((7, 2))


def shrunk(basis, values, penalty):
    """What ridge regressions on one feature after the other, each of what is left, leave of values."""
    for feature in basis:
        values = values - np.outer(feature, feature @ values) / (feature @ feature + penalty)
    return values


def naive(Z, goal, candidates, kept, n_steps):
    """Pursuit that begins anew at every step."""
    penalty, chosen, gains = RIDGE * len(Z), list(kept), []
    for _ in range(n_steps):
        left, used = goal, []
        for feature in chosen:
            used.append(_residual(Z, used, feature, penalty))
            left = left - _explained(used[-1], left, penalty)
        scores = {}
        for candidate in set(candidates) - set(chosen):
            x = _residual(Z, used, candidate, penalty)
            scores[candidate] = ((x @ left) ** 2).sum() / (x @ x + penalty)
        best = max(scores, key=scores.get)
        chosen.append(best)
        gains.append(scores[best] / (goal**2).sum())
    return chosen[len(kept) :], gains


def _residual(Z, used, feature, penalty):
    return shrunk(used, Z[:, [feature]], penalty)[:, 0]


def _explained(feature, values, penalty):
    return np.outer(feature, feature @ values) / (feature @ feature + penalty)


@pytest.mark.parametrize("kept", [NONE, np.array([2]), np.array([5, 1])], ids=["none", "one", "two"])
def test_pursuit_is_that_of_a_naive_one(Z, goal, kept):
    candidates = np.setdiff1d(np.arange(7), kept)
    order, gains = pursue(Pursuit(Z, goal, candidates, kept), 4)
    expected, expected_gains = naive(Z, goal, candidates, kept, 4)
    assert order.tolist() == expected
    np.testing.assert_allclose(gains, expected_gains)


def test_the_first_feature_is_that_of_the_best_ridge_regression(Z, goal):
    penalty = RIDGE * len(Z)
    errors = []
    for z in Z.T:
        w = z @ goal / (z @ z + penalty)
        errors.append(((goal - np.outer(z, w)) ** 2).sum() + penalty * (w**2).sum())
    assert pursue(Pursuit(Z, goal, np.arange(7), NONE), 1)[0].tolist() == [np.argmin(errors)]


def test_what_must_be_kept_comes_first_and_is_not_chosen_again(Z, rng):
    twice = np.column_stack([Z, Z[:, 0] + 0.01 * rng.standard_normal(80)])
    goal = twice[:, [0]] + 0.3 * twice[:, [3]]
    assert pursue(Pursuit(twice, goal, np.arange(7), NONE), 1)[0].tolist() == [0]
    order, _ = pursue(Pursuit(twice, goal, np.arange(7), np.array([7])), 7)
    assert order[0] != 0
    assert sorted(order) == list(range(7))


def test_only_candidates_are_chosen_and_never_more_than_there_are(Z, goal):
    order, gains = pursue(Pursuit(Z, goal, np.array([1, 4, 6]), NONE), 10)
    assert sorted(order) == [1, 4, 6]
    assert len(gains) == 3


def test_nothing_to_choose_is_nothing_chosen(Z, goal):
    order, gains = pursue(Pursuit(Z, goal, np.arange(7), NONE), 0)
    assert (order.tolist(), gains.tolist()) == ([], [])


def test_features_that_add_nothing_have_a_positive_gain(Z):
    _, gains = pursue(Pursuit(Z, np.zeros((80, 1)), np.arange(7), NONE), 3)
    assert (gains > 0).all()


def test_the_table_is_not_changed(Z, goal):
    before = Z.copy(), goal.copy()
    pursue(Pursuit(Z, goal, np.arange(7), NONE), 3)
    np.testing.assert_array_equal(Z, before[0])
    np.testing.assert_array_equal(goal, before[1])


def test_a_shortlist_has_the_largest_gains_of_each_step_and_what_the_pursuit_takes(Z, goal):
    everyone = np.arange(7)
    order, _ = pursue(Pursuit(Z, goal, everyone, NONE), 3)
    assert shortlist(Pursuit(Z, goal, everyone, NONE), 3, 1).tolist() == sorted(order)
    listed = shortlist(Pursuit(Z, goal, everyone, NONE), 2, 2)
    assert len(listed) == 4
    assert set(order[:2]) <= set(listed)
    energy = (Z**2).sum(axis=0) + RIDGE * len(Z)
    assert set(np.argsort(-((Z.T @ goal) ** 2).sum(axis=1) / energy)[:2]) <= set(listed)
    assert shortlist(Pursuit(Z, goal, everyone, NONE), 7, 8).tolist() == everyone.tolist()


def test_columns_of_the_goal_count_by_their_gains_when_each_can_have_a_feature(rng):
    n, owner = 300, np.repeat([0, 1], 5)
    goal = np.linalg.qr(rng.standard_normal((n, 2)))[0] * np.sqrt(n) * [2.0, 1.0]
    Z = (goal / [2.0, 1.0])[:, owner] + rng.standard_normal((n, 10))
    stated = Pursuit(Z, goal, np.arange(10), NONE)
    plain, by_gain = (owner[pursue(stated._replace(gains=gains), 5)[0]] for gains in (None, np.array([1.0, 100.0])))
    np.testing.assert_array_equal(np.sort(plain[:2]), np.sort(by_gain[:2]))
    assert (by_gain[2:] == 1).all()
    assert (plain[2:] == 0).sum() >= 2
    kept = Pursuit(Z, goal, np.arange(2, 10), np.arange(2), gains=np.array([1.0, 100.0]))
    assert owner[pursue(kept, 1)[0]].tolist() == [1]
    shares = pursue(stated._replace(gains=np.array([1.0, 8.0])), 10)[1]
    assert (np.diff(shares) <= 1e-9).all()
