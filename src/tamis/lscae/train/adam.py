"""Adam, in the few lines that training needs.

``torch.optim`` loads torch's compiler at its first use, about a second in which a user waits for the first step.
"""

import math

import torch
from torch import Tensor, nn

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class Adam:
    """Adam (Kingma and Ba, 2015): ``p ← p − lr · m̂ / (√v̂ + ε)``.

    ``m ← β₁ m + (1 − β₁) g``, ``v ← β₂ v + (1 − β₂) g²``, ``m̂ = m/(1 − β₁ᵗ)``, ``v̂ = v/(1 − β₂ᵗ)``.

    Parameters
    ----------
    rates : dict of str to float
        Learning rate of each parameter, by its name.
    """

    def __init__(self, rates: dict[str, float]):
        self.rates, self.steps = rates, 0
        self.moments: dict[str, tuple[Tensor, Tensor]] = {}

    @torch.no_grad()
    def step(self, parameters: dict[str, nn.Parameter]) -> None:
        """Move every parameter that has a gradient, and forget the gradients."""
        self.steps += 1
        first_bias, second_bias = (1 - beta**self.steps for beta in BETAS)
        for name, parameter in parameters.items():
            gradient, parameter.grad = parameter.grad, None
            if gradient is None:
                continue
            mean, square = self.moments.setdefault(name, (torch.zeros_like(parameter), torch.zeros_like(parameter)))
            mean.lerp_(gradient, 1 - BETAS[0])
            square.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
            scale = square.sqrt().div_(math.sqrt(second_bias)).add_(EPSILON)
            parameter.addcdiv_(mean, scale, value=-self.rates[name] / first_bias)
