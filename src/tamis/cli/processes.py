"""Commands under torchrun: join the processes' group, and let the first one alone write and report."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


def n_processes() -> int:
    """Return how many processes torchrun has started for this command; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "TORCHELASTIC_RUN_ID" in os.environ else 1


def is_first() -> bool:
    """Return whether this process writes and reports."""
    return n_processes() == 1 or os.environ.get("RANK", "0") == "0"


@contextmanager
def together() -> Iterator[None]:
    """Join the group of all processes: NCCL where every one has a GPU, gloo otherwise."""
    if n_processes() == 1:
        yield
        return
    import torch
    from torch import distributed
    from torch.distributed.distributed_c10d import PrefixStore
    from torch.distributed.rendezvous import rendezvous

    enough = torch.cuda.is_available() and torch.cuda.device_count() >= int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    if enough:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    store, rank, size = next(rendezvous("env://"))
    if os.environ.get("GROUP_WORLD_SIZE", "1") == "1":
        # On one machine torchrun keeps its store when it restarts workers; they must not find the old ones' addresses.
        store = PrefixStore(f"attempt-{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)
    distributed.init_process_group("nccl" if enough else "gloo", store=store, rank=rank, world_size=size)
    try:
        yield
    finally:
        distributed.destroy_process_group()
