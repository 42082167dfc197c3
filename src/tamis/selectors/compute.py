"""Where and on how many threads torch and numpy compute."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits


def torch_device(name: str) -> torch.device:
    """Give the device of a name, a GPU for "auto" where torch finds one."""
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


@contextmanager
def torch_threads(n_jobs: int | None) -> Iterator[None]:
    """Fix torch's and numpy's threads, so that a fit gives the same bits in a notebook and in a joblib worker."""
    before, threads = torch.get_num_threads(), effective_n_jobs(n_jobs)
    torch.set_num_threads(threads)
    try:
        with threadpool_limits(threads, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)
