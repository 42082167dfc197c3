"""How much memory is free, and whether what a file declares has room in it."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from math import prod
from pathlib import Path
from typing import Any

from tamis.io.errors import TableError

SHARE = 0.25
"""A table that would take more than this share of the free memory is read in pieces.

Fitting makes a float32 copy of what was read, and readers hold parts of a file twice."""

MAX_EXPANSION = 1000.0
"""A file may declare so many times the bytes that are stored for it; deflate packs at most 1,032 to one."""

ALWAYS_ALLOWED = 2**26
"""Bytes that are read whatever they were expanded from."""

NAME_BYTES = 100
"""What the name of a feature takes in memory, about."""

_expansion: ContextVar[float] = ContextVar("expansion", default=MAX_EXPANSION)


def free_memory() -> int:
    """Return the bytes that this process may still use, as the kernel, the control group and its limits see it."""
    found = [2**62]
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")]
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        found.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        found += [limit - taken] if limit != resource.RLIM_INFINITY else []
    return max(0, min(found))


def too_large(source: Any, share: float = SHARE) -> bool:
    """Return whether a table source would take more than a share of the free memory."""
    return bool(source.shape[0] * source.row_bytes > share * free_memory())


@contextmanager
def expansion(limit: float) -> Iterator[None]:
    """Let files that are read in this block declare up to ``limit`` times what is stored."""
    token = _expansion.set(limit)
    try:
        yield
    finally:
        _expansion.reset(token)


def check_room(needed: float, stored: float, what: str, in_pieces: bool = False) -> None:
    """Raise :class:`TableError` before memory is taken that is not there, or that the stored bytes make unlikely.

    ``in_pieces`` says that what is needed is never held all at once.
    """
    if needed <= ALWAYS_ALLOWED:
        return
    if needed > _expansion.get() * stored:
        raise TableError(
            f"{what} is said to be {size(needed)}, more than {_expansion.get():.0f} times the {size(stored)} that are "
            "stored for it; the file is damaged, or pass --max-expansion if it is right."
        )
    if not in_pieces and needed > free_memory():
        raise TableError(
            f"{what} would take {size(needed)} of memory, and {size(free_memory())} are free; read it in pieces "
            "(--in-pieces), or where there is more memory."
        )


def room_for(stored: int) -> int:
    """Return the bytes that may be taken to read so many stored ones."""
    return int(min(free_memory(), max(ALWAYS_ALLOWED, _expansion.get() * stored)))


def check_stored(item: Any, what: str, in_pieces: bool = False) -> None:
    """Raise :class:`TableError` unless there is room for an HDF5 data set or a Zarr array, or for its chunks."""
    cell = max(1, item.dtype.itemsize)
    chunks = getattr(item, "shards", None) or getattr(item, "chunks", None) or (0,)
    needed, chunk = cell * prod(map(int, item.shape)), cell * prod(map(int, chunks))
    if max(needed, chunk) > ALWAYS_ALLOWED:
        stored = int(item.id.get_storage_size() if hasattr(item, "id") else item.nbytes_stored())
        check_room(needed, stored, what, in_pieces)
        check_room(chunk, stored, f"a chunk of {what}")


class Expanded(io.RawIOBase):
    """A stream of unpacked bytes that ends with :class:`TableError` once it is far longer than what is stored."""

    def __init__(self, stream: Any, stored: int):
        self._stream, self._stored, self._count = stream, stored, 0

    def read(self, size: int = -1) -> bytes:
        """Read some bytes."""
        return self._counted(self._stream.read(size))

    def readline(self, size: int | None = -1) -> bytes:
        """Read a line, or the first bytes of it."""
        return self._counted(self._stream.readline(size))

    def _counted(self, content: bytes) -> bytes:
        self._count += len(content)
        check_room(self._count, self._stored, "the unpacked text")
        return content

    def readable(self) -> bool:
        """Return whether it can be read."""
        return True


def file_size(path: str | os.PathLike[str]) -> int:
    """Return the bytes of a file."""
    return os.stat(path).st_size


def size(count: float) -> str:
    """Write a number of bytes as people do."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
