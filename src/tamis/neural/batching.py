"""Rows in shuffled batches, wherever they are stored."""

from collections.abc import Iterator
from itertools import islice
from typing import Protocol, TypeVar

import torch
from torch import Tensor

Batch_co = TypeVar("Batch_co", covariant=True)


class Rows(Protocol[Batch_co]):
    """Where batches come from."""

    n_rows: int

    def take(self, rows: Tensor | None) -> Batch_co:
        """Give some rows, or all of them for None."""
        ...


RowSource = Rows[Tensor]
"""Standardised rows of a table, wherever it is stored, as dense float tensors."""


def steps_per_epoch(n_rows: int, batch_size: int) -> int:
    """Give the number of batches that all rows make; they differ in size by at most one row."""
    return -(-n_rows // batch_size)


def batches(
    rows: Rows[Batch_co], batch_size: int, generator: torch.Generator | None, skip: int = 0
) -> Iterator[Batch_co]:
    """Yield all rows once, shuffled, in batches of nearly equal size, from the batch number ``skip`` on.

    A source that is read in pieces has a method ``stream``, by which it shuffles and reads ahead itself. Processes that
    share a fit have a part of every batch each.
    """
    n_batches, (part, n_parts) = steps_per_epoch(rows.n_rows, batch_size), getattr(rows, "share", (0, 1))
    if n_batches == 1 and n_parts == 1:
        yield from [rows.take(None)][skip:]
        return
    if hasattr(rows, "stream"):
        yield from rows.stream(n_batches, generator, skip)
        return
    n_rows = getattr(rows, "own_rows", rows.n_rows)
    for chosen in _order(n_rows, generator).tensor_split(n_batches)[skip:]:
        yield rows.take(chosen if n_parts == 1 else chosen[part::n_parts])


def _order(n_rows: int, generator: torch.Generator | None) -> Tensor:
    if generator is None:
        return torch.arange(n_rows)
    return torch.randperm(n_rows, generator=generator, device=generator.device)


def sample_batches(rows: RowSource, batch_size: int, generator: torch.Generator | None, most: int) -> list[Tensor]:
    """Give some random batches for a graph, without common rows, as many as there are at most.

    Processes that share a fit all have the same ones, if they have all rows in memory.
    """
    whole = getattr(rows, "whole", None)
    if whole is None:
        return [centered(x) for x in islice(batches(rows, batch_size, generator), most)]
    n_batches = steps_per_epoch(len(whole), batch_size)
    if n_batches == 1:
        return [centered(whole)]
    return [centered(whole[chosen]) for chosen in _order(len(whole), generator).tensor_split(n_batches)[:most]]


def centered(x: Tensor) -> Tensor:
    """Return a batch with its features centred: a feature that is constant there is smooth on any graph unless 0."""
    return x - x.mean(dim=0)
