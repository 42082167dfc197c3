"""Adam, in the few lines that training needs.

``torch.optim`` loads torch's compiler at its first use, about a second in which a user waits for the first step, and
knows nothing of parameters that shrink.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

BETAS = (0.9, 0.999)
EPSILON = 1e-8

FUSED = getattr(torch, "_fused_adam_", None)
"""Torch's step in one pass over the memory, which ``torch.optim`` itself calls; it is not promised to stay."""


class Adam:
    """Adam (Kingma and Ba, 2015) for groups of parameters with a learning rate each.

    ``m ← β₁ m + (1 − β₁) g``, ``v ← β₂ v + (1 − β₂) g²``, ``p ← p − lr · m̂ / (√v̂ + ε)``, with
    ``m̂ = m/(1 − β₁ᵗ)`` and ``v̂ = v/(1 − β₂ᵗ)``.

    Parameters
    ----------
    groups : sequence of (parameters, learning rate)
        What to train, and how fast.
    """

    def __init__(self, groups: Sequence[tuple[Sequence[nn.Parameter], float]]):
        self.rates = {parameter: rate for parameters, rate in groups for parameter in parameters}
        self.moments: dict[nn.Parameter, tuple[Tensor, Tensor]] = {
            parameter: (torch.zeros_like(parameter), torch.zeros_like(parameter)) for parameter in self.rates
        }
        self.steps = 0

    @torch.no_grad()
    def step(self) -> None:
        """Move every parameter that has a gradient, and forget the gradients."""
        self.steps += 1
        for parameter, rate in self.rates.items():
            if parameter.grad is not None:
                (_written_out if FUSED is None else _fused)(parameter, *self.moments[parameter], rate, self.steps)
                parameter.grad = None

    def replace(self, before: nn.Parameter, after: nn.Parameter, positions: Tensor) -> None:
        """Go on with a parameter that keeps some positions of the last dimension of another."""
        self.rates[after] = self.rates.pop(before)
        mean, square = self.moments.pop(before)
        self.moments[after] = (mean[..., positions].contiguous(), square[..., positions].contiguous())


def _written_out(parameter: nn.Parameter, mean: Tensor, square: Tensor, rate: float, steps: int) -> None:
    gradient = parameter.grad
    assert gradient is not None
    first_bias, second_bias = (1 - beta**steps for beta in BETAS)
    mean.lerp_(gradient, 1 - BETAS[0])
    square.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
    scale = square.sqrt().div_(math.sqrt(second_bias)).add_(EPSILON)
    parameter.addcdiv_(mean, scale, value=-rate / first_bias)


def _fused(parameter: nn.Parameter, mean: Tensor, square: Tensor, rate: float, steps: int) -> None:
    assert FUSED is not None
    step = torch.full((), float(steps), device=parameter.device)
    arguments = {"lr": rate, "beta1": BETAS[0], "beta2": BETAS[1], "weight_decay": 0.0, "eps": EPSILON}
    FUSED([parameter], [parameter.grad], [mean], [square], [], [step], **arguments, amsgrad=False, maximize=False)
