from dataclasses import replace

import pytest
import torch

from tamis import LSCAE
from tamis.neural import training
from tamis.neural.analytic import applies, covers, graph_gradient, layer_gradient
from tamis.neural.concrete import ConcreteLayer, gumbel_like
from tamis.neural.diffusion import Graph
from tamis.neural.network import SelectorNetwork
from tamis.neural.objective import (
    ALL_FEATURES,
    GraphRecipe,
    Objective,
    Targets,
    Term,
    View,
    reconstruction,
    redundancy,
    smoothness,
)

ERROR, SCORE = Term(reconstruction), Term(smoothness, maximise=True)
PENALTY = Term(redundancy, balanced=False, weight=3.0)
RECIPE = GraphRecipe(Graph("mean", 0.2), decodes=True)


def objective(error=ERROR, recipe=RECIPE):
    wanted = {} if error is None else {"reconstruction": error}
    return Objective(wanted | {"score": SCORE, "redundancy": PENALTY}, recipe)


DEFAULT = objective()


def targets(n_targets):
    """Combinations of three features, as many as asked for."""
    generator = torch.Generator().manual_seed(4)
    return Targets(torch.tensor([0, 2, 7]), torch.randn(3, n_targets, dtype=torch.float64, generator=generator))


def network(n_restarts=3, kept=(), spread=1.0, wanted=ALL_FEATURES):
    """Units that disagree (little spread), or that all want the same column (much of it)."""
    candidates = torch.tensor([j for j in range(8) if j not in kept])
    layer = ConcreteLayer(n_restarts, 3 + len(kept), 8, candidates=candidates, kept=kept)
    made = SelectorNetwork(layer, (4,), wanted).double()
    generator = torch.Generator().manual_seed(1)
    layer.source.values.data = 0.1 * torch.randn(layer.shape, generator=generator, dtype=torch.float64)
    layer.source.values.data[..., 5] += spread
    return made


@pytest.fixture
def x():
    table = torch.randn(12, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    table[:6, :3] += 3
    return table - table.mean(dim=0)


def both_ways(net, x, goal, temperature=0.7):
    noise = gumbel_like(net.layer.logits.detach(), torch.Generator().manual_seed(2))
    found, gradient = layer_gradient(net.layer, net.see(x), goal, temperature, noise)
    values, written = {name: torch.from_numpy(value) for name, value in found.items()}, torch.from_numpy(gradient)
    parts = goal(net.soft_view(net.see(x), goal, temperature, noise))
    (recorded,) = torch.autograd.grad(parts.loss.sum(), net.layer.source.values)
    return (values, written), (parts.terms, recorded)


def assert_alike(net, x, goal, **options):
    (values, written), (terms, recorded) = both_ways(net, x, goal, **options)
    assert covers(net.layer, goal)
    assert values.keys() == terms.keys()
    for name, value in values.items():
        torch.testing.assert_close(value, terms[name].detach())
    assert written.abs().max() > 1e-4
    torch.testing.assert_close(written, recorded, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("error", [ERROR, None], ids=["error", "score alone"])
@pytest.mark.parametrize("kept", [(), (6, 2)], ids=["free", "kept"])
@pytest.mark.parametrize("self_loops", [False, True])
@pytest.mark.parametrize("spread", [0.0, 3.0], ids=["apart", "redundant"])
def test_the_gradient_is_that_of_the_objective(x, error, kept, self_loops, spread):
    net = network(kept=kept, spread=spread)
    goal = objective(error, replace(RECIPE, graph=Graph("mean", 0.2, self_loops)))
    (values, _), _ = both_ways(net, x, goal)
    assert (values["redundancy"] > 0).all() == (spread > 0)
    assert_alike(net, x, goal)


@pytest.mark.parametrize("n_restarts", [1, 4])
@pytest.mark.parametrize("n_targets", [1, 3, 20], ids=["one direction", "few", "more than rows"])
@pytest.mark.parametrize("temperature", [0.1, 5.0])
def test_restarts_targets_and_temperatures(x, n_restarts, n_targets, temperature):
    assert_alike(network(n_restarts, wanted=targets(n_targets)), x, DEFAULT, temperature=temperature)


@pytest.mark.parametrize("n_targets", [1, 5])
def test_the_gradient_by_the_gram_matrix_is_that_of_autograd(x, n_targets):
    goal = targets(n_targets).of(x)
    view = View(goal, RECIPE)
    view.gram = torch.stack([x[:, :2] @ x[:, :2].T, x @ x.T]).requires_grad_()
    balanced = Objective({"reconstruction": ERROR, "score": SCORE}, RECIPE)
    parts = balanced(view)
    (recorded,) = torch.autograd.grad(parts.loss.sum(), view.gram)
    values, written = graph_gradient(view.gram.detach().numpy(), goal.numpy(), balanced)
    torch.testing.assert_close(torch.from_numpy(written), recorded, rtol=1e-8, atol=1e-12)
    for name, value in values.items():
        torch.testing.assert_close(torch.from_numpy(value), parts.terms[name].detach())


def test_the_goal_is_not_changed(x):
    goal = targets(5).of(x).numpy()
    before = goal.copy()
    graph_gradient((x @ x.T)[None].numpy(), goal, Objective({"reconstruction": ERROR, "score": SCORE}, RECIPE))
    assert (goal == before).all()


def test_redundancy_of_some_restarts_only(x):
    net = network()
    net.layer.source.values.data[1, :, 3] += 5.0
    net.layer.source.values.data[0, :, 5] -= 1.0
    (values, _), _ = both_ways(net, x, DEFAULT)
    assert (values["redundancy"] > 0).tolist()[:2] == [False, True]
    assert_alike(net, x, DEFAULT)


def test_a_score_below_zero():
    x = torch.tensor([[1.0], [-1.0]], dtype=torch.float64).expand(2, 8) * torch.arange(1.0, 9, dtype=torch.float64)
    net = network()
    (values, _), _ = both_ways(net, x, objective(None))
    assert (values["score"] < 0).all()
    (_, written), (_, recorded) = both_ways(net, x, objective(None))
    torch.testing.assert_close(written, recorded, rtol=1e-6, atol=1e-8)


def test_nothing_is_written_to_the_logits_or_the_noise(x):
    net = network()
    before, noise = net.layer.logits.detach().clone(), torch.zeros(3, 3, 8, dtype=torch.float64)
    layer_gradient(net.layer, net.see(x), DEFAULT, 0.5, noise)
    torch.testing.assert_close(net.layer.logits.detach(), before, rtol=0, atol=0)
    assert noise.abs().sum() == 0


def test_default_steps_are_covered():
    assert covers(network().layer, DEFAULT)
    assert covers(network().layer, objective(None))
    assert covers(network().layer, objective(None, replace(RECIPE, decodes=False)))


@pytest.mark.parametrize(
    "changes",
    [
        {"decodes": False},
        {"on": "concrete"},
        {"normalize": False},
        {"graph": Graph("nearest", 1.0)},
        {"graph": Graph(1.5)},
        {"steps": 2},
    ],
    ids=["network", "concrete", "not normalised", "nearest", "fixed", "two steps"],
)
def test_other_graphs_are_not(changes):
    assert not covers(network().layer, objective(recipe=replace(RECIPE, **changes)))


def test_other_layers_are_not_covered():
    assert not covers(ConcreteLayer(1, 2, 3, indirect_size=4), DEFAULT)
    nothing_to_learn = ConcreteLayer(1, 1, 3, candidates=torch.tensor([0, 1]), kept=[2])
    assert not covers(nothing_to_learn, DEFAULT)


@pytest.mark.parametrize(
    "term",
    [
        {"score": Term(lambda view: view.goal.sum())},
        {"score": SCORE._replace(balanced=False)},
        {"reconstruction": Term(reconstruction, balanced=False)},
        {"redundancy": Term(redundancy)},
        {"second": SCORE},
    ],
    ids=["foreign", "unbalanced", "unbalanced error", "balanced penalty", "twice"],
)
def test_other_terms_are_not(term):
    assert applies(DEFAULT)
    assert not applies(Objective(DEFAULT.terms | term, RECIPE))


def test_without_a_score_nothing_is_written_out():
    assert not applies(Objective({"reconstruction": Term(reconstruction)}, RECIPE))


@pytest.mark.parametrize(
    "parameters", [{}, {"must_keep": [4]}, {"structure_first": False, "self_loops": True}], ids=str
)
def test_both_paths_pick_the_same_columns(parameters, blobs, quick, monkeypatch):
    def fit():
        return LSCAE(3, **(quick | {"max_epochs": 60, "n_init": 2}), **parameters).fit(blobs.X)

    written = fit()
    asked = []
    monkeypatch.setattr(training, "covers", lambda *_: asked.append(1))
    recorded = fit()
    assert len(asked) == 60
    assert written.selected_.tolist() == recorded.selected_.tolist()
    torch.testing.assert_close(written.objective_, recorded.objective_, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(written.selection_probs_, recorded.selection_probs_, rtol=0, atol=0.02)
