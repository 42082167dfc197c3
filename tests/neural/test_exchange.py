import pytest
import torch

from tamis.neural import exchange as module
from tamis.neural.exchange import exchange_features, objectives, shortlist
from tamis.neural.linear import linear_shares
from tamis.neural.network import hard_codes
from tamis.neural.objective import GraphRecipe, Objective, Sample, Term, View, smoothness
from tamis.synthetic import moons_with_copies


@pytest.fixture
def table():
    return moons_with_copies(8, 0, n_samples=200)


@pytest.fixture
def x(table, standardised):
    return standardised(table)


def random_selections(n, k, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([torch.randperm(20, generator=generator)[:k] for _ in range(n)])


@pytest.fixture
def moons(x):
    """The table, and the features that carry the moons as the goal."""
    return Sample(x, x[:, :4])


def test_several_samples_are_judged_by_their_mean(x, default_objective):
    halves = [Sample(part, part) for part in x.split(100)]
    selections = torch.tensor([[0, 1], [5, 9]])
    each = torch.stack([objectives([half], selections, default_objective) for half in halves])
    torch.testing.assert_close(objectives(halves, selections, default_objective), each.mean(dim=0))


def test_objectives_in_chunks_are_those_one_by_one(moons, default_objective, monkeypatch):
    selections = random_selections(7, 3)
    together = objectives([moons], selections, default_objective)
    monkeypatch.setattr(module, "VALUES_AT_ONCE", 2 * len(moons.x) ** 2)
    torch.testing.assert_close(objectives([moons], selections, default_objective), together)
    for selection, value in zip(selections, together, strict=True):
        torch.testing.assert_close(objectives([moons], selection[None], default_objective)[0], value)


@pytest.mark.parametrize("k", [3, 18])
def test_selections_are_judged_by_two_decoders(moons, default_objective, k):
    """J is the mean of J with the graph as the decoder and of J with a linear one."""
    selections = random_selections(5, k)
    by_graph = default_objective(View(moons.goal, default_objective.recipe, hard_codes(moons.x, selections)))
    linearly = by_graph.terms | {"reconstruction": linear_shares(moons, selections)}
    both = (by_graph.objective + default_objective.combine(linearly).objective) / 2
    torch.testing.assert_close(objectives([moons], selections, default_objective), both)


def test_a_score_alone_needs_no_decoder(x):
    objective, selections = Objective({"score": Term(smoothness, maximise=True)}), random_selections(4, 2)
    alone = objective(View(x, objective.recipe, hard_codes(x, selections))).objective
    torch.testing.assert_close(objectives([Sample(x, x)], selections, objective), alone)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 2, 5])
def test_J_never_rises(x, default_objective, seed, k):
    columns, sample = random_selections(1, k, seed)[0], Sample(x, x)
    better, exchanges = exchange_features([sample], columns, 0, torch.arange(20), default_objective)
    before, after = objectives([sample], torch.stack([columns, better]), default_objective).tolist()
    assert len(set(better.tolist())) == k
    assert after < before if exchanges else better.tolist() == columns.tolist()
    assert (better != columns).sum() <= exchanges


def test_a_bad_pair_on_the_moons_is_repaired(table, moons, default_objective):
    for bad in ([10, 15], [0, 2], [1, 12]):
        columns = torch.tensor(bad)
        better, exchanges = exchange_features([moons], columns, 0, torch.arange(20), default_objective)
        assert exchanges >= 1
        assert table.is_solved_by(better.numpy())
        assert columns.tolist() == bad  # what was given is not changed
    assert exchange_features([moons], better, 0, torch.arange(20), default_objective)[1] == 0


def test_a_planted_better_feature_comes_in(default_objective):
    """The goal is one direction, which feature 7 shows with little noise, feature 2 with much, and no other at all."""
    generator = torch.Generator().manual_seed(0)
    x, goal = torch.randn(150, 12, generator=generator), torch.randn(150, 1, generator=generator)
    x[:, 7], x[:, 2] = goal[:, 0] + 0.1 * x[:, 7], goal[:, 0] + x[:, 2]
    for start in (2, 5):
        better, exchanges = exchange_features(
            [Sample(x, goal)], torch.tensor([start]), 0, torch.arange(12), default_objective
        )
        assert (better.tolist(), exchanges) == ([7], 1)


@pytest.mark.parametrize(
    "recipe", [GraphRecipe(steps=2, decodes=True), GraphRecipe(normalize=False, decodes=True)], ids=["walk", "energy"]
)
def test_objectives_without_a_closed_form_are_differentiated(table, moons, default_objective, recipe):
    objective = Objective(default_objective.terms, recipe)
    better, exchanges = exchange_features([moons], torch.tensor([10, 15]), 0, torch.arange(20), objective)
    before, after = objectives([moons], torch.stack([torch.tensor([10, 15]), better]), objective).tolist()
    assert exchanges >= 1
    assert after < before


def test_slopes_are_the_same_by_both_ways(moons, default_objective, monkeypatch):
    selected, others = torch.tensor([0, 6]), torch.tensor([1, 3, 9, 15])
    closed = module._slopes(moons, selected, others, default_objective)
    monkeypatch.setattr(module, "applies", lambda _: False)
    torch.testing.assert_close(module._slopes(moons, selected, others, default_objective), closed, rtol=1e-3, atol=1e-3)


def test_kept_places_are_not_exchanged(moons, default_objective):
    columns = torch.tensor([15, 9, 10])
    better, exchanges = exchange_features([moons], columns, 2, torch.arange(20), default_objective)
    assert better[:2].tolist() == [15, 9]
    assert exchanges >= 1
    assert better[2] < 4


def test_only_candidates_come_in(moons, default_objective):
    candidates = torch.tensor([6, 7, 8, 11, 3])
    better, _ = exchange_features([moons], torch.tensor([10, 15]), 0, candidates, default_objective)
    assert set(better.tolist()) <= {10, 15, *candidates.tolist()}
    assert 3 in better


def test_nothing_to_exchange_for(moons, default_objective):
    columns = torch.tensor([4, 9])
    better, exchanges = exchange_features([moons], columns, 0, columns, default_objective)
    assert (better.tolist(), exchanges) == ([4, 9], 0)


def test_large_selections_are_left_alone(moons, default_objective, monkeypatch):
    columns = torch.tensor([10, 15, 9])
    monkeypatch.setattr(module, "MAX_UNITS", 2)
    assert exchange_features([moons], columns, 0, torch.arange(20), default_objective) == (columns, 0)
    assert exchange_features([moons], columns, 1, torch.arange(20), default_objective)[1] >= 1


@pytest.mark.parametrize(("places", "tried"), [(1, 12), (5, 12), (10, 6), (20, 4), (32, 4)])
def test_many_places_share_the_trials(places, tried):
    assert shortlist(places) == tried
