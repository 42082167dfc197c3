import pytest
import torch
from torch.distributions import RelaxedOneHotCategorical

from tamis.lscae.model.layer import ConcreteLayer, assign_distinct, give_to_units


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
