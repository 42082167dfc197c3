"""What a GPU would run, on torch's device without memory: it fails where tensors of two devices meet."""

from types import SimpleNamespace

import torch

from tamis.lscae.network import Network
from tamis.lscae.objective import evaluate, loss
from tamis.lscae.problem import Batch, Problem, Targets
from tamis.lscae.recipe import DEFAULT
from tamis.lscae.refine import _slopes, objectives

META = torch.device("meta")
X = torch.empty(16, 8, device=META)


def test_a_step_stays_where_the_rows_are():
    rows, kept = SimpleNamespace(device=META), torch.tensor([4], device=META)
    candidates = torch.tensor([0, 1, 2, 5], device=META)
    network = Network(Problem(rows, torch.arange(8), 3, kept, candidates, Targets(), 0), DEFAULT, 0)
    shown = X[:, network.shown]
    network._batch = (X, Batch(shown, X))  # to look for missing cells, the values must be known
    total = loss(evaluate(network.view(X, torch.empty(3, 4, device=META))), DEFAULT)
    total.backward()
    assert total.device == network.logits.grad.device == META
    network.optimiser.step(dict(network.named_parameters()))
    assert network.logits.grad is None


def test_objectives_and_slopes_stay_where_the_rows_are():
    selections = torch.empty(3, 2, dtype=torch.long, device=META)
    assert objectives([Batch(X, X[:, :5])], selections, DEFAULT).device == META
    assert _slopes(Batch(X, X[:, :5]), selections[0], selections[1], DEFAULT).device == META
