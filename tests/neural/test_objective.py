import pytest
import torch

from tamis.neural.concrete import ConcreteLayer
from tamis.neural.decoder import Decoder
from tamis.neural.diffusion import Graph
from tamis.neural.objective import (
    GraphRecipe,
    Objective,
    Term,
    View,
    odds,
    reconstruction,
    redundancy,
    smoothness,
    weighted_reconstruction,
)
from tamis.neural.schedules import constant, warm_up
from tamis.neural.structure import StructureMemory

RECIPE = GraphRecipe(Graph("mean", 0.4), steps=lambda _: 2)
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


def view_of(x, logits, decoder, recipe=RECIPE, **options):
    layer = ConcreteLayer(2, 3, 4)
    weights = torch.softmax(logits, dim=-1)
    codes = layer.codes(x, weights)
    return View(
        x,
        codes,
        decoder(codes),
        recipe,
        StructureMemory(2, 4).double(),
        shown=x,
        gates=layer.gates(weights),
        probabilities=weights,
        **options,
    )


def test_reconstruction_agrees_with_loops(x, logits, decoder):
    view = view_of(x, logits, decoder)
    decoded = decoder(view.codes)
    energy = sum(x[i, j].item() ** 2 for i in range(7) for j in range(4))
    for r in range(2):
        squares = [(decoded[r, i, j] - x[i, j]).item() ** 2 for i in range(7) for j in range(4)]
        assert reconstruction(view)[r].item() == pytest.approx(sum(squares) / energy)


def test_weighted_reconstruction_agrees_with_loops(x, logits, decoder):
    view = view_of(x, logits, decoder)
    view.structure.total += torch.tensor([1.0, 2.0, 0.0, 1.0])
    error = weighted_reconstruction(view)
    decoded, weights = decoder(view.codes), view.structure.total
    for r in range(2):
        errors = [sum((decoded[r, i, j] - x[i, j]).item() ** 2 for i in range(7)) for j in range(4)]
        energies = [sum(x[i, j].item() ** 2 for i in range(7)) for j in range(4)]
        expected = sum(weights[r, j].item() * errors[j] for j in range(4))
        expected /= sum(weights[r, j].item() * energies[j] for j in range(4))
        assert error[r].item() == pytest.approx(expected, rel=1e-6)


def test_training_views_teach_the_memory_and_hard_ones_do_not(x, logits, decoder):
    soft = view_of(x, logits, decoder)
    weighted_reconstruction(soft)
    assert soft.structure.count == 1
    codes = x[:, [0, 2, 3]].expand(2, 7, 3)
    hard = View(x, codes, decoder(codes), RECIPE, structure=soft.structure)
    weighted_reconstruction(hard)
    assert soft.structure.count == 1


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
def test_gradients_of_the_terms(x, logits, decoder, term, on):
    recipe = GraphRecipe(Graph("mean", 0.4), on=on, steps=lambda _: 2)
    assert torch.autograd.gradcheck(lambda values: term(view_of(x, values, decoder, recipe)), logits)


def test_gradient_of_the_weighted_error_holds_the_weights_fixed(x, logits, decoder):
    view = view_of(x, logits, decoder)
    (gradient,) = torch.autograd.grad(weighted_reconstruction(view).sum(), logits)
    fixed = view.structure.weights()

    def error(values):
        energy = (fixed * x.square().mean(dim=0)).sum(dim=-1)
        return (view_of(x, values, decoder).column_errors * fixed).sum(dim=-1) / energy

    assert torch.autograd.gradcheck(error, logits)
    (expected,) = torch.autograd.grad(error(logits).sum(), logits)
    torch.testing.assert_close(gradient, expected)


@pytest.mark.parametrize("measure", [odds, lambda value: value], ids=["odds", "error"])
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
    both = {"reconstruction": Term(weighted_reconstruction, weight=constant(0.0)), "score": BOTH["score"]}
    (together,) = torch.autograd.grad(Objective(both, RECIPE)(view_of(x, logits, decoder)).loss.sum(), logits)
    alone = Objective({"score": BOTH["score"]}, RECIPE)(view_of(x, logits, decoder))
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


def test_an_unbalanced_term_is_added_as_it_is(x, logits, decoder):
    penalised = Objective({"redundancy": Term(redundancy, balanced=False, weight=constant(5.0))}, RECIPE)
    view = view_of(x, logits, decoder)
    torch.testing.assert_close(penalised(view).loss, 5 * redundancy(view))
    assert penalised(view).objective.tolist() == [0, 0]


def test_a_hard_view_has_no_gates_and_uses_its_codes(x):
    codes = x[:, [0, 2, 3]].expand(2, 7, 3)
    hard = View(x, codes, None, RECIPE)
    soft = View(x, codes, None, RECIPE, shown=x, gates=torch.tensor([[1.0, 0, 1, 1]] * 2, dtype=torch.float64))
    torch.testing.assert_close(smoothness(hard), smoothness(soft))
    assert redundancy(hard).tolist() == [0, 0]


def test_a_score_below_zero_neither_flips_the_sign_nor_gives_nan(decoder):
    x = torch.tensor([[1.0, -1, 1, -1], [-1, 1, -1, 1]], dtype=torch.float64)
    logits = torch.zeros(2, 3, 4, dtype=torch.float64, requires_grad=True)
    # A walk that cannot stay takes each of two opposite rows to the other one.
    one_step = GraphRecipe(Graph("mean", 0.4))
    parts = Objective(BOTH, one_step)(view_of(x, logits, decoder, one_step))
    assert (parts.terms["score"] < 0).all()
    assert parts.objective.isfinite().all()
    torch.testing.assert_close(parts.loss, torch.full((2,), 2.0, dtype=torch.float64))
