import copy
import shutil

import numpy as np
import pytest
import torch

from tamis import LSCAE
from tamis.neural import compiled, seen_rows
from tamis.neural.adam import Adam
from tamis.neural.analytic import layer_gradient
from tamis.neural.compiled import CompiledStep
from tamis.neural.concrete import ConcreteLayer, GumbelPool
from tamis.neural.diffusion import Graph
from tamis.neural.network import Seen, SelectorNetwork, hard_codes
from tamis.neural.objective import (
    GraphRecipe,
    Objective,
    Sample,
    Term,
    View,
    identity,
    odds,
    reconstruction,
    redundancy,
    smoothness,
)
from tamis.neural.schedules import constant, linear, warm_up
from tamis.neural.seen_rows import SeenRows
from tamis.synthetic import moons_with_copies

PROGRESS, TEMPERATURE = 0.6, 0.7
needs_compiler = pytest.mark.skipif(compiled._graph_step is None, reason="nothing was compiled at installation")


def objective(measure=odds, self_loops=False):
    error = {} if measure is None else {"reconstruction": Term(reconstruction, measure=measure, weight=warm_up(1.0))}
    score = Term(smoothness, maximise=True, weight=linear(1.0, 0.5))
    penalty = Term(redundancy, balanced=False, weight=constant(3.0))
    recipe = GraphRecipe(Graph("mean", 0.2, self_loops), decodes=True)
    return Objective({"redundancy": penalty, "score": score} | error, recipe)


def network(n_restarts=2, kept=(), wanted=1.0):
    candidates = torch.tensor([j for j in range(8) if j not in kept])
    layer = ConcreteLayer(n_restarts, 3 + len(kept), 8, candidates=candidates, kept=kept)
    generator = torch.Generator().manual_seed(1)
    layer.source.values.data = 0.1 * torch.randn(layer.shape, generator=generator)
    layer.source.values.data[..., 5] += wanted
    weights = torch.rand(8, generator=generator)
    return SelectorNetwork(layer, (4,), weights=weights, generator=generator)


@pytest.fixture
def x():
    table = torch.randn(24, 8, generator=torch.Generator().manual_seed(0))
    table[:12, :3] += 3
    return table - table.mean(dim=0)


def adam_of(net):
    optimiser = Adam([(list(net.layer.parameters()), 0.3)])
    optimiser.steps = 4
    for mean, square in optimiser.moments.values():
        mean += 0.1
        square += 0.02
    return optimiser


def state_of(net, optimiser):
    logits = net.layer.source.values
    return [tensor.detach().clone() for tensor in (logits, *optimiser.moments[logits])]


def by_numpy(net, goal, seen):
    optimiser = adam_of(net)
    noise = GumbelPool(net.layer.shape, torch.Generator().manual_seed(2)).draw(net.layer.shape)
    values, gradient = layer_gradient(net.layer, seen, goal, TEMPERATURE, PROGRESS, noise)
    net.layer.source.values.grad = torch.from_numpy(gradient)
    optimiser.step()
    return torch.from_numpy(np.array([values[name] for name in goal.terms])), state_of(net, optimiser)


def by_compiled_code(net, goal, batch):
    optimiser = adam_of(net)
    step = CompiledStep(net.layer, goal, optimiser)
    assert step.covers(PROGRESS)
    values = step(batch, GumbelPool(net.layer.shape, torch.Generator().manual_seed(2)), TEMPERATURE, PROGRESS)
    assert optimiser.steps == 5
    return values, state_of(net, optimiser)


def assert_same_step(net, goal, batch, seen):
    """Both ways begin with the same logits; numbers of either sign and of many sizes must agree."""
    twin = copy.deepcopy(net)
    (values, moved), (expected, wanted) = by_compiled_code(net, goal, batch), by_numpy(twin, goal, seen)
    torch.testing.assert_close(values, expected, rtol=1e-4, atol=1e-6)
    for mine, reference in zip(moved, wanted, strict=True):
        torch.testing.assert_close(mine, reference, rtol=1e-4, atol=1e-5)


def test_the_step_is_compiled_where_there_is_a_compiler():
    assert compiled._graph_step is not None or shutil.which("cc") is None


@needs_compiler
@pytest.mark.parametrize("measure", [odds, identity, None], ids=["odds", "error", "score alone"])
@pytest.mark.parametrize("kept", [(), (6, 2)], ids=["free", "kept"])
@pytest.mark.parametrize("self_loops", [False, True])
@pytest.mark.parametrize("wanted", [0.0, 3.0], ids=["apart", "redundant"])
def test_a_step_is_that_of_numpy(x, measure, kept, self_loops, wanted):
    net = network(kept=kept, wanted=wanted)
    seen = net.see(x)
    assert_same_step(net, objective(measure, self_loops), seen, seen)


@needs_compiler
@pytest.mark.parametrize("n_restarts", [1, 3])
@pytest.mark.parametrize("narrow", [0, 256], ids=["by Gram matrix", "by columns"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_a_table_make_a_batch(x, table_rows, n_restarts, narrow, order, monkeypatch):
    monkeypatch.setattr(seen_rows, "NARROW", narrow)
    net = network(n_restarts, kept=(3,))
    table = SeenRows(table_rows(torch.from_numpy(np.array(x.numpy(), order=order))), net)
    part = table.take(torch.tensor([7, 0, 19, 4, 11, 23, 8]))
    assert_same_step(net, objective(), part, table.look(part.rows))


@needs_compiler
def test_columns_stored_one_after_another(x):
    net = network()
    seen = Seen(x.T.contiguous().T, net.see(x).goal)
    assert_same_step(net, objective(), seen, net.see(x))


@needs_compiler
def test_units_that_have_settled_long_ago(x):
    """Exponents beyond the smallest float are nothing, and nothing overflows."""
    net = network()
    net.layer.source.values.data *= 200
    seen = net.see(x)
    values, moved = by_compiled_code(net, objective(), seen)
    assert all(torch.isfinite(tensor).all() for tensor in (values, *moved))


@needs_compiler
def test_arrays_of_the_wrong_size_are_refused(x):
    arrays = [np.zeros(4, np.float32) for _ in range(8)]
    sizes, numbers = (2, 3, 0, 1, 1, 3, 0, 0, 2), (1.0,) * 11
    with pytest.raises(ValueError, match="do not fit their sizes"):
        compiled._graph_step.graph_step(sizes, numbers, (1.0, 0, 1.0, 0), *arrays[:4], 0, 1, *arrays[4:])


@needs_compiler
@pytest.mark.parametrize("n_targets", [3, 30], ids=["few columns", "many columns"])
@pytest.mark.parametrize("measure", [odds, None], ids=["odds", "score alone"])
def test_hard_selections_are_valued_as_by_the_objective(n_targets, measure):
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(20, 30, generator=generator)
    weights = torch.rand(n_targets, generator=generator)
    sample, goal = Sample.of(x, torch.arange(n_targets), weights), objective(measure)
    selections = torch.tensor([[0, 1], [7, 3], [29, 28]])
    assert compiled.judges(sample, goal)
    found = compiled.hard_values(sample, selections, goal)
    expected = goal(View(sample.goal, goal.recipe, hard_codes(x, selections))).terms
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        torch.testing.assert_close(found[name], values, rtol=1e-5, atol=1e-6)


@needs_compiler
def test_selections_of_the_wrong_size_are_refused():
    codes, goal, values = (np.zeros(size, np.float32) for size in (12, 9, 3))
    with pytest.raises(ValueError, match="do not fit their sizes"):
        compiled._graph_step.hard_values((2, 3, 2, 0, 0), (0.1, 1e-12), codes, goal, values)


def test_double_precision_and_other_objectives_are_not_covered(default_objective):
    net = network()
    assert not CompiledStep(net.double().layer, default_objective, adam_of(net)).covers(0.0)


def test_without_compiled_code_numpy_finds_the_same(monkeypatch):
    X = moons_with_copies(6, seed=0).X
    options = {"random_state": 0, "n_init": 1, "max_epochs": 40}
    fast = LSCAE(2, **options).fit(X)
    monkeypatch.setattr(compiled, "_graph_step", None)
    plain = LSCAE(2, **options).fit(X)
    assert set(fast.selected_) == set(plain.selected_)
    np.testing.assert_allclose(fast.history_["objective"][:5], plain.history_["objective"][:5], rtol=1e-3)
