"""The decoder's last layer in closed form: ridge regression of the columns on the last hidden layer."""

import torch
from torch import Tensor

from tamis.neural import ranks

STRENGTH = 1e-2
"""Ridge penalty, as a share of the mean energy ``Σ h²`` of a hidden unit."""


def with_ones(hidden: Tensor) -> Tensor:
    """Append a column of ones, for the bias."""
    return torch.cat([hidden, torch.ones_like(hidden[..., :1])], dim=-1)


def penalised(square: Tensor, width: int) -> Tensor:
    """Add ``λ I`` to ``HᵀH`` or ``HHᵀ``; λ is a share of the mean energy of the h hidden units."""
    energy = square.diagonal(dim1=-2, dim2=-1).sum(dim=-1)[..., None, None] / width
    return square + STRENGTH * energy * torch.eye(square.shape[-1], dtype=square.dtype, device=square.device)


def hat_matrix(design: Tensor) -> Tensor:
    """Give ``H (HᵀH + λI)⁻¹ Hᵀ``, which is ``(HHᵀ + λI)⁻¹ HHᵀ`` too: the smaller of the two systems is solved."""
    rows, width = design.shape[-2:]
    if rows < width:
        square = design @ design.mT
        return torch.linalg.solve(penalised(square, width), square)
    return design @ torch.linalg.solve(penalised(design.mT @ design, width), design.mT)


def leave_one_out(hidden: Tensor, goal: Tensor) -> Tensor:
    """Predict every row of the goal by a readout fitted on the other rows: (restarts, rows, columns).

    With the hat matrix A, the prediction of row i without row i is ``(ŷ_i − a_ii y_i) / (1 − a_ii)``.
    """
    hat = hat_matrix(with_ones(hidden))
    own = hat.diagonal(dim1=-2, dim2=-1).clamp_max(1 - 1e-4).unsqueeze(-1)
    return (hat @ goal - own * goal) / (1 - own)


class Readout:
    """A readout for many columns, fitted in one pass over batches of rows."""

    def __init__(self) -> None:
        self.moment: Tensor | None = None
        self.products: Tensor | None = None

    def add(self, hidden: Tensor, goal: Tensor) -> None:
        """Take in a batch: hidden (rows, h) and goal (rows, columns)."""
        design = with_ones(hidden)
        moment, products = design.mT @ design, design.mT @ goal
        self.moment = moment if self.moment is None else self.moment + moment
        self.products = products if self.products is None else self.products + products

    def share(self) -> None:
        """Take in what other processes have seen; the solution does not depend on a common factor."""
        assert self.moment is not None
        assert self.products is not None
        self.moment, self.products = ranks.mean(self.moment), ranks.mean(self.products)

    def solve(self) -> Tensor:
        """Give the weights (h + 1, columns), the bias in the last row."""
        assert self.moment is not None
        assert self.products is not None
        return torch.linalg.solve(penalised(self.moment, len(self.moment)), self.products)
