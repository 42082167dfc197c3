import pytest
import torch

from tamis.neural.adam import Adam
from tamis.neural.concrete import ConcreteLayer
from tamis.neural.narrowing import Narrowing


def test_candidates_fall_in_equal_ratios():
    narrowing = Narrowing(start=0.0, end=1.0, rounds=4)
    assert [narrowing.candidates(p, 10_000, 1) for p in (0, 0.2, 0.25, 0.5, 0.75, 1)] == [
        10_000,
        10_000,
        1000,
        100,
        10,
        1,
    ]


def test_nothing_is_dropped_before_the_start_or_below_the_end():
    narrowing = Narrowing(start=0.2, end=0.7)
    assert narrowing.candidates(0.19, 500, 16) == 500
    assert narrowing.candidates(0.7, 500, 16) == narrowing.candidates(1.0, 500, 16) == 16


@pytest.fixture
def trained():
    """A layer with ten candidates after one step, so that its optimiser has a memory."""
    layer = ConcreteLayer(1, 1, 10)
    layer.logits.data = torch.arange(10.0)[None, None] * torch.tensor([1, -1] * 5)
    optimiser = Adam([((layer.logits,), 0.0)])
    (layer.logits * torch.arange(10.0)).sum().backward()
    optimiser.step()
    return layer, optimiser


def test_the_wanted_columns_stay_with_their_memory(trained):
    layer, optimiser = trained
    Narrowing(per_unit=3).apply(layer, optimiser, 1.0)
    assert layer.candidates.tolist() == [4, 6, 8]
    assert layer.logits.tolist() == [[[4, 6, 8]]]
    mean, _ = optimiser.moments[layer.logits]
    torch.testing.assert_close(mean, 0.1 * torch.tensor([[[4.0, 6.0, 8.0]]]))
    layer.logits.sum().backward()
    optimiser.step()


def test_early_nothing_changes(trained):
    layer, optimiser = trained
    logits = layer.logits
    Narrowing(per_unit=3).apply(layer, optimiser, 0.0)
    assert layer.logits is logits


@pytest.mark.parametrize(("units", "drops"), [(1, True), (2, False), (0, False)])
def test_it_knows_beforehand_whether_anything_leaves(units, drops):
    assert Narrowing(per_unit=5).drops_from(ConcreteLayer(1, units, 10)) == drops
