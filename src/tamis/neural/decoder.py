"""The decoder: a multilayer perceptron per restart, from the k selected columns back to all d."""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

NEGATIVE_SLOPE = 0.2


class Decoder(nn.Module):
    """Layers ``h ← LeakyReLU(h W + b)`` with slope 0.2, the last one linear, all restarts at once.

    Parameters
    ----------
    n_restarts : int
        Number of independent decoders.
    sizes : sequence of int
        Widths from input to output, such as ``(k, 128, 128, d)``.
    generator : torch.Generator
        Source of the initial weights, uniform on ±1/√(inputs).
    """

    def __init__(self, n_restarts: int, sizes: Sequence[int], generator: torch.Generator | None = None):
        super().__init__()
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for inputs, outputs in pairwise(sizes):
            device = None if generator is None else generator.device
            drawn = torch.rand(n_restarts, inputs, outputs, generator=generator, device=device).mul_(2).sub_(1)
            self.weights.append(nn.Parameter(drawn / math.sqrt(max(1, inputs))))
            self.biases.append(nn.Parameter(torch.zeros(n_restarts, 1, outputs)))

    def forward(self, codes: Tensor) -> Tensor:
        """Map codes (restarts, rows, k) to reconstructions (restarts, rows, outputs)."""
        return torch.baddbmm(self.biases[-1], self.hidden(codes), self.weights[-1])

    def hidden(self, codes: Tensor) -> Tensor:
        """Map codes to the last hidden layer, which the readout combines linearly."""
        layers = list(zip(self.weights, self.biases, strict=True))[:-1]
        for weight, bias in layers:
            codes = leaky_relu(torch.baddbmm(bias, codes, weight), NEGATIVE_SLOPE)
        return codes

    def restart(self, index: int) -> "Decoder":
        """Give a decoder of one restart only, on the CPU, that shares nothing with this one."""
        single = Decoder(1, self._sizes(), torch.Generator())  # not the global generator, which is the user's
        single.load_state_dict({name: value[index : index + 1].cpu() for name, value in self.state_dict().items()})
        return single

    def with_readout(self, readout: Tensor) -> "Decoder":
        """Give a decoder of one restart with another readout (hidden + 1, outputs), the bias in its last row."""
        single = Decoder(1, [*self._sizes()[:-1], readout.shape[1]], torch.Generator())
        last = len(self.weights) - 1
        state = self.state_dict() | {f"weights.{last}": readout[None, :-1], f"biases.{last}": readout[None, -1:]}
        single.load_state_dict(state)
        return single

    def _sizes(self) -> list[int]:
        return [self.weights[0].shape[1], *(weight.shape[2] for weight in self.weights)]
