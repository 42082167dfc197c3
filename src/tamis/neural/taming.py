"""Batches as a graph looks at them: centred, and columns that a few rows carry drawn in."""

import math
from typing import Any

import torch
from torch import Tensor

from tamis.neural.diffusion import TINY

RARE = 12
"""A column is rare if fewer than one row in so many carries its variance; such a value is three deviations large."""


def effective_rows(columns: Tensor) -> Tensor:
    """Give ``(Σ f²)² / Σ f⁴``, the number of rows that carry the variance of each centred column.

    It is n for a column of two equal halves, about n/3 for a normal one, and m for one that differs from its mean
    in m rows alone.
    """
    squares = columns.square()
    return squares.sum(dim=0).square() / squares.square().sum(dim=0).clamp_min(TINY)


def limit_of(rows: Any) -> float:
    """Give the size beyond which a graph does not look at rare values, which a source of rows may name."""
    return float(getattr(rows, "limit", math.inf))


def tamed(x: Tensor, limit: float) -> Tensor:
    """Centre columns within the batch, and draw the values of rare columns in to the limit.

    Few huge values would be the graph's only structure. What is rare in a table is constant in most batches, and a
    constant that is not zero is smooth on any graph.
    """
    centred = x - x.mean(dim=0)
    if math.isinf(limit):
        return centred
    rare = effective_rows(centred) < len(x) / RARE
    if not rare.any():
        return centred
    drawn_in = x.clamp(-limit, limit)
    return torch.where(rare, drawn_in - drawn_in.mean(dim=0), centred)
