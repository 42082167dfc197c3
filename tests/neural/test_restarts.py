import pytest
import torch

from tamis.neural import exchange, restarts
from tamis.neural.batching import centered
from tamis.neural.objective import Objective, Sample, Targets, Term, reconstruction
from tamis.neural.restarts import Problem, group_sizes, settled_mass, supported_share, train_restarts
from tamis.neural.schedules import linear
from tamis.neural.training import Settings

PLAIN = Objective({"reconstruction": Term(reconstruction)})
SETTINGS = Settings(epochs=6, batch_size=20, temperature=linear(5, 0.1), selector_lr=0.3, decoder_lr=0.02)


@pytest.fixture
def rows(table_rows):
    return table_rows(torch.randn(30, 4, generator=torch.Generator().manual_seed(0)))


def run(rows, n_init=3, callbacks=(), objective=PLAIN, **options):
    problem = Problem(rows, n_features=4, n_units=2, hidden_units=(5,), **options)
    return train_restarts(problem, objective, SETTINGS, n_init, torch.Generator().manual_seed(0), callbacks)


def test_the_smallest_objective_wins(rows):
    best, objectives = run(rows)
    assert len(objectives) == 3
    assert best.objective == min(objectives)
    assert len(set(best.columns.tolist())) == 2
    assert [row["epoch"] for row in best.history] == [1, 2, 3, 4, 5, 6]
    assert set(best.history[0]) == {"epoch", "temperature", "objective", "reconstruction", "peak_probability"}


def test_groups_keep_to_their_size(rows, monkeypatch):
    monkeypatch.setattr(restarts, "GROUP_VALUES", 16)
    problem = Problem(rows, n_features=4, n_units=2)
    assert group_sizes(5, problem) == [2, 2, 1]
    epochs = []
    best, objectives = run(rows, n_init=5, callbacks=[epochs.append])
    assert len(objectives) == 5
    assert best.objective == min(objectives)
    assert [epoch.number for epoch in epochs] == list(range(1, 19))
    assert {epoch.total for epoch in epochs} == {18}


def test_a_callback_that_returns_true_ends_everything(rows, monkeypatch):
    monkeypatch.setattr(restarts, "GROUP_VALUES", 8)
    best, objectives = run(rows, callbacks=[lambda epoch: epoch.number == 8])
    assert len(objectives) == 2
    assert len(best.columns) == 2


def test_nothing_to_learn(rows):
    best, objectives = run(rows, kept=[3, 1], candidates=torch.tensor([0, 2]))
    assert best.columns.tolist() == [3, 1]
    assert len(objectives) == 1
    assert best.history == []


@pytest.mark.parametrize("scale", [1, 7])
def test_one_huge_problem_trains_restarts_one_by_one(rows, scale):
    problem = Problem(rows, n_features=restarts.GROUP_VALUES * scale, n_units=1)
    assert group_sizes(3, problem) == [1, 1, 1]


def test_near_copies_count_as_settled():
    base = torch.randn(50, 3, generator=torch.Generator().manual_seed(0))
    x = torch.stack([base[:, 0], -2 * base[:, 0] + 3, base[:, 1], base[:, 2]], dim=1)
    probabilities = torch.tensor([[0.4, 0.5, 0.1], [0.2, 0.0, 0.8]])
    mass = settled_mass(x, torch.tensor([3, 1, 2]), probabilities, torch.tensor([0, 1, 2]))
    torch.testing.assert_close(mass, torch.tensor([0.9, 0.8]))


def test_support_counts_columns_by_their_squared_correlation():
    base, noise = torch.tensor([1.0, -1.0, 1.0, -1.0]), torch.tensor([1.0, 1.0, -1.0, -1.0])
    x = torch.stack([base, -2 * base, base + noise, noise], dim=1)
    probabilities = torch.tensor([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    share = supported_share(x, torch.tensor([3, 0, 2]), probabilities, torch.tensor([0, 1, 2]))
    torch.testing.assert_close(share, torch.tensor([0.2 + 0.5 + 0.15, 0.05 + 0.05 + 0.8]))


def test_of_many_columns_some_are_reconstructed_in_training_and_all_in_the_end(rows):
    targets = Targets(torch.tensor([3, 0, 1]), torch.tensor([[1.0, 2.0], [0.0, 1.0], [1.0, 1.0]]))
    problem = Problem(rows, n_features=4, n_units=2, targets=targets)
    network = problem.network(1, torch.Generator().manual_seed(0))
    assert network.targets is targets
    best, _ = run(rows, targets=targets)
    assert best.decoder(torch.zeros(1, 1, 2)).shape == (1, 1, 4)


def test_where_a_network_decodes_the_units_choice_stands(rows):
    best, _ = run(rows)
    assert best.exchanges == 0


def test_where_the_graph_decodes_the_choice_is_improved(rows, default_objective):
    best, objectives = run(rows, objective=default_objective)
    assert best.objective <= min(objectives) + 1e-5
    everything = torch.combinations(torch.arange(4))
    table = centered(rows.table)
    found = exchange.objectives([Sample(table, table)], everything, default_objective)
    assert sorted(best.columns.tolist()) == everything[found.argmin()].tolist()
    assert best.objective == pytest.approx(found.min().item(), abs=1e-5)


def test_nothing_to_learn_where_the_graph_decodes(rows, default_objective):
    best, objectives = run(rows, objective=default_objective, kept=[3, 1], candidates=torch.tensor([0, 2]))
    assert best.columns.tolist() == [3, 1]
    assert best.exchanges == 0
    assert best.objective == objectives[0]


def test_columns_are_given_to_the_units_that_want_them_most():
    probabilities = torch.tensor([[0.1, 0.7, 0.2], [0.3, 0.1, 0.6]])
    given = restarts._given_to_units(torch.tensor([9, 2, 7]), probabilities, torch.tensor([2, 5, 7]), 1)
    assert given.tolist() == [9, 2, 7]
    given = restarts._given_to_units(torch.tensor([9, 2, 5]), probabilities, torch.tensor([2, 5, 7]), 1)
    assert given.tolist() == [9, 5, 2]
