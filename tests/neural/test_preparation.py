import math
from itertools import chain

import pytest
import torch

from tamis.neural import preparation
from tamis.neural.diffusion import Graph
from tamis.neural.objective import GraphRecipe, Objective, Term, reconstruction
from tamis.neural.preparation import draw_targets, prepare
from tamis.neural.restarts import Problem
from tamis.neural.screening import Screening
from tamis.neural.structure import structure_weights
from tamis.neural.taming import tamed
from tamis.synthetic import moons_with_copies

SCREENING = Screening(per_unit=3)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def problem(standardised, table_rows):
    x = standardised(moons_with_copies(8, 0, n_samples=200))
    return Problem(table_rows(x), n_features=20, n_units=2)


def with_changes(problem, **changes):
    return Problem(problem.rows, problem.n_features, problem.n_units, **changes)


def test_targets_are_drawn_only_where_there_are_many(monkeypatch):
    monkeypatch.setattr(preparation, "TARGETS", 6)
    assert draw_targets(6, generator()) is None
    drawn = draw_targets(7, generator()).tolist()
    assert len(set(drawn)) == 6
    assert set(drawn) <= set(range(7))
    assert drawn == draw_targets(7, generator()).tolist()
    assert drawn != draw_targets(7, generator(1)).tolist()


def test_nothing_asked_leaves_all_but_the_targets(problem, default_objective, monkeypatch):
    ready = prepare(problem, default_objective, None, False, generator())
    assert ready == problem
    assert problem.rows.taken == []
    monkeypatch.setattr(preparation, "TARGETS", 6)
    ready = prepare(problem, default_objective, None, False, generator())
    assert len(ready.targets) == 6
    assert ready.candidates is None
    assert ready.weights is None


def test_weights_are_means_over_the_samples(problem, default_objective, monkeypatch):
    monkeypatch.setattr(preparation, "ROWS", 50)
    seen = []

    def weigh(x, goal, *_):
        seen.append(x)
        return torch.full((len(goal),), float(len(seen)))

    monkeypatch.setattr(preparation, "structure_weights", weigh)
    ready = prepare(problem, default_objective, None, True, generator())
    assert [len(x) for x in seen] == [50] * 4
    assert ready.weights.tolist() == [2.5] * 20


def test_screening_without_weights(problem, default_objective):
    ready = prepare(problem, default_objective, SCREENING, False, generator())
    assert len(ready.candidates) == 6
    assert ready.weights is None
    assert ready.targets is None


def test_weights_without_screening(problem, default_objective):
    ready = prepare(problem, default_objective, None, True, generator())
    assert ready.candidates.tolist() == list(range(20))
    assert ready.weights[:4].min() > ready.weights[4:].max()


def test_weights_are_those_of_the_targets(problem, default_objective, monkeypatch):
    monkeypatch.setattr(preparation, "TARGETS", 12)
    ready = prepare(problem, default_objective, SCREENING, True, generator())
    source = generator()
    targets, graph = draw_targets(20, source), default_objective.recipe.graph
    assert ready.targets.tolist() == targets.tolist()
    expected = structure_weights(tamed(problem.rows.table, math.inf), targets, ready.candidates, graph, source)
    torch.testing.assert_close(ready.weights, expected, rtol=0, atol=0)


def test_candidates_and_kept_columns_are_respected(problem, default_objective):
    candidates = torch.tensor([2, 3, *range(6, 19)])
    ready = prepare(
        with_changes(problem, kept=[19], candidates=candidates), default_objective, SCREENING, True, generator()
    )
    assert ready.kept == [19]
    assert len(ready.candidates) == 3
    assert set(ready.candidates.tolist()) <= set(candidates.tolist())
    assert ready.candidates.tolist() == sorted(ready.candidates.tolist())


def test_nothing_is_screened_where_all_is_kept(problem, default_objective):
    candidates = torch.arange(4, 18)
    kept = with_changes(problem, kept=[18, 19], candidates=candidates)
    ready = prepare(kept, default_objective, SCREENING, True, generator())
    assert ready.candidates.tolist() == candidates.tolist()
    assert ready.weights.shape == (20,)


@pytest.mark.parametrize("on", ["gates", "concrete"])
def test_the_graph_screens_for_a_network_that_decodes_too(problem, default_objective, on):
    recipe = GraphRecipe(Graph("mean", 0.05), on=on, decodes=False)
    network = Objective(default_objective.terms, recipe)
    ready = prepare(problem, network, SCREENING, True, generator())
    expected = prepare(problem, default_objective, SCREENING, True, generator())
    assert ready.candidates.tolist() == expected.candidates.tolist()


def test_reconstruction_alone_can_be_screened_for(problem):
    alone = Objective({"reconstruction": Term(reconstruction)}, GraphRecipe(decodes=True))
    assert len(prepare(problem, alone, SCREENING, False, generator()).candidates) == 6


def test_many_rows_are_screened_in_several_batches(problem, default_objective, monkeypatch):
    monkeypatch.setattr(preparation, "ROWS", 80)
    prepare(problem, default_objective, SCREENING, True, generator())
    assert sorted(chain(*problem.rows.taken)) == list(range(200))
    assert [len(rows) for rows in problem.rows.taken] == [67, 67, 66]


def test_the_generator_decides(problem, default_objective):
    first, second, other = (prepare(problem, default_objective, SCREENING, True, generator(s)) for s in (0, 0, 1))
    torch.testing.assert_close(first.weights, second.weights, rtol=0, atol=0)
    assert not torch.equal(first.weights, other.weights)
