from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import RelaxedOneHotCategorical

from tamis.lscae.decoder import leave_one_out
from tamis.lscae.network import Adam, Network, give_to_units
from tamis.lscae.recipe import DEFAULT, PAPER

CONCRETE = replace(DEFAULT, graph_on="concrete")


def shown_by(problem_of, x, logits, temperature, noise=0.0, recipe=CONCRETE, **options):
    """Return the Gram matrix of what units with these logits show of a table."""
    network = Network(problem_of(x, len(logits), **options), recipe, 0)
    network.logits.data, network.temperature = logits, temperature
    return network.view(x, noise + torch.zeros_like(logits)).gram.detach()


def gumbel(*shape):
    return -torch.log(-torch.log(torch.rand(*shape, generator=torch.Generator().manual_seed(7)).clamp_min(1e-30)))


def sample_of(problem_of, logits, temperature, noise=0.0):
    """Return what one unit shows of the unit matrix, which is its row of Z."""
    squares = shown_by(problem_of, torch.eye(logits.shape[1]), logits, temperature, noise)
    return squares.diagonal().sqrt()[None]


def test_a_sample_is_that_of_torch_distributions(problem_of):
    logits = torch.randn(1, 5, generator=torch.Generator().manual_seed(0))
    with torch.random.fork_rng():
        torch.manual_seed(7)
        expected = RelaxedOneHotCategorical(torch.tensor(0.4), logits=logits).rsample()
    torch.testing.assert_close(sample_of(problem_of, logits, 0.4, gumbel(1, 5)), expected)


def test_temperature_is_applied_once(problem_of):
    logits = torch.tensor([[0.0, 1.0, 2.0]])
    torch.testing.assert_close(sample_of(problem_of, logits, 0.5), torch.softmax(2 * logits, dim=-1))


def noise_of(problem, number=0, restart=0):
    """Return the noise that a step adds to the logits."""
    network, seen = Network(problem, CONCRETE, restart), []
    view = network.view
    network.view = lambda x, noise: (seen.append(noise.clone()), view(x, noise))[1]
    network.step(next(problem.rows.batches(1, None)), number, 0.0)
    return seen[0]


def test_noise_is_gumbel_noise_of_its_own_for_every_seed_restart_and_step(problem_of):
    x = torch.randn(5, 100)
    drawn = noise_of(problem_of(x, 200), 3)
    assert drawn.shape == (200, 100)
    assert drawn.mean().item() == pytest.approx(np.euler_gamma, abs=0.03)
    assert drawn.var().item() == pytest.approx(np.pi**2 / 6, abs=0.05)
    torch.testing.assert_close(noise_of(problem_of(x, 200), 3), drawn)
    for seed, restart, number in [(1, 0, 3), (0, 1, 3), (0, 0, 4)]:
        assert not torch.equal(noise_of(problem_of(x, 200, seed=seed), number, restart), drawn)


def test_noise_is_finite_whatever_is_drawn(problem_of, monkeypatch):
    zeros = SimpleNamespace(standard_exponential=lambda shape, dtype: np.zeros(shape, dtype))
    problem = problem_of(torch.randn(5, 4), 2)
    monkeypatch.setattr("numpy.random.default_rng", lambda _: zeros)
    assert noise_of(problem).isfinite().all()


def test_cold_samples_show_features_with_their_probabilities(problem_of):
    """Units at a temperature near 0 show the feature of the largest logit with its noise."""
    logits, noise = torch.log(torch.tensor([0.1, 0.2, 0.7])), noise_of(problem_of(torch.randn(5, 3), 20_000))
    shown = torch.softmax((logits + noise) / 0.01, dim=-1).argmax(dim=-1)
    torch.testing.assert_close(
        torch.bincount(shown, minlength=3) / 20_000, torch.tensor([0.1, 0.2, 0.7]), atol=0.015, rtol=0
    )


def test_units_show_mixtures_and_gates_are_their_largest_weights(problem_of):
    x, logits = torch.arange(12.0).reshape(3, 4), torch.log(torch.tensor([[0.0, 1.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.5]]))
    codes = torch.stack([x[:, 1], (x[:, 0] + x[:, 3]) / 2], dim=1)
    torch.testing.assert_close(shown_by(problem_of, x, logits, 1.0), codes @ codes.mT)
    gated = (x - x.mean(dim=0)) * torch.tensor([0.5, 1.0, 0.0, 0.5])
    torch.testing.assert_close(shown_by(problem_of, x, logits, 1.0, recipe=DEFAULT), gated @ gated.mT)


def test_kept_features_come_first_and_candidates_are_mapped(problem_of):
    x, logits = torch.arange(12.0).reshape(3, 4), torch.log(torch.tensor([[0.75, 0.25]]))
    chosen = {"candidates": [1, 3], "kept": [2]}
    assert Network(problem_of(x, 1, **chosen), DEFAULT, 0).shown.tolist() == [2, 1, 3]
    codes = torch.stack([x[:, 2], 0.75 * x[:, 1] + 0.25 * x[:, 3]], dim=1)
    torch.testing.assert_close(shown_by(problem_of, x, logits, 1.0, **chosen), codes @ codes.mT)
    gated = (x - x.mean(dim=0))[:, [2, 1, 3]] * torch.tensor([1.0, 0.75, 0.25])
    torch.testing.assert_close(shown_by(problem_of, x, logits, 1.0, recipe=DEFAULT, **chosen), gated @ gated.mT)


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
    everyone = torch.arange(given.shape[1])
    assert give_to_units(everyone, given, everyone).tolist() == picks


def test_features_are_given_to_the_units_that_want_them_most():
    probabilities = torch.tensor([[0.1, 0.2, 0.7], [0.8, 0.1, 0.1]])
    candidates = torch.tensor([3, 5, 8])
    assert give_to_units(torch.tensor([3, 8]), probabilities, candidates).tolist() == [8, 3]
    assert give_to_units(candidates[:0], probabilities[:0], candidates[:0]).tolist() == []


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
    network.temperature = 0.01 if cold else 1.0
    return network.view(x, torch.zeros_like(network.logits))


@pytest.fixture
def x():
    return 3 + torch.randn(9, 4, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("annealing", "expected"),
    [("linear", [100, 50.5, 1]), ("exponential", [100, 10, 1])],
    ids=["differences", "ratios"],
)
def test_annealing_falls_in_equal_differences_or_ratios(problem_of, x, annealing, expected):
    recipe, found = replace(DEFAULT, temperature=(100.0, 1.0), annealing=annealing), []
    network = Network(problem_of(x, 2), recipe, 0)
    for progress in (0.0, 0.5, 1.0):
        network.step(x, 0, progress)
        found.append(network.temperature)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("recipe", [DEFAULT, NETWORK, PAPER], ids=["graph", "network", "paper"])
def test_cold_and_sure_units_show_their_features(problem_of, x, recipe):
    network = Network(problem_of(x, 2, kept=[1]), recipe, 0)
    network.logits.data = torch.tensor([[0, 1e6, 0], [0, 0, 1e6]])  # of the features 0, 2 and 3
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
    loadings = torch.zeros(x.shape[1], 3)
    loadings[[3, 1]] = torch.tensor([[1.0, 0.0, 2.0], [0.0, -1.0, 1.0]])
    problem = problem_of(x, 2, loadings=loadings)
    (rows,) = problem.rows.batches(1, np.random.default_rng(0))
    view = view_of(Network(problem, NETWORK, 0), rows)
    torch.testing.assert_close(view.batch.goal, x @ loadings)
    assert view.decoded.shape == (9, 3)


def test_only_what_a_term_needs_is_trained(problem_of, x):
    for recipe in (NETWORK, DEFAULT):
        network = Network(problem_of(x, 2), recipe, 0)
        before = {name: value.detach().clone() for name, value in network.named_parameters()}
        assert network.step(x, 0, 0.0).keys() == {"reconstruction", "score", "redundancy"}
        moved = {name for name, value in network.named_parameters() if not torch.equal(before[name], value)}
        assert {name.split(".")[0] for name in moved} == ({"logits", "decoder"} if recipe is NETWORK else {"logits"})
