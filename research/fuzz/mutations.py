"""Ways to damage a file: bytes, numbers in headers, values inside containers, and bombs."""

import bz2
import gzip
import io
import lzma
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from research.fuzz.seeds import Files

EXTREMES = [0, 1, 2, 127, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, 2**64 - 1]
TOKENS = [
    b"-1", b"0", b"99999999", b"1000000000000", b"1e300", b"7E-", b"1.5abc", b"nan", b"inf", b"-", b"", b"\0", b"'",
    b'"', b"{", b"\xff\xfe", b"\n", b"\n\n", b"null", b"[[[[", b"1 1 1",
]  # fmt: skip

PACKINGS: dict[str, Any] = {".gz": gzip, ".bz2": bz2, ".xz": lzma}


def truncate(content: bytes, draw: Random) -> bytes:
    """Cut the end off."""
    return content[: draw.randrange(len(content))] if content else content


def flip(content: bytes, draw: Random) -> bytes:
    """Flip some bits."""
    changed = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 8]) if changed else 0):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def overwrite(content: bytes, draw: Random) -> bytes:
    """Put other bytes over some."""
    start = draw.randrange(len(content) + 1)
    noise = draw.randbytes(draw.choice([1, 2, 4, 16]))
    return content[:start] + noise + content[start + len(noise) :]


def insert(content: bytes, draw: Random) -> bytes:
    """Put a token, noise or zeros in between."""
    start = draw.randrange(len(content) + 1)
    extra = draw.choice([draw.choice(TOKENS), draw.randbytes(draw.randrange(1, 20)), bytes(draw.randrange(1, 600))])
    return content[:start] + extra + content[start:]


def swap(content: bytes, draw: Random) -> bytes:
    """Let two stretches change places."""
    if len(content) < 8:
        return content
    a, b, c, d = sorted(draw.randrange(len(content) + 1) for _ in range(4))
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def remove(content: bytes, draw: Random) -> bytes:
    """Leave a stretch out."""
    start = draw.randrange(len(content) + 1)
    return content[:start] + content[start + draw.choice([1, 2, 8, 64, 512]) :]


def repeat(content: bytes, draw: Random) -> bytes:
    """Write a stretch several times."""
    start = draw.randrange(len(content) + 1)
    stretch = content[start : start + draw.randrange(1, 80)]
    return content[:start] + stretch * draw.choice([2, 3, 50]) + content[start:]


def declare(content: bytes, draw: Random) -> bytes:
    """Put an extreme number where a binary header may hold one."""
    width = draw.choice([1, 2, 4, 4, 8, 8])
    if len(content) < width:
        return content
    start = draw.randrange(len(content) - width + 1)
    start -= start % draw.choice([1, width])
    number = draw.choice(EXTREMES) & (2 ** (8 * width) - 1)
    return content[:start] + number.to_bytes(width, draw.choice(["little", "big"])) + content[start + width :]


def renumber(content: bytes, draw: Random) -> bytes:
    """Put another number, or what is none, in place of one that is written in letters."""
    found = list(re.finditer(rb"\d+(?:\.\d+)?", content))
    if not found:
        return declare(content, draw)
    # Headers come first, and are the likelier to be trusted.
    place = draw.choice(found[: draw.choice([4, 12, len(found)])])
    other = draw.choice([*TOKENS, str(draw.choice(EXTREMES)).encode(), str(-draw.choice(EXTREMES)).encode()])
    return content[: place.start()] + other + content[place.end() :]


BYTES: list[Callable[[bytes, Random], bytes]] = [
    truncate, flip, flip, overwrite, insert, swap, remove, repeat, declare, declare, renumber, renumber,
]  # fmt: skip


def damaged(content: bytes, draw: Random) -> bytes:
    """Damage some bytes once or twice."""
    for _ in range(draw.choice([1, 1, 2])):
        content = draw.choice(BYTES)(content, draw)
    return content


def repacked(name: str, content: bytes, draw: Random) -> bytes:
    """Damage what is inside a container, whose own checksums stay right."""
    for ending, packing in PACKINGS.items():
        if name.endswith(ending):
            return bytes(packing.compress(damaged(packing.decompress(content), draw)))
    if name.endswith((".npz", ".zip")):
        return _rezipped(content, draw)
    return damaged(content, draw)


def _rezipped(content: bytes, draw: Random) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        members = old.namelist()
        hurt = draw.choice(members)
        for member in members:
            inner = old.read(member)
            if member != hurt:
                new.writestr(member, inner)
            elif draw.random() < 0.85:
                new.writestr(draw.choice([member] * 8 + ["X.npy", "../../evil.npy"]), damaged(inner, draw))
    return stream.getvalue()


def mutate(name: str, files: Files, draw: Random) -> Files:
    """Damage one of the files of a table; of a store, one may be gone, or two may change places."""
    files = dict(files)
    place = draw.choice(sorted(files))
    if len(files) > 1:
        action = draw.random()
        if action < 0.08:
            del files[place]
            return files
        if action < 0.14:
            other = draw.choice(sorted(files))
            files[place], files[other] = files[other], files[place]
            return files
        if action < 0.6:
            place = draw.choice([path for path in sorted(files) if path.endswith((".json", ".zarray"))] or [place])
    change = repacked if draw.random() < 0.5 else lambda _, content, draw: damaged(content, draw)
    files[place] = change(name, files[place], draw)
    return files


def edit_hdf(path: Path, draw: Random) -> None:
    """Change values, attributes or whole data sets of an HDF5 file, which stays well-formed."""
    import h5py
    import numpy as np

    with h5py.File(path, "r+") as file:
        items: dict[str, Any] = {}
        file.visititems(lambda name, item: items.update({name: item}))
        name = draw.choice(sorted(items))
        item, action = items[name], draw.random()
        if action < 0.5 and isinstance(item, h5py.Dataset) and item.size and item.dtype.kind in "iuf":
            cells = item[()].ravel()
            cells[draw.randrange(len(cells))] = np.array(draw.choice([-1, -7, 2**31 - 1, 99, 0])).astype(item.dtype)
            item[...] = cells.reshape(item.shape)
        elif action < 0.6:
            del file[name]
        elif action < 0.8:
            del file[name]
            file.create_dataset(name, shape=draw.choice([(10**9,), (10**6, 10**6), (3,), (0, 5), (2, 2, 2)]),
                                dtype=draw.choice(["f8", "i4", "S5"]), chunks=True)  # fmt: skip
        else:
            item.attrs[draw.choice([*item.attrs, "shape"])] = draw.choice(
                ["x", -1, 10**12, [3, 3], [10**11, 5], [-2, 5]]
            )


def edit_zarr(path: Path, draw: Random) -> None:
    """Change values of an array of a Zarr store, which stays well-formed."""
    import numpy as np
    import zarr

    root: Any = zarr.open(str(path), mode="r+")
    if not hasattr(root, "members"):
        return
    arrays = [item for _, item in root.members(max_depth=None) if hasattr(item, "dtype") and item.dtype.kind in "iuf"]
    item = draw.choice(arrays)
    values = item[:]
    values.reshape(-1)[draw.randrange(values.size)] = np.array(draw.choice([-1, -7, 99, 0, 2**31 - 1])).astype(
        item.dtype
    )
    item[:] = values
