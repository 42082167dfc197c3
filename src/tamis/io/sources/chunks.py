"""Parts of Zarr arrays, whose first bytes declare how much memory unpacking them takes."""

from math import prod
from pathlib import Path
from typing import Any

from tamis.io.errors import TableError
from tamis.io.memory import check_room, check_stored, file_size

METADATA = ("zarr.json", ".zarray", ".zattrs")


def check_array(item: Any, what: str, in_pieces: bool = False) -> None:
    """Raise :class:`TableError` unless there is room for an HDF5 data set or a Zarr array, and for every part of it."""
    check_stored(item, what, in_pieces)
    place: Any = getattr(item, "store_path", None)
    root = getattr(getattr(place, "store", None), "root", None)
    if root is None:
        return  # HDF5 checks the sizes of its parts itself.
    blosc, texts = (word in repr((item.compressors, item.filters)).lower() for word in ("blosc", "vlen"))
    for path in (Path(root) / place.path).rglob("*"):
        if path.is_file() and path.name not in METADATA:
            with path.open("rb") as part:
                check_room(_declared(part.read(18), blosc), file_size(path), f"a part of {what}")
            if texts:
                _check_texts(item, path)


def _declared(head: bytes, blosc: bool) -> int:
    """Return the unpacked bytes that the head of a Zstandard frame, or of Blosc's, declares; 0 if it tells none."""
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        single, width = head[4] >> 5 & 1, (1, 2, 4, 8)[head[4] >> 6]
        start = 6 - single + (0, 1, 2, 4)[head[4] & 3]
        return 0 if width == 1 and not single else int.from_bytes(head[start : start + width], "little")
    return int.from_bytes(head[4:8], "little") if blosc and len(head) >= 16 else 0


def _check_texts(item: Any, path: Path) -> None:
    """Raise :class:`TableError` if a part of a list of texts declares more texts than a part has."""
    packing = getattr(item.metadata, "compressor", None)
    content = packing.decode(path.read_bytes()) if packing else path.read_bytes()
    count = int.from_bytes(bytes(content[:4]), "little")
    if count > prod(item.chunks):
        raise TableError(f"a list of texts declares {count} of them in a part of {prod(item.chunks)}; save it anew.")
