"""How much memory is free, and whether a table is too large for it."""

from contextlib import suppress
from pathlib import Path

from tamis.sources.source import TableSource

SHARE = 0.25
"""A table that would take more than this share of the free memory is read in pieces.

Fitting makes a float32 copy of what was read, and readers hold parts of a file twice."""


def free_memory() -> int:
    """Give the bytes that this process may still use, as the kernel and the control group see it."""
    found = [2**62]
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")]
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit, used = (group / "memory.max").read_text().strip(), (group / "memory.current").read_text()
        found += [max(0, int(limit) - int(used))] if limit != "max" else []
    return min(found)


def too_large(source: TableSource, share: float = SHARE) -> bool:
    """Tell whether a table would take more than a share of the free memory."""
    return source.shape[0] * source.row_bytes > share * free_memory()
