"""What a GPU would run, on torch's device without memory: it fails where tensors of two devices meet."""

import torch

from tamis.lscae.network import Adam, ConcreteLayer
from tamis.lscae.objective import View, evaluate, loss
from tamis.lscae.problem import Batch
from tamis.lscae.recipe import DEFAULT
from tamis.lscae.refine import _slopes, objectives

META = torch.device("meta")
X = torch.empty(16, 8, device=META)


def test_a_step_stays_where_the_layer_is():
    layer = ConcreteLayer(3, torch.tensor([0, 1, 2, 5]), torch.tensor([4])).to(META)
    weights = layer.probabilities(0.5, torch.empty(3, 4, device=META))
    view = View(Batch(X, X), layer.shown(X) * layer.gates(weights), DEFAULT, probabilities=layer.probabilities(0.5))
    total = loss(evaluate(view), DEFAULT, lambda value: value)
    total.backward()
    assert total.device == layer.logits.grad.device == META
    Adam({"logits": 0.1}).step(dict(layer.named_parameters()))
    assert layer.logits.grad is None


def test_objectives_and_slopes_stay_where_the_rows_are():
    selections = torch.empty(3, 2, dtype=torch.long, device=META)
    assert objectives([Batch(X, X[:, :5])], selections, DEFAULT).device == META
    assert _slopes(Batch(X, X[:, :5]), selections[0], selections[1], DEFAULT).device == META
