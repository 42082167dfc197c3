"""Where torch computes, and that it does so on one thread."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import Any

import torch
from threadpoolctl import OpenBLASController, threadpool_limits


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
