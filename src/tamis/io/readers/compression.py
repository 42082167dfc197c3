"""Compressed files as streams of bytes: what a file begins with tells how it was packed, not its name."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

from tamis.io.errors import TableError
from tamis.io.memory import check_room
from tamis.io.readers.report import listed
from tamis.io.readers.table import Progress, unheard

ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zip")
"""What the names of compressed files end with."""


class Watched(io.RawIOBase):
    """A stream of which someone is told, after every read, how many bytes were read."""

    def __init__(self, stream: Any, watch: Callable[[int], object]):
        self._stream, self._watch, self._count = stream, watch, 0

    def readinto(self, buffer: Any) -> int:
        """Read as many bytes as there is room for, or fewer."""
        found: int = self._stream.readinto(buffer)
        self._count += found
        self._watch(self._count)
        return found

    def readall(self) -> bytes:
        """Read to the end, in larger pieces than Python would."""
        return b"".join(iter(lambda: self.read(2**22) or b"", b""))

    def readable(self) -> bool:
        """Return whether it can be read."""
        return True


@contextmanager
def opened(path: Path, progress: Progress = unheard, member: str | None = None) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed if need be; ``member`` names the file of a zip archive with several."""
    total = path.stat().st_size
    with path.open("rb") as raw:
        start = raw.read(6)
        raw.seek(0)
        opener = next((found for magic, found in OPENERS.items() if start.startswith(magic)), None)

        def watch(count: int) -> None:
            progress(raw.tell(), total)
            if opener is not None:
                check_room(2 * count, total, "the unpacked text in memory")  # Numbers take more than their digits.

        with opener(raw, member) if opener else nullcontext(raw) as stream:
            yield io.BufferedReader(Watched(stream, watch))


def member_of(archive: zipfile.ZipFile, wanted: str | None) -> str:
    """Return the name of the file in an archive, which must be the only one or be asked for.

    What operating systems add beside it does not count.
    """
    names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    real = [name for name in names if not name.startswith("__MACOSX/") and not Path(name).name.startswith(".")]
    if {"[Content_Types].xml", "content.xml"} & {*real}:
        raise TableError("is a workbook, not a text file; rename it to end in .xlsx or .ods.")
    if wanted is not None and wanted not in real:
        raise TableError(f"--key names {wanted!r}, which is not in the archive; it holds {listed(real)}.")
    if wanted is None and len(real) != 1:
        what = f"holds several files: {listed(real)}; say which with --key" if real else "is an archive without files"
        raise TableError(f"{what}.")
    return wanted or real[0]


def _from_zip(stream: Any, member: str | None) -> IO[bytes]:
    archive = zipfile.ZipFile(stream)
    return archive.open(member_of(archive, member))


def _from_zstandard(stream: Any, member: str | None) -> Any:  # noqa: ARG001 (one file only)
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(stream, "r"), "zstd")


OPENERS: dict[bytes, Callable[[Any, str | None], Any]] = {
    b"\x1f\x8b": lambda stream, _: gzip.GzipFile(fileobj=stream),
    b"BZh": lambda stream, _: bz2.BZ2File(stream),
    b"\xfd7zXZ\0": lambda stream, _: lzma.LZMAFile(stream),  # noqa: SIM115
    b"\x28\xb5\x2f\xfd": _from_zstandard,
    b"PK\x03\x04": _from_zip,
    b"PK\x05\x06": _from_zip,  # without files
}
"""How to open a file by its first bytes."""
