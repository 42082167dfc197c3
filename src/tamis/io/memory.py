"""How much memory is free, and whether what a file declares has room in it."""

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

ZARR_METADATA = ("zarr.json", ".zarray", ".zattrs")

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
        said = f"{what} is said to be {size(needed)}, more than {_expansion.get():.0f} times the {size(stored)}"
        remedy = "the file is damaged, or pass --max-expansion if it is right"
        raise TableError(f"{said} that are stored for it; {remedy}.")
    if not in_pieces and needed > free_memory():
        lack = f"{what} would take {size(needed)} of memory, and {size(free_memory())} are free"
        raise TableError(f"{lack}; read it in pieces (--in-pieces), or where there is more memory.")


def room_for(stored: int) -> int:
    """Return the bytes that may be taken to read so many stored ones."""
    return int(min(free_memory(), max(ALWAYS_ALLOWED, _expansion.get() * stored)))


def check_stored(item: Any, what: str, in_pieces: bool = False) -> None:
    """Raise :class:`TableError` unless there is room for an HDF5 data set or a Zarr array, and for every part of it."""
    cell = max(1, item.dtype.itemsize)
    chunks = getattr(item, "shards", None) or getattr(item, "chunks", None) or (0,)
    needed, chunk = cell * prod(map(int, item.shape)), cell * prod(map(int, chunks))
    if max(needed, chunk) > ALWAYS_ALLOWED:
        stored = int(item.id.get_storage_size() if hasattr(item, "id") else item.nbytes_stored())
        check_room(needed, stored, what, in_pieces)
        check_room(chunk, stored, f"a chunk of {what}")
    place: Any = getattr(item, "store_path", None)
    root = getattr(getattr(place, "store", None), "root", None)
    if root is not None:  # HDF5 checks the sizes of its parts itself.
        for path in (Path(root) / place.path).rglob("*"):
            if path.is_file() and path.name not in ZARR_METADATA:
                _check_part(item, path, what)


def _check_part(item: Any, path: Path, what: str) -> None:
    """Raise :class:`TableError` if a part of a Zarr array has no room unpacked, or too many texts."""
    with path.open("rb") as part:
        head = part.read(18)
    blosc, texts = (word in repr((item.compressors, item.filters)).lower() for word in ("blosc", "vlen"))
    check_room(_declared(head, blosc), path.stat().st_size, f"a part of {what}")
    if texts:
        packing = getattr(item.metadata, "compressor", None)
        content = packing.decode(path.read_bytes()) if packing else path.read_bytes()
        count, most = int.from_bytes(bytes(content[:4]), "little"), prod(item.chunks)
        if count > most:
            raise TableError(f"a list of texts declares {count} of them in a part of {most}; save it anew.")


def _declared(head: bytes, blosc: bool) -> int:
    """Return the unpacked bytes that the head of a Zstandard frame, or of Blosc's, declares; 0 if it tells none."""
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        single, width = head[4] >> 5 & 1, (1, 2, 4, 8)[head[4] >> 6]
        start = 6 - single + (0, 1, 2, 4)[head[4] & 3]
        return 0 if width == 1 and not single else int.from_bytes(head[start : start + width], "little")
    return int.from_bytes(head[4:8], "little") if blosc and len(head) >= 16 else 0


def size(count: float) -> str:
    """Write a number of bytes as people do."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
