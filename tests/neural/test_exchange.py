import pytest
import torch

from tamis.neural import polish as module
from tamis.neural.linear import linear_shares
from tamis.neural.network import hard_codes
from tamis.neural.objective import Goal, Objective, Sample, Term, View, smoothness
from tamis.neural.polish import copies, objectives, polish, shortlist
from tamis.synthetic import moons_with_copies

INFORMATIVE = torch.tensor([1.0] * 4 + [0.0] * 16)


@pytest.fixture
def table():
    return moons_with_copies(8, 0, n_samples=200)


@pytest.fixture
def x(table, standardised):
    return standardised(table)


def random_selections(n, k, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([torch.randperm(20, generator=generator)[:k] for _ in range(n)])


def test_several_samples_are_judged_by_their_mean(x, default_objective):
    halves = [Sample(part, Goal(part)) for part in x.split(100)]
    selections = torch.tensor([[0, 1], [5, 9]])
    each = torch.stack([objectives([half], selections, default_objective) for half in halves])
    torch.testing.assert_close(objectives(halves, selections, default_objective), each.mean(dim=0))


def test_objectives_in_chunks_are_those_one_by_one(x, default_objective, monkeypatch):
    selections, goal = random_selections(7, 3), Goal(x, INFORMATIVE)
    together = objectives([Sample(x, goal)], selections, default_objective)
    monkeypatch.setattr(module, "VALUES_AT_ONCE", 2 * len(x) ** 2)
    torch.testing.assert_close(objectives([Sample(x, goal)], selections, default_objective), together)
    for selection, value in zip(selections, together, strict=True):
        torch.testing.assert_close(objectives([Sample(x, goal)], selection[None], default_objective)[0], value)


def test_few_columns_are_judged_by_two_decoders(x, default_objective, monkeypatch):
    """J is the mean of J with the graph as the decoder and of J with a linear one; of more columns, the former."""
    selections, sample = random_selections(5, 3), Sample(x, Goal(x, INFORMATIVE))
    view = View(sample.goal, default_objective.recipe, hard_codes(x, selections))
    by_graph = default_objective(view)
    linearly = by_graph.terms | {"reconstruction": linear_shares(sample, selections)}
    both = (by_graph.objective + default_objective.combine(linearly).objective) / 2
    torch.testing.assert_close(objectives([sample], selections, default_objective), both)
    monkeypatch.setattr(module, "LINEAR_UP_TO", 2)
    torch.testing.assert_close(objectives([sample], selections, default_objective), by_graph.objective)


def test_a_score_alone_needs_no_decoder(x):
    objective, selections = Objective({"score": Term(smoothness, maximise=True)}), random_selections(4, 2)
    alone = objective(View(Goal(x), objective.recipe, hard_codes(x, selections))).objective
    torch.testing.assert_close(objectives([Sample(x, Goal(x))], selections, objective), alone)


def test_near_copies_are_counted(x):
    selections = torch.tensor([[0, 1, 5], [0, 2, 5], [12, 4, 9], [2, 3, 0], [4, 12, 5]])
    # Columns 0 and 2, 1 and 3 are noisy copies, 4 and 12 exact ones.
    assert copies(x, selections).tolist() == [0, 1, 1, 1, 1]
    assert copies(x, torch.tensor([[0, 2, 4, 12]])).tolist() == [2]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 2, 5])
def test_J_never_rises_but_to_be_rid_of_copies(x, default_objective, seed, k):
    columns, goal = random_selections(1, k, seed)[0], Goal(x)
    better, exchanges = polish([Sample(x, goal)], columns, 0, torch.arange(20), default_objective)
    both = torch.stack([columns, better])
    (before, after), counts = objectives([Sample(x, goal)], both, default_objective).tolist(), copies(x, both)
    assert len(set(better.tolist())) == k
    assert counts[1] <= counts[0]
    if counts[1] == counts[0]:
        assert after < before if exchanges else better.tolist() == columns.tolist()
    assert (better != columns).sum() <= exchanges


def test_copies_are_exchanged_even_if_J_rises(x, default_objective):
    copied = torch.tensor([4, 12])
    goal = Goal(x, torch.tensor([0.0] * 4 + [1.0] + [0.0] * 15))  # column 4 is all that is to be reconstructed
    better, exchanges = polish([Sample(x, goal)], copied, 0, torch.tensor([4, 12, 6, 7]), default_objective)
    before, after = objectives([Sample(x, goal)], torch.stack([copied, better]), default_objective).tolist()
    assert exchanges >= 1
    assert after > before
    assert copies(x, better[None]).tolist() == [0]


def test_a_bad_pair_on_the_moons_is_repaired(table, x, default_objective):
    goal = Goal(x, INFORMATIVE)
    for bad in ([10, 15], [0, 2], [1, 12]):
        columns = torch.tensor(bad)
        better, exchanges = polish([Sample(x, goal)], columns, 0, torch.arange(20), default_objective)
        assert exchanges >= 1
        assert table.is_solved_by(better.numpy())
        assert columns.tolist() == bad  # what was given is not changed
    assert polish([Sample(x, goal)], better, 0, torch.arange(20), default_objective)[1] == 0


def test_kept_places_are_not_exchanged(x, default_objective):
    columns = torch.tensor([15, 9, 10])
    better, exchanges = polish([Sample(x, Goal(x, INFORMATIVE))], columns, 2, torch.arange(20), default_objective)
    assert better[:2].tolist() == [15, 9]
    assert exchanges >= 1
    assert better[2] < 4


def test_only_candidates_come_in(x, default_objective):
    candidates = torch.tensor([6, 7, 8, 11, 3])
    better, _ = polish([Sample(x, Goal(x, INFORMATIVE))], torch.tensor([10, 15]), 0, candidates, default_objective)
    assert set(better.tolist()) <= {10, 15, *candidates.tolist()}
    assert 3 in better


def test_nothing_to_exchange_for(x, default_objective):
    columns = torch.tensor([4, 9])
    better, exchanges = polish([Sample(x, Goal(x))], columns, 0, columns, default_objective)
    assert (better.tolist(), exchanges) == ([4, 9], 0)


@pytest.mark.parametrize(("places", "tried"), [(1, 12), (5, 12), (10, 6), (20, 4), (32, 4)])
def test_many_places_share_the_trials(places, tried):
    assert shortlist(places) == tried
