"""The device, threads and processes of a fit.

The processes that share a fit are those of ``torch.distributed``'s default group, which whoever starts the fit has
initialised. Each has its own rows; order and noise are drawn from the same seed by all. Parameters are equal on all at
any time, since they begin equal and move by the mean of the gradients. In a single process, what is averaged or
broadcast is returned as it was given.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import Any, TypeVar

import torch
from threadpoolctl import OpenBLASController, threadpool_limits
from torch import Tensor


def torch_device(name: str) -> torch.device:
    """Return the device of a name, for "auto" a GPU if torch finds one."""
    if name == "auto":
        if not torch.cuda.is_available():
            return torch.device("cpu")
        # torchrun numbers the processes of a machine, one to a GPU.
        own = os.environ.get("LOCAL_RANK")
        return torch.device("cuda" if own is None else f"cuda:{int(own) % torch.cuda.device_count()}")
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        raise ValueError(
            f"device={name!r} cannot be used here ({str(error).splitlines()[0]}). "
            "Use 'auto', 'cpu', or a device that torch finds."
        ) from error


class _Fits:
    """The threads in which fits run at this moment, and the thread counts to restore after the last of them."""

    lock, running = Lock(), list[int]()
    torch_threads: int
    blas: Any


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch and BLAS compute on one thread.

    Sums then have the same bits wherever a fit runs, and no thread spins while it waits for another: steps are so
    short that on busy cores a second thread would cost many times what it gains.
    """
    with _Fits.lock:
        if not _Fits.running:
            # Otherwise only the thread that was the first to set OpenBLAS's count could do so.
            OpenBLASController.clear_controlling_thread(force=True)
            _Fits.torch_threads, _Fits.blas = torch.get_num_threads(), threadpool_limits(1, user_api="blas")
        _Fits.running.append(get_ident())
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _Fits.lock:
            _Fits.running.remove(get_ident())
            if _Fits.running and get_ident() not in _Fits.running:
                # torch would set MKL's count too, which is not this thread's alone.
                threadpool_limits(_Fits.torch_threads, user_api="openmp")
            elif not _Fits.running:
                OpenBLASController.clear_controlling_thread(force=True)
                torch.set_num_threads(_Fits.torch_threads)
                _Fits.blas.restore_original_limits()


T = TypeVar("T")


def rank_and_size() -> tuple[int, int]:
    """Return the rank of this process and the number of processes, without importing ``torch.distributed`` for that."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()


def is_first() -> bool:
    """Return whether this process writes and reports."""
    return rank_and_size()[0] == 0


def mean(values: Tensor) -> Tensor:
    """Return the mean over all processes."""
    n_processes = rank_and_size()[1]
    if n_processes == 1:
        return values
    total = values.detach().clone()
    torch.distributed.all_reduce(total)
    return total.div_(n_processes)


def broadcast(value: T) -> T:
    """Return what the first process has."""
    if rank_and_size()[1] == 1:
        return value
    box = [value]
    torch.distributed.broadcast_object_list(box, src=0)
    return box[0]
