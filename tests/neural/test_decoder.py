import torch
from torch import nn

from tamis.neural.decoder import Decoder


def test_each_restart_is_an_ordinary_perceptron():
    decoder = Decoder(2, (3, 5, 4), torch.Generator().manual_seed(0))
    codes = torch.randn(2, 7, 3)
    for restart in range(2):
        first, last = nn.Linear(3, 5), nn.Linear(5, 4)
        for layer, weight, bias in zip((first, last), decoder.weights, decoder.biases, strict=True):
            layer.weight.data, layer.bias.data = weight.data[restart].T, bias.data[restart, 0]
        expected = last(nn.functional.leaky_relu(first(codes[restart]), 0.2))
        torch.testing.assert_close(decoder(codes)[restart], expected)


def test_restart_gives_one_of_them():
    decoder = Decoder(3, (2, 4, 5))
    codes = torch.randn(3, 6, 2)
    torch.testing.assert_close(decoder.restart(1)(codes[1:2]), decoder(codes)[1:2])


def test_another_readout():
    single = Decoder(2, (3, 5, 4)).restart(0)
    codes, readout = torch.randn(1, 6, 3), torch.randn(6, 7)
    expected = single.hidden(codes) @ readout[:-1] + readout[-1]
    torch.testing.assert_close(single.with_readout(readout)(codes), expected)


def test_making_one_leaves_the_global_generator_alone():
    state = torch.get_rng_state()
    Decoder(2, (3, 4), torch.Generator()).restart(0).with_readout(torch.zeros(4, 2))
    assert torch.equal(torch.get_rng_state(), state)


def test_the_generator_decides_the_weights():
    first, second = (Decoder(1, (2, 3), torch.Generator().manual_seed(4)) for _ in range(2))
    torch.testing.assert_close(first.weights[0], second.weights[0])
    assert first.weights[0].abs().max() <= 1 / 2**0.5


def test_no_inputs_leave_the_bias():
    assert Decoder(1, (0, 3))(torch.empty(1, 4, 0)).tolist() == [[[0, 0, 0]] * 4]
