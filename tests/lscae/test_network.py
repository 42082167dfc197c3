from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.distributions import RelaxedOneHotCategorical

from tamis.lscae.decoder import leave_one_out
from tamis.lscae.network import Adam, ConcreteLayer, Network, assign_distinct, give_to_units, temperature
from tamis.lscae.problem import Targets
from tamis.lscae.recipe import DEFAULT, PAPER


def layer(logits, candidates=None, kept=()):
    candidates = torch.arange(logits.shape[1]) if candidates is None else torch.tensor(candidates)
    made = ConcreteLayer(len(logits), candidates, torch.tensor(kept, dtype=torch.long))
    made.logits.data = logits
    return made


def gumbel(*shape):
    return -torch.log(-torch.log(torch.rand(*shape, generator=torch.Generator().manual_seed(7)).clamp_min(1e-30)))


def test_a_sample_is_that_of_torch_distributions():
    logits = torch.randn(3, 5, generator=torch.Generator().manual_seed(0))
    with torch.random.fork_rng():
        torch.manual_seed(7)
        expected = RelaxedOneHotCategorical(torch.tensor(0.4), logits=logits).rsample()
    torch.testing.assert_close(layer(logits).probabilities(0.4, gumbel(3, 5)), expected)


def test_temperature_is_applied_once():
    logits = torch.tensor([[0.0, 1.0, 2.0]])
    torch.testing.assert_close(layer(logits).probabilities(0.5), torch.softmax(2 * logits, dim=-1))


def test_cold_samples_show_features_with_their_probabilities():
    logits = torch.log(torch.tensor([[0.1, 0.2, 0.7]])).repeat(20_000, 1)
    shown = layer(logits).probabilities(0.01, gumbel(20_000, 3)).argmax(dim=-1)
    torch.testing.assert_close(
        torch.bincount(shown, minlength=3) / 20_000, torch.tensor([0.1, 0.2, 0.7]), atol=0.015, rtol=0
    )


def test_codes_and_gates():
    x = torch.arange(12.0).reshape(3, 4)
    weights = torch.tensor([[0.0, 1.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.5]])
    made = layer(torch.zeros(2, 4))
    torch.testing.assert_close(made.codes(x, weights), torch.stack([x[:, 1], (x[:, 0] + x[:, 3]) / 2], dim=1))
    torch.testing.assert_close(made.gates(weights), torch.tensor([0.5, 1.0, 0.0, 0.5]))


def test_kept_features_come_first_and_candidates_are_mapped():
    x = torch.arange(12.0).reshape(3, 4)
    made, weights = layer(torch.zeros(1, 2), candidates=[1, 3], kept=[2]), torch.tensor([[0.75, 0.25]])
    shown = made.shown(x)
    torch.testing.assert_close(shown, x[:, [2, 1, 3]])
    torch.testing.assert_close(
        made.codes(shown, weights), torch.stack([x[:, 2], 0.75 * x[:, 1] + 0.25 * x[:, 3]], dim=1)
    )
    torch.testing.assert_close(made.gates(weights), torch.tensor([1.0, 0.75, 0.25]))


@pytest.mark.parametrize(
    ("probabilities", "picks"),
    [
        ([[0.1, 0.8, 0.1], [0.7, 0.2, 0.1]], [1, 0]),
        ([[0.6, 0.3, 0.1], [0.9, 0.0, 0.1]], [1, 0]),
        ([[0.25] * 4] * 4, [0, 1, 2, 3]),
        ([[]] * 0, []),
    ],
    ids=["favourites differ", "the surer one first", "ties by position", "no unit"],
)
def test_every_unit_is_given_a_feature_of_its_own(probabilities, picks):
    given = torch.tensor(probabilities).reshape(len(probabilities), -1 if probabilities else 0)
    assert assign_distinct(given).tolist() == picks


def test_features_are_given_to_the_units_that_want_them_most():
    probabilities = torch.tensor([[0.1, 0.2, 0.7], [0.8, 0.1, 0.1]])
    candidates = torch.tensor([3, 5, 8])
    assert give_to_units(torch.tensor([0, 3, 8]), probabilities, candidates).tolist() == [0, 8, 3]
    assert give_to_units(torch.tensor([0]), probabilities[:0], candidates[:0]).tolist() == [0]


def parameters():
    generator = torch.Generator().manual_seed(0)
    return {
        name: nn.Parameter(torch.randn(shape, generator=generator)) for name, shape in {"a": (3, 4), "b": 2}.items()
    }


def test_it_takes_the_steps_of_torch():
    mine, theirs = parameters(), parameters()
    optimiser = Adam({"a": 0.1, "b": 0.01})
    reference = torch.optim.Adam([{"params": theirs["a"], "lr": 0.1}, {"params": theirs["b"], "lr": 0.01}])
    for _ in range(20):
        for each in (mine, theirs):
            ((each["a"].square().sum() - each["a"][0].prod()) * each["b"].exp().sum()).backward()
        optimiser.step(mine)
        reference.step()
        reference.zero_grad()
    for name, value in mine.items():
        assert value.grad is None
        torch.testing.assert_close(value, theirs[name])


def test_what_has_no_gradient_stays():
    given = parameters()
    before = given["b"].detach().clone()
    given["a"].sum().backward()
    Adam({"a": 0.1, "b": 0.1}).step(given)
    torch.testing.assert_close(given["b"].detach(), before)


NETWORK = replace(DEFAULT, decoder="network", hidden_units=(3,))


def view_of(network, x, cold=False):
    """Return the view without noise, of sure units at a low temperature if it is cold."""
    return network._soft_view(x, 0.01 if cold else 1.0, torch.zeros_like(network.layer.logits))


@pytest.fixture
def x():
    return 3 + torch.randn(9, 4, generator=torch.Generator().manual_seed(0))


def test_linear_annealing_falls_in_equal_differences():
    recipe = replace(DEFAULT, temperature=(10.0, 2.0))
    assert [temperature(recipe, progress) for progress in (0, 0.5, 1)] == [10, 6, 2]


def test_exponential_annealing_falls_in_equal_ratios():
    recipe = replace(DEFAULT, temperature=(100.0, 1.0), annealing="exponential")
    assert [temperature(recipe, progress) for progress in (0, 0.5, 1)] == pytest.approx([100, 10, 1])


@pytest.mark.parametrize("recipe", [DEFAULT, NETWORK, PAPER], ids=["graph", "network", "paper"])
def test_cold_and_sure_units_show_their_features(problem_of, x, recipe):
    network = Network(problem_of(x, 2, kept=[1]), recipe, 0)
    network.layer.logits.data = torch.tensor([[0, 1e6, 0], [0, 0, 1e6]])  # of the features 0, 2 and 3
    shown = (x if recipe.uses_codes else x - x.mean(dim=0))[:, [1, 2, 3]]
    view = view_of(network, x, cold=True)
    torch.testing.assert_close(view.gram, shown @ shown.mT)
    if recipe.decoder == "graph":
        assert view.decoded is None
    elif recipe.readout == "solved":
        torch.testing.assert_close(view.decoded, leave_one_out(network.decoder.hidden(shown), x))
    else:
        torch.testing.assert_close(view.decoded, network.decoder(shown))


def test_targets_are_what_is_reconstructed(problem_of, x):
    loadings = torch.tensor([[1.0, 0.0, 2.0], [0.0, -1.0, 1.0]])
    view = view_of(Network(problem_of(x, 2, targets=Targets(torch.tensor([3, 1]), loadings)), NETWORK, 0), x)
    torch.testing.assert_close(view.batch.goal, x[:, [3, 1]] @ loadings)
    assert view.decoded.shape == (9, 3)


def test_only_what_a_term_needs_is_trained(problem_of, x):
    for recipe in (NETWORK, DEFAULT):
        network = Network(problem_of(x, 2), recipe, 0)
        before = {name: value.detach().clone() for name, value in network.named_parameters()}
        assert network.step(x, 0, 0.0).keys() == {"reconstruction", "score", "redundancy"}
        moved = {name for name, value in network.named_parameters() if not torch.equal(before[name], value)}
        assert {name.split(".")[0] for name in moved} == ({"layer", "decoder"} if recipe is NETWORK else {"layer"})
