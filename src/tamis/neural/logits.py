"""Where the logits of a concrete layer come from: free parameters, or a map from a few per unit."""

import math

import torch
from torch import Tensor, nn


class DirectLogits(nn.Module):
    """Every logit is a parameter, zero at first: (restarts, units, columns)."""

    per_column = ("values",)

    def __init__(self, n_restarts: int, n_units: int, n_columns: int):
        super().__init__()
        self.values = nn.Parameter(torch.zeros(n_restarts, n_units, n_columns))

    def forward(self) -> Tensor:
        """Give the logits Λ."""
        return self.values


class IndirectLogits(nn.Module):
    """Logits ``Λ = Ψ W + b`` of IP-CAE: a short vector Ψ_i per unit, and a map W and offsets b that units share.

    A step on W moves the logits of all units, which acts like preconditioning the gradient by about ``W Wᵀ``.

    Parameters
    ----------
    n_restarts, n_units, n_columns : int
        Shape of the logits.
    size : int
        Length of the vectors Ψ_i.
    generator : torch.Generator
        Source of the initial values: Ψ is standard normal, W uniform on ±1/√size.
    """

    per_column = ("mapping", "offset")

    def __init__(
        self, n_restarts: int, n_units: int, n_columns: int, size: int, generator: torch.Generator | None = None
    ):
        super().__init__()
        device = None if generator is None else generator.device
        drawn = torch.rand(n_restarts, size, n_columns, generator=generator, device=device)
        self.units = nn.Parameter(torch.randn(n_restarts, n_units, size, generator=generator, device=device))
        self.mapping = nn.Parameter((2 * drawn - 1) / math.sqrt(size))
        self.offset = nn.Parameter(torch.zeros(n_restarts, 1, n_columns))

    def forward(self) -> Tensor:
        """Give the logits Λ."""
        return torch.baddbmm(self.offset, self.units, self.mapping)


Logits = DirectLogits | IndirectLogits
