import pytest
import torch

from tamis.neural.concrete import ConcreteLayer
from tamis.neural.decoder import Decoder
from tamis.neural.diffusion import Graph
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

RECIPE = GraphRecipe(Graph("mean", 0.4), steps=2)
DECODING = GraphRecipe(Graph("mean", 0.4), decodes=True)
LOADINGS = torch.tensor([[0.5, 2.0, 0.0], [1.0, -1.0, 3.0]], dtype=torch.float64)
SOME = Targets(torch.tensor([3, 1]), LOADINGS)
BOTH = {"reconstruction": Term(reconstruction), "score": Term(smoothness, maximise=True)}


@pytest.fixture
def x():
    return torch.randn(7, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def logits():
    return torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()


@pytest.fixture
def decoder():
    return Decoder(2, (3, 5, 4), torch.Generator().manual_seed(2)).double()


def view_of(x, logits, decoder, recipe=RECIPE, targets=ALL_FEATURES):
    layer = ConcreteLayer(2, 3, 4)
    sample = torch.softmax(logits, dim=-1)
    codes = layer.codes(x, sample)
    return View(
        targets.of(x),
        recipe,
        codes,
        None if recipe.decodes else decoder(codes),
        shown=x,
        gates=layer.gates(sample),
        probabilities=sample,
    )


def test_targets_are_features_or_combinations_of_them(x):
    assert Targets().of(x) is x
    torch.testing.assert_close(Targets(torch.tensor([3, 1])).of(x), x[:, [3, 1]])
    found = SOME.of(x)
    for i in range(7):
        for c in range(3):
            expected = x[i, 3] * LOADINGS[0, c] + x[i, 1] * LOADINGS[1, c]
            assert found[i, c].item() == pytest.approx(expected.item())
    everything = torch.ones(4, 1, dtype=torch.float64)
    torch.testing.assert_close(Targets(loadings=everything).of(x), x.sum(dim=1, keepdim=True))


def test_targets_know_how_many_they_are():
    assert Targets().count(4) == 4
    assert Targets(torch.tensor([3, 1])).count(4) == 2
    assert SOME.count(4) == 3


def naive_share(goal, decoded):
    pairs = [(a.item(), b.item()) for a, b in zip(goal.ravel(), decoded.ravel(), strict=True)]
    return sum((a - b) ** 2 for a, b in pairs) / sum(a**2 for a, _ in pairs)


def test_reconstruction_agrees_with_loops(x, logits, decoder):
    view = view_of(x, logits, decoder)
    for r in range(2):
        assert reconstruction(view)[r].item() == pytest.approx(naive_share(x, decoder(view.codes)[r]))


@pytest.mark.parametrize("targets", [Targets(), SOME], ids=["features", "combinations"])
def test_a_graph_that_decodes_takes_one_step(x, logits, decoder, targets):
    recipe = GraphRecipe(Graph("mean", 0.4), steps=4, decodes=True)
    view = view_of(x, logits, decoder, recipe, targets)
    goal, walk = targets.of(x), view.transitions.detach()
    for r in range(2):
        steps = [[sum(walk[r, i, m] * goal[m, c] for m in range(7)) for c in range(goal.shape[1])] for i in range(7)]
        assert reconstruction(view)[r].item() == pytest.approx(naive_share(goal, torch.tensor(steps)))
    assert not torch.allclose(view.walk, view.transitions)


def test_redundancy_agrees_with_loops(x, logits, decoder):
    view = view_of(x, logits, decoder)
    for r in range(2):
        sums = [sum(view.probabilities[r, i, j].item() for i in range(3)) for j in range(4)]
        assert redundancy(view)[r].item() == pytest.approx(max(0.0, max(sums) - 1))


def test_redundancy_is_zero_for_distinct_units(x, decoder):
    view = view_of(x, 100 * torch.eye(4, dtype=torch.float64)[:3].expand(2, 3, 4), decoder)
    torch.testing.assert_close(redundancy(view), torch.zeros(2, dtype=torch.float64))


@pytest.mark.parametrize("term", [reconstruction, smoothness, redundancy])
@pytest.mark.parametrize("on", ["gates", "concrete"])
@pytest.mark.parametrize("decodes", [False, True])
def test_gradients_of_the_terms(x, logits, decoder, term, on, decodes):
    targets = SOME if decodes else Targets()
    recipe = GraphRecipe(Graph("mean", 0.4), on=on, steps=2, decodes=decodes)
    assert torch.autograd.gradcheck(lambda values: term(view_of(x, values, decoder, recipe, targets)), logits)


@pytest.mark.parametrize("recipe", [RECIPE, DECODING], ids=["network", "graph"])
def test_balanced_gradient_is_that_of_J(x, logits, decoder, recipe):
    parts = Objective(BOTH, recipe)(view_of(x, logits, decoder, recipe))
    assert (parts.terms["score"] > 0).all()
    (balanced,) = torch.autograd.grad(parts.loss.sum(), logits, retain_graph=True)
    (of_j,) = torch.autograd.grad(parts.objective.sum(), logits, retain_graph=True)
    torch.testing.assert_close(balanced, of_j)
    torch.testing.assert_close(parts.loss, torch.zeros(2, dtype=torch.float64))
    torch.testing.assert_close(parts.objective, parts.terms["reconstruction"].log() - parts.terms["score"].log())


def test_processes_share_the_magnitude_of_a_term():
    objective, value = Objective({"reconstruction": BOTH["reconstruction"]}), torch.tensor([0.5])
    assert objective.combine({"reconstruction": value}, lambda _: torch.tensor([2.0])).loss.tolist() == [0.25]
    assert objective.combine({"reconstruction": value}).loss.tolist() == [1.0]


def test_restarts_do_not_influence_each_other(x, logits, decoder):
    parts = Objective(BOTH, RECIPE)(view_of(x, logits, decoder))
    (gradient,) = torch.autograd.grad(parts.loss[0], logits)
    assert gradient[0].abs().sum() > 0
    assert gradient[1].abs().sum() == 0


def test_values_of_several_batches_are_combined_at_once():
    objective = Objective(BOTH | {"redundancy": Term(redundancy, balanced=False)}, RECIPE)
    values = {name: torch.rand(5, 2) + 0.1 for name in objective.terms}
    together = objective.combine(values)
    assert together.loss.shape == together.objective.shape == (5, 2)
    for batch in range(5):
        alone = objective.combine({name: value[batch] for name, value in values.items()})
        torch.testing.assert_close(together.objective[batch], alone.objective)
        torch.testing.assert_close(together.loss[batch], alone.loss)


def test_what_an_objective_needs():
    network = Objective(BOTH, RECIPE)
    assert (network.needs_decoder, network.needs_codes, network.needs_probabilities) == (True, True, False)
    graph = Objective(BOTH | {"redundancy": Term(redundancy, balanced=False)}, DECODING)
    assert (graph.needs_decoder, graph.needs_codes, graph.needs_probabilities) == (False, False, True)
    score = {"score": BOTH["score"]}
    assert not Objective(score, RECIPE).needs_codes
    assert Objective(score, GraphRecipe(on="concrete")).needs_codes


def test_an_unbalanced_term_is_added_as_it_is(x, logits, decoder):
    penalised = Objective({"redundancy": Term(redundancy, balanced=False, weight=5.0)}, RECIPE)
    view = view_of(x, logits, decoder)
    torch.testing.assert_close(penalised(view).loss, 5 * redundancy(view))
    assert penalised(view).objective.tolist() == [0, 0]


def test_a_hard_view_has_no_gates_and_uses_its_codes(x):
    codes = x[:, [0, 2, 3]].expand(2, 7, 3)
    hard = View(x, DECODING, codes)
    soft = View(x, DECODING, shown=x, gates=torch.tensor([[1.0, 0, 1, 1]] * 2, dtype=torch.float64))
    torch.testing.assert_close(smoothness(hard), smoothness(soft))
    torch.testing.assert_close(reconstruction(hard), reconstruction(soft))
    assert redundancy(hard).tolist() == redundancy(soft).tolist() == [0, 0]


def test_a_score_below_zero_neither_flips_the_sign_nor_gives_nan(decoder):
    x = torch.tensor([[1.0, -1, 1, -1], [-1, 1, -1, 1]], dtype=torch.float64)
    logits = torch.zeros(2, 3, 4, dtype=torch.float64, requires_grad=True)
    # A walk that cannot stay takes each of two opposite rows to the other one.
    one_step = GraphRecipe(Graph("mean", 0.4))
    parts = Objective(BOTH, one_step)(view_of(x, logits, decoder, one_step))
    assert (parts.terms["score"] < 0).all()
    assert parts.objective.isfinite().all()
    torch.testing.assert_close(parts.loss, torch.full((2,), 2.0, dtype=torch.float64))
