import math

import pytest
import torch

from tamis.neural import seen_rows
from tamis.neural.concrete import ConcreteLayer
from tamis.neural.network import SelectorNetwork
from tamis.neural.seen_rows import Part, SeenRows
from tamis.neural.taming import tamed


@pytest.fixture
def network():
    layer = ConcreteLayer(1, 2, 6, candidates=torch.tensor([0, 3, 5]), kept=[4])
    weights = torch.tensor([0.5, 2.0, 1.0])
    return SelectorNetwork(layer, (4,), torch.tensor([1, 2, 5]), weights, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def rows(table_rows):
    return table_rows(torch.randn(20, 6, generator=torch.Generator().manual_seed(1)))


@pytest.mark.parametrize("narrow", [0, 256])
@pytest.mark.parametrize("chosen", [None, torch.tensor([7, 0, 19, 4])], ids=["all", "some"])
def test_batches_are_seen_as_by_the_network(network, rows, chosen, narrow, monkeypatch):
    monkeypatch.setattr(seen_rows, "NARROW", narrow)
    taken, expected = SeenRows(rows, network).take(chosen), network.see(tamed(rows.take(chosen), math.inf))
    seen = taken.table.look(taken.rows) if isinstance(taken, Part) else taken
    assert isinstance(taken, Part) == (chosen is not None)
    torch.testing.assert_close(seen.shown, expected.shown)
    torch.testing.assert_close(seen.goal.gram, expected.goal.gram)
    torch.testing.assert_close(seen.goal.trace, expected.goal.energy)


def test_processes_keep_their_part_of_every_batch(network, rows):
    rows.share = (1, 2)
    seen = SeenRows(rows, network)
    assert (seen.n_rows, seen.own_rows, seen.share) == (20, 20, (1, 2))
