"""One fit over many processes: what they agree on. In a single process every function returns what it was given.

The processes are those of ``torch.distributed``'s default group, which whoever starts the fit has initialised. Each
has its own rows; order and noise are drawn from the same seed by all. Parameters are equal on all at any time, since
they begin equal and move by the mean of the gradients.
"""

import sys
from collections.abc import Iterable
from typing import Any, TypeVar

import torch
from torch import Tensor

T = TypeVar("T")


def _group() -> Any:
    """Return ``torch.distributed`` if there are several processes, without importing it for that."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed if distributed.get_world_size() > 1 else None


def rank_and_size() -> tuple[int, int]:
    """Return the rank of this process and the number of processes."""
    group = _group()
    return (0, 1) if group is None else (group.get_rank(), group.get_world_size())


def is_first() -> bool:
    """Return whether this process writes and reports."""
    return rank_and_size()[0] == 0


def mean(values: Tensor) -> Tensor:
    """Return the mean over all processes."""
    group = _group()
    if group is None:
        return values
    total = values.detach().clone()
    group.all_reduce(total)
    return total.div_(group.get_world_size())


def broadcast(value: T) -> T:
    """Return what the first process has."""
    group = _group()
    if group is None:
        return value
    box = [value]
    group.broadcast_object_list(box, src=0)
    return box[0]


def average(tensors: Iterable[Tensor | None], flag: bool = False) -> bool:
    """Replace tensors by their means over all processes, in one exchange; return whether any raised its flag."""
    group = _group()
    if group is None:
        return flag
    present = [tensor for tensor in tensors if tensor is not None]
    flat = torch.cat([*(tensor.flatten() for tensor in present), present[0].new_tensor([float(flag)])])
    group.all_reduce(flat)
    flat /= group.get_world_size()
    for tensor, part in zip(present, flat[:-1].split([tensor.numel() for tensor in present]), strict=True):
        tensor.copy_(part.view_as(tensor))
    return bool(flat[-1] > 0)
