from dataclasses import replace

import pytest
import torch

from tamis.lscae.model.decoder import leave_one_out
from tamis.lscae.problem import Targets
from tamis.lscae.recipe import DEFAULT, PAPER
from tamis.lscae.train.network import Network, temperature

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
