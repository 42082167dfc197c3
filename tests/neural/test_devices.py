"""What a GPU would run, on torch's device without memory: it fails where tensors of two devices meet."""

import pytest
import torch

from tamis.neural.adam import Adam
from tamis.neural.analytic import covers
from tamis.neural.concrete import ConcreteLayer
from tamis.neural.exchange import _slopes, objectives
from tamis.neural.network import SelectorNetwork
from tamis.neural.objective import Sample

META = torch.device("meta")


@pytest.fixture
def network():
    layer = ConcreteLayer(2, 3, 8, kept=[4], candidates=torch.tensor([0, 1, 2, 5]))
    return SelectorNetwork(layer, (4,), generator=torch.Generator().manual_seed(0)).to(META)


@pytest.fixture
def x():
    return torch.empty(16, 8, device=META)


def test_a_layer_elsewhere_takes_the_recorded_path(network, default_objective):
    assert not covers(network.layer, default_objective)
    assert covers(ConcreteLayer(2, 3, 8), default_objective)


def test_a_step_stays_where_the_layer_is(network, x, default_objective):
    noise = torch.empty(network.layer.shape, device=META)
    parts = default_objective(network.soft_view(network.see(x), default_objective, 0.5, noise))
    parts.loss.sum().backward()
    assert parts.loss.device == network.layer.logits.grad.device == META
    Adam([(list(network.layer.parameters()), 0.1)]).step()
    assert network.layer.logits.grad is None


def test_judgement_stays_where_the_rows_are(x, default_objective):
    selections = torch.empty(3, 2, dtype=torch.long, device=META)
    assert objectives([Sample(x, x[:, :5])], selections, default_objective).device == META


def test_slopes_stay_where_the_rows_are(x, default_objective):
    selected, others = torch.empty(2, dtype=torch.long, device=META), torch.empty(4, dtype=torch.long, device=META)
    assert _slopes(Sample(x, x[:, :5]), selected, others, default_objective).device == META
