from dataclasses import replace

import pytest
import torch

from tamis.neural import judge as module
from tamis.neural.batching import batches
from tamis.neural.concrete import ConcreteLayer
from tamis.neural.exchange import objectives
from tamis.neural.judge import Judge
from tamis.neural.network import SelectorNetwork
from tamis.neural.objective import Objective, Targets, Term, reconstruction, smoothness
from tamis.synthetic import moons_with_copies

PLAIN = Objective({"reconstruction": Term(reconstruction)})
NOTHING = torch.tensor([], dtype=torch.long)
INFORMATIVE = Targets(torch.arange(4))


def generator():
    return torch.Generator().manual_seed(3)


@pytest.fixture
def table():
    return moons_with_copies(8, 0, n_samples=200)


@pytest.fixture
def rows(table, standardised, table_rows):
    return table_rows(standardised(table))


def judge_of(rows, objective, targets=INFORMATIVE, batch_size=64):
    return Judge(rows, objective, batch_size, rows.table.shape[1], targets, generator())


@pytest.fixture
def multiples(table_rows):
    """One column and three multiples of it, and a column on its own."""
    base = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    return table_rows(torch.stack([base[:, 0], -base[:, 0], base[:, 1], base[:, 0], base[:, 0]], dim=1))


def network():
    return SelectorNetwork(ConcreteLayer(2, 1, 5), (6,), generator=torch.Generator().manual_seed(1))


def test_better_columns_have_a_smaller_objective(multiples):
    found = judge_of(multiples, PLAIN, Targets(), batch_size=15).objectives(network(), torch.tensor([[0], [2]]))
    assert found[0] < found[1] - 0.5  # column 0 explains four of the five columns, column 2 only itself


def test_a_network_is_judged_by_the_mean_over_batches(multiples, monkeypatch):
    net, columns = network(), torch.tensor([[0], [2]])
    values = [PLAIN(net.hard_view(x, PLAIN, columns)).objective for x in batches(multiples, 15, generator())]
    judge = judge_of(multiples, PLAIN, Targets(), batch_size=15)
    judge.generator = generator()
    torch.testing.assert_close(judge.objectives(net, columns), torch.stack(values).mean(dim=0))
    monkeypatch.setattr(module, "BATCHES", 2)
    judge.generator = generator()
    torch.testing.assert_close(judge.objectives(net, columns), torch.stack(values[:2]).mean(dim=0))


def test_a_graph_is_judged_on_the_same_rows_every_time(rows, default_objective, monkeypatch):
    monkeypatch.setattr(module, "ROWS", 50)
    judge = judge_of(rows, default_objective)
    assert [len(sample.x) for sample in judge.samples] == [50] * 4
    columns = torch.tensor([[0, 1], [7, 8]])
    first = judge.objectives(None, columns)
    torch.testing.assert_close(judge.objectives(None, columns), first, rtol=0, atol=0)
    torch.testing.assert_close(first, objectives(judge.samples, columns, default_objective))
    assert sorted(row for taken in rows.taken for row in taken) == list(range(200))


def test_many_columns_are_judged_on_fewer_samples(rows, default_objective, monkeypatch):
    monkeypatch.setattr(module, "ROWS", 20)
    assert len(judge_of(rows, default_objective).samples) == module.SAMPLES
    monkeypatch.setattr(module, "MOST_VALUES", 3 * 20 * 20)
    assert len(judge_of(rows, default_objective).samples) == 3
    monkeypatch.setattr(module, "MOST_VALUES", 1)
    assert len(judge_of(rows, default_objective).samples) == 1


def test_targets_are_what_is_judged_by(rows, default_objective):
    loadings = torch.tensor([[2.0, 1.0, 0.0], [1.0, 0.0, 5.0]])
    judge = judge_of(rows, default_objective, Targets(torch.tensor([3, 1]), loadings))
    assert judge.samples
    for x, goal in judge.samples:
        torch.testing.assert_close(goal, x[:, [3, 1]] @ loadings)


def improved(judge, columns, candidates=None, kept=NOTHING):
    """Give J of the columns, and what became of them."""
    columns = torch.tensor(columns)
    value = float(judge.objectives(None, columns[None])[0])
    return value, judge.improve(columns, value, torch.arange(20) if candidates is None else candidates, kept)


def test_a_bad_selection_is_improved(rows, table, default_objective):
    judge = judge_of(rows, default_objective)
    before, better = improved(judge, [9, 14])
    assert better.exchanges >= 1
    assert table.is_solved_by(better.columns.numpy())
    assert better.objective < before
    assert better.objective == pytest.approx(float(judge.objectives(None, better.columns[None])[0]))


def test_a_better_selection_stays(rows, default_objective):
    judge = judge_of(rows, default_objective)
    _, best = improved(judge, [9, 14])
    before, again = improved(judge, best.columns.tolist())
    assert again.columns.tolist() == best.columns.tolist()
    assert (again.objective, again.exchanges) == (before, 0)


def test_kept_columns_and_candidates_are_respected(rows, default_objective):
    candidates = torch.tensor([2, 3, *range(5, 19)])
    before, better = improved(judge_of(rows, default_objective), [19, 8, 9], candidates, torch.tensor([19]))
    assert better.columns[0] == 19
    assert set(better.columns[1:].tolist()) <= set(candidates.tolist())
    assert better.objective < before


@pytest.mark.parametrize("changes", [{"decodes": False}, {"on": "concrete"}], ids=["network", "concrete"])
def test_nothing_is_done_where_a_network_decodes_or_the_graph_is_of_units(rows, default_objective, changes):
    objective = replace(default_objective, recipe=replace(default_objective.recipe, **changes))
    bad = torch.tensor([9, 14])
    same = judge_of(rows, objective).improve(bad, 1.25, torch.arange(20), NOTHING)
    assert same.columns is bad
    assert (same.objective, same.exchanges) == (1.25, 0)


def test_nothing_is_done_where_all_is_kept(rows, default_objective):
    kept = torch.tensor([9, 14])
    same = judge_of(rows, default_objective).improve(kept, 1.25, torch.arange(9), kept)
    assert (same.columns.tolist(), same.objective, same.exchanges) == ([9, 14], 1.25, 0)


def test_a_score_alone_is_improved_too(rows, default_objective):
    score = Objective({"score": Term(smoothness, maximise=True)}, default_objective.recipe)
    before, better = improved(judge_of(rows, score), [9, 14])
    assert better.objective < before
