import torch

from tamis.neural.adam import Adam
from tamis.neural.concrete import ConcreteLayer
from tamis.neural.logits import DirectLogits, IndirectLogits
from tamis.neural.narrowing import Narrowing


def test_direct_logits_are_parameters():
    direct = DirectLogits(2, 3, 4)
    assert direct() is direct.values
    assert direct().shape == (2, 3, 4)


def test_indirect_logits_agree_with_loops():
    indirect = IndirectLogits(2, 3, 4, size=5, generator=torch.Generator().manual_seed(0))
    indirect.offset.data.normal_()
    logits = indirect()
    for r in range(2):
        for i in range(3):
            for j in range(4):
                expected = sum(indirect.units[r, i, p] * indirect.mapping[r, p, j] for p in range(5))
                torch.testing.assert_close(logits[r, i, j], expected + indirect.offset[r, 0, j])


def test_a_step_on_the_map_moves_every_unit():
    indirect = IndirectLogits(1, 3, 4, size=5, generator=torch.Generator().manual_seed(0))
    indirect()[0, 0, 2].backward()
    before = indirect().detach()
    indirect.mapping.data -= 0.1 * indirect.mapping.grad
    moved = indirect().detach() != before
    assert moved[0, :, 2].all()
    assert not moved[0, :, [0, 1, 3]].any()


def test_an_indirect_layer_can_be_narrowed():
    layer = ConcreteLayer(1, 2, 30, indirect_size=4, generator=torch.Generator().manual_seed(0))
    optimiser = Adam([(list(layer.parameters()), 0.1)])
    layer.logits.square().sum().backward()
    optimiser.step()
    before = layer.logits.detach()
    Narrowing(per_unit=3).apply(layer, optimiser, 1.0)
    torch.testing.assert_close(layer.logits.detach(), before[..., layer.candidates])
    assert len(layer.candidates) == 6
    layer.logits.sum().backward()
    optimiser.step()
