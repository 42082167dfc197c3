import pytest
import torch
from torch.distributions import RelaxedOneHotCategorical

from tamis.neural.concrete import ConcreteLayer, GumbelPool, gumbel_like


def layer(logits, **options):
    made = ConcreteLayer(*logits.shape, **options)
    made.logits.data = logits
    return made


def test_sampler_is_that_of_torch_distributions():
    logits = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
    with torch.random.fork_rng():
        torch.manual_seed(7)
        expected = RelaxedOneHotCategorical(torch.tensor(0.4), logits=logits).rsample()
    sample = layer(logits).sample(0.4, gumbel_like(logits, torch.Generator().manual_seed(7)))
    torch.testing.assert_close(sample, expected)


def test_temperature_is_applied_once():
    logits = torch.tensor([[[0.0, 1.0, 2.0]]])
    torch.testing.assert_close(layer(logits).probabilities(0.5), torch.softmax(2 * logits, dim=-1))


def test_cold_samples_show_columns_with_their_probabilities():
    logits = torch.log(torch.tensor([[[0.1, 0.2, 0.7]]])).expand(1, 20_000, 3)
    shown = layer(logits).sample(0.01, gumbel_like(logits, torch.Generator().manual_seed(0)))[0].argmax(dim=-1)
    shares = torch.bincount(shown, minlength=3) / 20_000
    torch.testing.assert_close(shares, torch.tensor([0.1, 0.2, 0.7]), atol=0.015, rtol=0)


def test_gumbel_noise_is_finite_and_has_its_mean():
    noise = gumbel_like(torch.empty(200_000), torch.Generator().manual_seed(0))
    assert noise.isfinite().all()
    assert abs(noise.mean() - 0.5772) < 0.01


def test_codes_and_gates():
    x = torch.arange(12.0).reshape(3, 4)
    weights = torch.tensor([[[0.0, 1.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.5]]])
    concrete = ConcreteLayer(1, 2, 4)
    torch.testing.assert_close(concrete.codes(x, weights)[0], torch.stack([x[:, 1], (x[:, 0] + x[:, 3]) / 2], dim=1))
    torch.testing.assert_close(concrete.gates(weights), torch.tensor([[0.5, 1.0, 0.0, 0.5]]))


def test_kept_columns_come_first_and_candidates_are_mapped():
    x = torch.arange(12.0).reshape(3, 4)
    concrete = ConcreteLayer(2, 2, 4, candidates=torch.tensor([1, 3]), kept=[2])
    weights = torch.tensor([[[0.0, 1.0]], [[0.75, 0.25]]])
    shown = concrete.shown(x)
    torch.testing.assert_close(shown, x[:, [2, 1, 3]])
    codes = concrete.codes(shown, weights)
    torch.testing.assert_close(codes[0], x[:, [2, 3]])
    torch.testing.assert_close(codes[1, :, 1], 0.75 * x[:, 1] + 0.25 * x[:, 3])
    torch.testing.assert_close(concrete.gates(weights), torch.tensor([[1.0, 0, 1], [1, 0.75, 0.25]]))


def test_a_layer_of_kept_columns_only():
    concrete = ConcreteLayer(1, 1, 3, candidates=torch.tensor([0, 1]), kept=[2])
    weights = concrete.sample(1.0, torch.zeros(1, 0, 2))
    assert weights.shape == (1, 0, 2)
    assert concrete.gates(weights).tolist() == [[1, 0, 0]]


def test_candidates_can_be_dropped():
    concrete = layer(torch.arange(8.0).reshape(1, 2, 4))
    concrete.keep_candidates(torch.tensor([1, 3]))
    assert concrete.candidates.tolist() == [1, 3]
    assert concrete.logits.tolist() == [[[1, 3], [5, 7]]]
    assert concrete.shown(torch.arange(4.0)[None]).tolist() == [[1, 3]]


@pytest.mark.parametrize("shape", [(1, 1, 5), (2, 3, 40), (1, 300, 1000), (4, 2, 30_000)])
def test_pooled_noise_is_fresh_gumbel_noise(shape):
    pool = GumbelPool(shape, torch.Generator().manual_seed(0))
    draws = [pool.draw(shape) for _ in range(3)]
    assert all(draw.shape == shape for draw in draws)
    assert not torch.equal(draws[0], draws[1])
    if draws[0].numel() > 10_000:
        assert draws[0].mean().item() == pytest.approx(0.5772, abs=0.05)
        assert draws[0].std().item() == pytest.approx(1.2825, abs=0.05)


def test_units_never_share_their_noise():
    pool = GumbelPool((2, 5, 50), torch.Generator().manual_seed(0))
    for _ in range(20):
        rows = pool.draw((2, 5, 50)).reshape(10, 50)
        assert len(torch.unique(rows, dim=0)) == 10
