import pytest
import torch

from tamis.neural.concrete import ConcreteLayer
from tamis.neural.decoder import Decoder
from tamis.neural.diffusion import Graph
from tamis.neural.objective import (
    Goal,
    GraphRecipe,
    Objective,
    Term,
    View,
    identity,
    odds,
    reconstruction,
    redundancy,
    smoothness,
)
from tamis.neural.schedules import constant, linear, warm_up

RECIPE = GraphRecipe(Graph("mean", 0.4), steps=lambda _: 2)
DECODING = GraphRecipe(Graph("mean", 0.4), decodes=True)
WEIGHTS = torch.tensor([0.5, 2.0, 0.0, 1.5], dtype=torch.float64)
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


def view_of(x, logits, decoder, recipe=RECIPE, weights=None, **options):
    layer = ConcreteLayer(2, 3, 4)
    sample = torch.softmax(logits, dim=-1)
    codes = layer.codes(x, sample)
    return View(
        Goal(x, weights),
        recipe,
        codes,
        None if recipe.decodes else decoder(codes),
        shown=x,
        gates=layer.gates(sample),
        probabilities=sample,
        **options,
    )


def naive_error(x, decoded, weights):
    n, d = x.shape
    return sum(weights[j].item() * (decoded[i, j] - x[i, j]).item() ** 2 for i in range(n) for j in range(d))


def naive_energy(x, weights):
    n, d = x.shape
    return sum(weights[j].item() * x[i, j].item() ** 2 for i in range(n) for j in range(d))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_goals_agree_with_loops(x, weights):
    goal, known = Goal(x, weights), torch.ones(4, dtype=torch.float64) if weights is None else weights
    for i in range(7):
        for m in range(7):
            expected = sum(known[j].item() * x[i, j].item() * x[m, j].item() for j in range(4))
            assert goal.gram[i, m].item() == pytest.approx(expected)
    assert [goal.energy.item(), goal.trace.item()] == pytest.approx([naive_energy(x, known)] * 2)
    decoded = torch.randn(2, 7, 4, dtype=torch.float64)
    for r in range(2):
        assert goal.error_of_columns(decoded)[r].item() == pytest.approx(naive_error(x, decoded[r], known))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_the_error_of_a_walk_is_that_of_the_columns_it_gives(x, logits, decoder, weights):
    walk, goal = view_of(x, logits, decoder).transitions.detach(), Goal(x, weights)
    torch.testing.assert_close(goal.error_of_walk(walk), goal.error_of_columns(walk @ x))
    known = torch.ones(4, dtype=torch.float64) if weights is None else weights
    for r in range(2):
        steps = [[sum(walk[r, i, m] * x[m, j] for m in range(7)) for j in range(4)] for i in range(7)]
        assert goal.error_of_walk(walk)[r].item() == pytest.approx(naive_error(x, torch.tensor(steps), known))


def test_a_column_without_weight_does_not_matter(x):
    changed = x.clone()
    changed[:, 2] = 100.0
    torch.testing.assert_close(Goal(changed, WEIGHTS).gram, Goal(x, WEIGHTS).gram)
    torch.testing.assert_close(Goal(changed, WEIGHTS).energy, Goal(x, WEIGHTS).energy)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_reconstruction_agrees_with_loops(x, logits, decoder, weights):
    view = view_of(x, logits, decoder, weights=weights)
    decoded, known = decoder(view.codes), torch.ones(4, dtype=torch.float64) if weights is None else weights
    for r in range(2):
        expected = naive_error(x, decoded[r], known) / naive_energy(x, known)
        assert reconstruction(view)[r].item() == pytest.approx(expected)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_a_graph_that_decodes_takes_one_step(x, logits, decoder, weights):
    recipe = GraphRecipe(Graph("mean", 0.4), steps=lambda _: 4, decodes=True)
    view = view_of(x, logits, decoder, recipe, weights=weights)
    expected = view.goal.error_of_columns(view.transitions @ x) / view.goal.energy
    torch.testing.assert_close(reconstruction(view), expected)
    assert not torch.allclose(view.walk, view.transitions)


def test_odds():
    torch.testing.assert_close(odds(torch.tensor([0.5, 0.8])), torch.tensor([1.0, 4.0]))
    assert odds(torch.tensor(1.2)) == pytest.approx(120)


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
    recipe = GraphRecipe(Graph("mean", 0.4), on=on, steps=lambda _: 2, decodes=decodes)
    assert torch.autograd.gradcheck(lambda values: term(view_of(x, values, decoder, recipe, WEIGHTS)), logits)


@pytest.mark.parametrize("measure", [odds, identity], ids=["odds", "error"])
def test_balanced_gradient_is_that_of_J(x, logits, decoder, measure):
    for weight in decoder.parameters():  # a decoder that explains something, so that the odds are not at their floor
        weight.data *= 0.3
    terms = BOTH | {"reconstruction": Term(reconstruction, measure=measure)}
    parts = Objective(terms, RECIPE)(view_of(x, logits, decoder))
    (balanced,) = torch.autograd.grad(parts.loss.sum(), logits, retain_graph=True)
    (of_j,) = torch.autograd.grad(parts.objective.sum(), logits, retain_graph=True)
    torch.testing.assert_close(balanced, of_j)
    torch.testing.assert_close(parts.loss, torch.zeros(2, dtype=torch.float64))
    expected = measure(parts.terms["reconstruction"]).log() - parts.terms["score"].log()
    torch.testing.assert_close(parts.objective, expected)


def test_terms_that_share_a_graph_all_keep_their_gradient(x, logits, decoder):
    both = {"reconstruction": Term(reconstruction, weight=constant(0.0)), "score": BOTH["score"]}
    shared = view_of(x, logits, decoder, DECODING)
    (together,) = torch.autograd.grad(Objective(both, DECODING)(shared).loss.sum(), logits)
    alone = Objective({"score": BOTH["score"]}, DECODING)(view_of(x, logits, decoder, DECODING))
    (expected,) = torch.autograd.grad(alone.loss.sum(), logits)
    torch.testing.assert_close(together, expected)


def test_restarts_do_not_influence_each_other(x, logits, decoder):
    parts = Objective(BOTH, RECIPE)(view_of(x, logits, decoder))
    (gradient,) = torch.autograd.grad(parts.loss[0], logits)
    assert gradient[0].abs().sum() > 0
    assert gradient[1].abs().sum() == 0


def test_weights_follow_progress_but_do_not_change_J(x, logits, decoder):
    warming = Objective({"reconstruction": Term(reconstruction, weight=warm_up(1.0))}, RECIPE)
    early = warming(view_of(x, logits, decoder, progress=0.0))
    late = warming(view_of(x, logits, decoder, progress=1.0))
    assert early.loss.tolist() == [0, 0]
    assert late.loss.tolist() == [1, 1]
    torch.testing.assert_close(early.objective, late.objective)


def test_J_takes_the_weights_of_the_end_of_training(x, logits, decoder):
    terms = {
        "reconstruction": Term(reconstruction, weight=warm_up(0.5)),
        "score": Term(smoothness, maximise=True, weight=linear(3.0, 0.25)),
    }
    for progress in (0.0, 0.3, 1.0):
        parts = Objective(terms, RECIPE)(view_of(x, logits, decoder, progress=progress))
        expected = parts.terms["reconstruction"].log() - 0.25 * parts.terms["score"].log()
        torch.testing.assert_close(parts.objective, expected)


def test_values_of_several_batches_are_combined_at_once():
    objective = Objective(BOTH | {"redundancy": Term(redundancy, balanced=False)}, RECIPE)
    values = {name: torch.rand(5, 2) + 0.1 for name in objective.terms}
    together = objective.combine(values, 1.0)
    assert together.loss.shape == together.objective.shape == (5, 2)
    for batch in range(5):
        alone = objective.combine({name: value[batch] for name, value in values.items()}, 1.0)
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
    penalised = Objective({"redundancy": Term(redundancy, balanced=False, weight=constant(5.0))}, RECIPE)
    view = view_of(x, logits, decoder)
    torch.testing.assert_close(penalised(view).loss, 5 * redundancy(view))
    assert penalised(view).objective.tolist() == [0, 0]


def test_a_hard_view_has_no_gates_and_uses_its_codes(x):
    codes = x[:, [0, 2, 3]].expand(2, 7, 3)
    hard = View(Goal(x), DECODING, codes)
    soft = View(Goal(x), DECODING, shown=x, gates=torch.tensor([[1.0, 0, 1, 1]] * 2, dtype=torch.float64))
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
