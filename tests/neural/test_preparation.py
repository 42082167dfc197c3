import math
from itertools import chain

import pytest
import torch

from tamis.neural import preparation
from tamis.neural.diffusion import Graph
from tamis.neural.objective import GraphRecipe, Objective, Term, reconstruction
from tamis.neural.preparation import draw_targets, prepare, widened
from tamis.neural.restarts import Problem
from tamis.neural.screening import Screening
from tamis.neural.structure import structure_on, structure_weights
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

    def structure(x, goal, *_):
        seen.append(x)
        return torch.full((len(goal),), float(len(seen)))

    monkeypatch.setattr(preparation, "structure_on", structure)
    monkeypatch.setattr(preparation, "structure_weights", lambda found: found)
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
    monkeypatch.setattr(preparation, "MOST_CANDIDATES", 1)
    ready = prepare(problem, default_objective, SCREENING, True, generator())
    source = generator()
    targets, graph = draw_targets(20, source), default_objective.recipe.graph
    assert ready.targets.tolist() == targets.tolist()
    found = structure_on(tamed(problem.rows.table, math.inf), targets, ready.candidates, graph, source)
    torch.testing.assert_close(ready.weights, structure_weights(found), rtol=0, atol=0)


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


WIDE, MIDDLE, NARROW = (torch.arange(size) for size in (9, 6, 3))


@pytest.mark.parametrize(
    ("wide", "narrow", "left"),
    [
        ([0.8, 0.4], [0.8, 0.4], 9),
        ([0.7, 0.1], [0.8, 0.0], 9),
        ([0.6, 0.1], [0.8, 0.0], 3),  # much of the structure is gone
        ([0.3, 0.3, 0.3, 0.3], [0.8, 0.0, 0.0, 0.0], 3),  # there is more of it, but many carry a little
        ([0.8, 0.0], [0.3, 0.3], 9),
        ([0.0, 0.0], [0.0, 0.0], 9),
    ],
)
def test_screening_is_taken_back_where_structure_is_as_clear_without_it(wide, narrow, left):
    known = {9: torch.tensor(wide), 3: torch.tensor(narrow)}
    candidates, found = widened([None], [WIDE, MIDDLE, NARROW], lambda _, some: known[len(some)])
    assert len(candidates) == left
    assert found == [known[left]]


def test_structure_is_compared_over_all_batches():
    """In each batch alone the wide graph is as clear, by columns that stand out by chance."""
    seen = {9: iter([[0.8, 0.0], [0.0, 0.8]]), 3: iter([[0.8, 0.0], [0.8, 0.0]])}
    candidates, found = widened([None, None], [WIDE, NARROW], lambda _, left: torch.tensor(next(seen[len(left)])))
    assert candidates is NARROW
    assert len(found) == 2


def test_no_more_candidates_than_can_be_trained(monkeypatch):
    monkeypatch.setattr(preparation, "MOST_CANDIDATES", 8)
    looked = []

    def structure(_, left):
        looked.append(len(left))
        return torch.ones(2)

    assert widened([None], [WIDE, MIDDLE, NARROW], structure)[0] is MIDDLE
    assert looked == [3, 6]
    monkeypatch.setattr(preparation, "MOST_CANDIDATES", 2)
    looked.clear()
    assert widened([None], [WIDE, MIDDLE, NARROW], structure)[0] is NARROW
    assert looked == [3]


def test_nuisance_columns_stay_out_and_telling_ones_come_back(standardised, table_rows, default_objective):
    def left_of(x):
        problem = Problem(table_rows(x), n_features=x.shape[1], n_units=2)
        return len(prepare(problem, default_objective, Screening(), True, generator()).candidates)

    assert left_of(standardised(moons_with_copies(20, 0, n_samples=500))) == 16
    factors = torch.randn(500, 8, generator=generator()) + 3 * torch.randint(2, (500, 8), generator=generator())
    x = factors @ torch.randn(8, 44, generator=generator()) + torch.randn(500, 44, generator=generator())
    assert left_of((x - x.mean(dim=0)) / x.std(dim=0)) == 44
