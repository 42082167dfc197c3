import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from tamis.neural.diffusion import Graph
from tamis.neural.objective import Goal, GraphRecipe, Objective, Sample, Term, View, smoothness
from tamis.neural.screening import Screening, column_slopes, eliminate, screen, slopes, widely_carried
from tamis.neural.taming import tamed
from tamis.synthetic import moons_with_copies, moons_with_uniform

NOTHING = torch.tensor([], dtype=torch.long)


@pytest.fixture
def x():
    table = torch.randn(9, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    table[:4, :3] += 2
    return table - table.mean(dim=0)


def J_of(squared_gates, x, goal, objective):
    view = View(goal, objective.recipe, shown=x, gates=squared_gates.sqrt()[None])
    return objective(view).objective.item()


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_slopes_are_finite_differences(x, default_objective, steps, weighted):
    objective = replace(default_objective, recipe=replace(default_objective.recipe, steps=lambda _: steps))
    goal = Goal(x, torch.arange(6, dtype=torch.float64) if weighted else None)
    found, gradient = slopes(x, goal, objective, progress=1.0)
    for j in range(6):
        step = torch.zeros(6, dtype=torch.float64)
        step[j] = 1e-5
        rise = J_of(1 + step, x, goal, objective) - J_of(1 - step, x, goal, objective)
        assert found[j].item() == pytest.approx(rise / 2e-5, rel=1e-5, abs=1e-8)
    torch.testing.assert_close(column_slopes(x, gradient), found)


def test_the_gradient_tells_the_slope_of_closed_gates_too(x, default_objective):
    goal, is_open = Goal(x), torch.tensor([1.0, 0, 0, 1, 1, 0], dtype=torch.float64)
    _, gradient = slopes(x[:, is_open > 0], goal, default_objective, progress=1.0)
    for j in (1, 2, 5):
        step = torch.zeros(6, dtype=torch.float64)
        step[j] = 1e-7
        rise = J_of(is_open + step, x, goal, default_objective) - J_of(is_open, x, goal, default_objective)
        assert column_slopes(x[:, j : j + 1], gradient).item() == pytest.approx(rise / 1e-7, rel=1e-4)


def test_terms_weigh_as_at_their_progress(x, default_objective):
    early, _ = slopes(x, Goal(x), default_objective, progress=0.0)
    alone = Objective({"score": Term(smoothness, maximise=True)}, default_objective.recipe)
    torch.testing.assert_close(early, slopes(x, Goal(x), alone, progress=0.0)[0])
    assert not torch.allclose(early, slopes(x, Goal(x), default_objective, progress=0.5)[0])


def test_rounds_shrink_and_end():
    screening, left = Screening(drop=0.5), [100]
    while left[-1] > 7:
        left.append(screening.left(left[-1], 7))
    assert left == [100, 50, 25, 12, 7]
    assert Screening(drop=0.01).left(10, 3) == 9


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [moons_with_copies, moons_with_uniform])
@pytest.mark.parametrize("seed", range(2))
def test_screening_keeps_informative_columns(make, seed, weighted, default_objective, standardised):
    table = make(40, seed)
    batches = list(standardised(table)[torch.randperm(1200, generator=torch.Generator().manual_seed(0))].split(400))
    everything = torch.arange(len(table.names))
    rounds = screen(batches, everything, NOTHING, everything, default_objective, 2, Screening(), weighted)
    left = rounds[-1]
    assert len(left) == 16
    assert left.tolist() == sorted(set(left.tolist()))
    assert set(np.flatnonzero(table.groups >= 0)) <= set(left.tolist())


def test_kept_columns_are_neither_dropped_nor_given(default_objective, standardised):
    table = moons_with_uniform(30, 0, n_samples=200)
    x, kept = standardised(table), torch.tensor([31, 7])
    candidates = torch.tensor([j for j in range(31) if j != 7])
    left = screen([x], candidates, kept, torch.arange(32), default_objective, 1, Screening(per_unit=6), False)[-1]
    assert len(left) == 6
    assert set(left.tolist()) <= set(candidates.tolist())


def test_a_kept_copy_makes_its_twin_less_wanted(default_objective, standardised):
    x = standardised(moons_with_copies(6, 0, n_samples=300))
    goal, places = Goal(x), torch.arange(1, 16)
    slope, _ = slopes(x[:, [0, *places.tolist()]], goal, default_objective, progress=1.0)
    alone, _ = slopes(x[:, places], goal, default_objective, progress=1.0)
    assert slope[2] > alone[1]  # column 2 copies column 0


def test_few_candidates_are_left_alone(x, default_objective):
    candidates = torch.tensor([5, 0, 2])
    rounds = screen([x], candidates, NOTHING, torch.arange(6), default_objective, 1, Screening(per_unit=3), True)
    assert [left.tolist() for left in rounds] == [[5, 0, 2]]


def test_every_round_is_given(default_objective, standardised):
    x = standardised(moons_with_uniform(20, 0, n_samples=200))
    everything, screening = torch.arange(22), Screening(drop=0.5, per_unit=2)
    rounds = screen([x], everything, NOTHING, everything, default_objective, 2, screening, True)
    assert [len(left) for left in rounds] == [22, 11, 5, 4]
    for wider, narrower in pairwise(rounds):
        assert set(narrower.tolist()) < set(wider.tolist())


def test_all_batches_have_a_say(default_objective, standardised):
    x = standardised(moons_with_uniform(20, 0, n_samples=200))
    everything, screening = torch.arange(22), Screening(drop=0.99, per_unit=11)

    def left_by(batches):
        return screen(batches, everything, NOTHING, everything, default_objective, 1, screening, False)[-1]

    total = sum(slopes(half, Goal(half), default_objective, 0.0)[0] for half in (x[:100], x[100:]))
    assert left_by([x[:100], x[100:]]).tolist() == sorted(total.argsort()[:11].tolist())


@pytest.mark.parametrize("n_units", [1, 2, 5])
def test_elimination_leaves_one_column_for_each_unit(n_units, default_objective, standardised):
    table = moons_with_copies(10, 0, n_samples=300)
    x, kept = standardised(table), torch.tensor([23])
    left = eliminate([Sample(x, Goal(x))], torch.arange(23), kept, default_objective, n_units, Screening())
    assert len(set(left.tolist())) == n_units
    assert 23 not in left


def test_elimination_solves_the_moons(default_objective, standardised):
    table = moons_with_copies(10, 0, n_samples=300)
    x = standardised(table)
    goal = Goal(x, torch.tensor([1.0] * 4 + [0.0] * 20))
    left = eliminate([Sample(x, goal)], torch.arange(24), NOTHING, default_objective, 2, Screening())
    assert table.is_solved_by(left.numpy())


def test_a_score_alone_can_screen(standardised):
    table = moons_with_uniform(20, 0, n_samples=400)
    x, everything = standardised(table), torch.arange(22)
    score = Objective({"score": Term(smoothness, maximise=True)}, GraphRecipe(Graph("mean", 0.05)))
    left = screen([x], everything, NOTHING, everything, score, 2, Screening(per_unit=4), False)[-1]
    assert {0, 1} <= set(left.tolist())


def test_columns_that_a_few_rows_carry_are_no_candidates():
    x = torch.randn(300, 6, generator=torch.Generator().manual_seed(0))
    x[:, [1, 4]] = 0.0
    x[[0, 1, 298, 299], 1] = 1.0
    x[:40, 4] = 1.0
    x -= x.mean(dim=0)
    parts, everything = [tamed(x[:150], math.inf), tamed(x[150:], math.inf)], torch.arange(6)
    assert widely_carried([x], everything, 2).tolist() == everything.tolist()
    assert widely_carried(parts, everything, 2).tolist() == [0, 2, 3, 4, 5]  # two rows in each
    assert widely_carried(parts, everything, 6).tolist() == everything.tolist()
    assert widely_carried([parts[0][:, [1, 1, 1]]], torch.arange(3), 2).numel() == 2  # too few are left otherwise
