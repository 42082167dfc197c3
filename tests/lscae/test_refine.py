import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from tamis import LSCAE
from tamis.lscae import refine
from tamis.lscae.decoder import Decoder, leave_one_out
from tamis.lscae.objective import RIDGE, View, evaluate, objective
from tamis.lscae.problem import Batch
from tamis.lscae.recipe import DEFAULT
from tamis.lscae.refine import (
    Choice,
    draw_samples,
    exchange_features,
    expected_shares,
    hard_codes,
    linear_shares,
    objectives,
    represent_directions,
)
from tamis.synthetic import moons_with_copies

CAE = replace(DEFAULT, terms=("reconstruction",), decoder="network")
SCORE = replace(DEFAULT, terms=("score",))
ALL = torch.arange(20)


@pytest.fixture(scope="module")
def table():
    return moons_with_copies(8, 0, n_samples=200)


@pytest.fixture(scope="module")
def x(table):
    x = torch.from_numpy(table.X)
    return ((x - x.mean(dim=0)) / x.std(dim=0, correction=0)).float()


@pytest.fixture(scope="module")
def moons(x):
    """The table, and the features that carry the moons as the goal."""
    return Batch(x, x[:, :4])


def random_selections(n, k, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([torch.randperm(20, generator=generator)[:k] for _ in range(n)])


def J(samples, selected, recipe=DEFAULT):
    return objectives(samples, selected[None], recipe).item()


def test_hard_codes():
    x = torch.arange(8.0).reshape(2, 4)
    assert hard_codes(x, torch.tensor([[3, 0], [1, 2]])).tolist() == [[[3, 0], [7, 4]], [[1, 2], [5, 6]]]


@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_units_do_not_matter_to_linear_shares(x, unit):
    selections = random_selections(2, 3)
    scaled, plain = (linear_shares([Batch(factor * x, factor * x)], selections) for factor in (unit, 1.0))
    torch.testing.assert_close(scaled, plain)


def test_linear_shares_of_extremes(x):
    def share(codes, goal):
        return linear_shares([Batch(codes, goal)], torch.arange(codes.shape[1])[None]).item()

    table = torch.cat([x[:, :2], x[:, :1] - 3 * x[:, 1:2]], dim=1)
    assert share(table[:, :2], table) < 0.02  # a linear map of the selection
    assert share(x[:, :2], x[:, 15:16]) > 0.9  # noise
    assert share(torch.zeros(200, 2), x) == pytest.approx(1)
    assert math.isfinite(share(x[:5, :6], x[:5]))  # more features than rows
    assert math.isfinite(share(x[:, [0, 0]], x))  # copies


@pytest.mark.parametrize("k", [3, 18])
def test_where_the_graph_decodes_J_is_the_mean_of_two_decoders(moons, k):
    selections = random_selections(5, k)
    codes = hard_codes(moons.x, selections)
    by_graph = evaluate(View(moons, DEFAULT, codes @ codes.mT))
    linearly = by_graph | {"reconstruction": linear_shares([moons], selections)}
    expected = (objective(by_graph) + objective(linearly)) / 2
    torch.testing.assert_close(objectives([moons], selections, DEFAULT), expected)


def test_where_a_network_decodes_its_readout_is_refitted(moons):
    decoder, selections = Decoder((2, 6, 4), torch.Generator().manual_seed(0)), random_selections(3, 2)
    for selection, value in zip(selections, objectives([moons], selections, CAE, decoder), strict=True):
        decoded = leave_one_out(decoder.hidden(moons.x[:, selection]), moons.goal)
        share = (decoded - moons.goal).square().sum() / moons.goal.square().sum()
        torch.testing.assert_close(value, share.log())


def test_J_is_a_mean_over_samples_and_selections_do_not_mix(x, monkeypatch):
    halves, selections = [Batch(part, part) for part in x.split(100)], random_selections(7, 3)
    together = objectives(halves, selections, DEFAULT)
    each = [[J([half], selection) for selection in selections] for half in halves]
    torch.testing.assert_close(together, torch.tensor(each).mean(dim=0))
    monkeypatch.setattr(refine, "VALUES_AT_ONCE", 2 * 100**2)
    torch.testing.assert_close(objectives(halves, selections, DEFAULT), together)


def test_samples_are_the_same_every_time_and_fewer_for_wide_tables(problem_of, x, monkeypatch):
    loadings = torch.zeros(x.shape[1], 3)
    loadings[[3, 1]] = torch.tensor([[2.0, 1.0, 0.0], [1.0, 0.0, 5.0]])
    problem = problem_of(x, 2, loadings=loadings)
    recipe = replace(DEFAULT, evaluation_rows=50)
    first, again = draw_samples(problem, recipe), draw_samples(problem, recipe)
    assert [len(sample.x) for sample in first] == [50] * 4
    for one, other in zip(first, again, strict=True):
        torch.testing.assert_close(one.x, other.x, rtol=0, atol=0)
        torch.testing.assert_close(one.x.mean(dim=0), torch.zeros(20), atol=1e-6, rtol=0)
        torch.testing.assert_close(one.goal, one.x @ loadings)
    monkeypatch.setattr(refine, "MAX_VALUES", 3 * 50 * 20)
    assert len(draw_samples(problem, recipe)) == 3
    monkeypatch.setattr(refine, "MAX_VALUES", 1)
    assert len(draw_samples(problem, recipe)) == 1


def test_shares_count_features_by_their_squared_correlation():
    base, noise = torch.tensor([1.0, -1.0, 1.0, -1.0]), torch.tensor([1.0, 1.0, -1.0, -1.0])
    x = torch.stack([base, -2 * base, base + noise, noise], dim=1)
    probabilities = torch.tensor([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    shares = expected_shares(x, torch.tensor([3, 0, 2]), probabilities, torch.tensor([0, 1, 2]))
    torch.testing.assert_close(shares, torch.tensor([0.2 + 0.5 + 0.15, 0.05 + 0.05 + 0.8]))


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("recipe", [DEFAULT, SCORE, replace(DEFAULT, diffusion_steps=2)])
def test_J_falls_with_every_exchange(x, recipe, k):
    samples = [Batch(x, x)]
    for seed in range(2):
        selected = random_selections(1, k, seed)[0]
        better = exchange_features(Choice(samples, ALL, 0, recipe), selected)
        assert len(set(better.tolist())) == k
        assert J(samples, better, recipe) < J(samples, selected, recipe) or better.equal(selected)


@pytest.mark.parametrize("bad", [[10, 15], [0, 2], [1, 12]], ids=["noise", "copies", "half"])
def test_a_bad_pair_on_the_moons_is_repaired(table, moons, bad):
    selected, choice = torch.tensor(bad), Choice([moons], ALL, 0, DEFAULT)
    better = exchange_features(choice, selected)
    assert table.is_solved_by(better.numpy())
    assert selected.tolist() == bad  # what was given is not changed
    assert exchange_features(choice, better).equal(better)


def test_a_planted_better_feature_comes_in():
    """The goal is one direction, which feature 7 shows with little noise, feature 2 with much, and no other at all."""
    generator = torch.Generator().manual_seed(0)
    x, goal = torch.randn(150, 12, generator=generator), torch.randn(150, 1, generator=generator)
    x[:, 7], x[:, 2] = goal[:, 0] + 0.1 * x[:, 7], goal[:, 0] + x[:, 2]
    for start in (2, 5):
        choice = Choice([Batch(x, goal)], torch.arange(12), 0, DEFAULT)
        assert exchange_features(choice, torch.tensor([start])).tolist() == [7]


def test_kept_places_are_not_exchanged_and_only_candidates_come_in(moons):
    choice = Choice([moons], torch.tensor([6, 7, 8, 11, 3]), 2, DEFAULT)
    better = exchange_features(choice, torch.tensor([15, 9, 10]))
    assert better.tolist() == [15, 9, 3]
    only = torch.tensor([4, 9])
    assert exchange_features(Choice([moons], only, 0, DEFAULT), only).equal(only)  # nothing to exchange for


@pytest.mark.parametrize(
    ("recipe", "n_kept"),
    [(CAE, 0), (replace(DEFAULT, graph_on="concrete"), 0), (replace(DEFAULT, max_exchanged=2), 0), (DEFAULT, 3)],
    ids=["network", "concrete", "many", "kept"],
)
def test_what_cannot_be_exchanged_stays(moons, recipe, n_kept):
    selected = torch.tensor([10, 15, 9])
    assert exchange_features(Choice([moons], ALL, n_kept, recipe), selected) is selected


@pytest.fixture(scope="module")
def factors():
    """Five independent directions, two noisy features of each: the goal is the directions, the last one weaker."""
    generator = torch.Generator().manual_seed(0)
    goal = torch.randn(400, 5, generator=generator)
    x = goal.repeat_interleave(2, dim=1) + 0.5 * torch.randn(400, 10, generator=generator)
    weights = torch.tensor([1.0, 1.0, 1.0, 1.0, 0.4])
    return [Batch(part, some * weights) for part, some in zip(x.split(200), goal.split(200), strict=True)]


def represent(samples, selected, n_kept=0, candidates=tuple(range(10)), recipe=DEFAULT, members=None):
    start = torch.tensor(selected)
    found = represent_directions(Choice(samples, torch.tensor(candidates), n_kept, recipe, members), start)
    assert start.tolist() == selected  # what was given is not changed
    return found.tolist()


def test_a_direction_without_a_feature_gets_one_in_place_of_a_feature_that_is_missed_least(factors):
    assert represent(factors, [0, 1, 2, 4], candidates=(0, 1, 2, 4, 7)) in ([7, 1, 2, 4], [0, 7, 2, 4])
    assert {feature // 2 for feature in represent(factors, [0, 1, 2, 3])} == {0, 1, 2, 3}


def test_losses_are_those_of_fits_without_each_feature(factors):
    x, goal = (torch.cat([sample[part] for sample in factors]).double() for part in (0, 1))
    chosen = torch.tensor([0, 3, 1, 6])
    features = x[:, chosen]
    penalty = RIDGE * features.square().sum() / 4

    def error(codes):
        weights = torch.linalg.solve(codes.T @ codes + penalty * torch.eye(codes.shape[1]), codes.T @ goal)
        return ((goal - codes @ weights).square().sum() + penalty * weights.square().sum()).item()

    expected = [error(features[:, torch.arange(4) != place]) - error(features) for place in range(4)]
    assert refine._losses(Choice([Batch(x, goal)], chosen, 0, DEFAULT), chosen).tolist() == pytest.approx(expected)


def test_a_weak_direction_gets_a_feature_if_there_is_room(factors):
    # The fifth has 0.16 of the variance of the first.
    assert {feature // 2 for feature in represent(factors, [0, 1, 2, 4, 6])} == {0, 1, 2, 3, 4}


def test_stronger_directions_and_kept_features_are_left_alone(factors):
    assert represent(factors, [0, 2, 4, 6]) == [0, 2, 4, 6]
    assert represent(factors, [0, 1, 2, 4], n_kept=2, candidates=(0, 1, 2, 4, 8, 9)) == [0, 1, 2, 4]
    assert represent(factors, [0, 1, 2, 3], n_kept=4) == [0, 1, 2, 3]


def test_directions_that_no_candidate_shows_stay_without_a_feature(factors):
    assert represent(factors, [0, 1, 2, 3], candidates=(0, 1, 2, 3)) == [0, 1, 2, 3]


@pytest.mark.parametrize("changes", [{"structure_first": False}, {"graph_on": "concrete"}, {"terms": ("score",)}])
def test_where_directions_are_not_the_goal_nothing_is_represented(factors, changes):
    assert represent(factors, [0, 1, 2, 3], recipe=replace(DEFAULT, **changes)) == [0, 1, 2, 3]


def test_groups_are_exchanged_as_a_whole(factors):
    members = torch.tensor([[0, -1], [1, -1], [2, 3], [4, 5], [6, 7], [8, -1]])
    found = represent(factors, [0, 1, 2, 3], candidates=tuple(range(6)), members=members)
    assert found in ([4, 1, 2, 3], [0, 4, 2, 3])


def test_many_independent_directions_each_get_a_feature(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 200))
    X[:, :180] += np.repeat(rng.standard_normal((300, 18)), 10, axis=1)
    chosen = LSCAE(18, random_state=0).fit(X).selected_
    assert set(chosen // 10) == set(range(18))
    monkeypatch.setattr(refine, "represent_directions", lambda _, selected: selected)
    lost = LSCAE(18, random_state=0).fit(X).selected_
    assert len(set(lost // 10)) < 18


def test_with_as_many_features_as_directions_a_strong_one_has_no_second():
    rng = np.random.default_rng(0)
    first = rng.standard_normal((600, 5))
    pairs = np.hstack([first, 0.6 * first + 0.8 * rng.standard_normal((600, 5))])
    X = np.hstack([rng.standard_normal((600, 1)) + 0.5 * rng.standard_normal((600, 60)), pairs])
    X = np.hstack([X, rng.standard_normal((600, 100))])
    groups = np.r_[np.zeros(60, int), 1 + np.arange(10) % 5, np.full(100, -1)]
    for seed in range(3):
        chosen = LSCAE(6, random_state=seed).fit(X)
        assert chosen.structure_.n_directions == 6
        assert sorted(groups[chosen.selected_]) == [0, 1, 2, 3, 4, 5]
