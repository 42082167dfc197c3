"""Compressed files as streams of bytes: what a file begins with tells how it was packed, not its name."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tamis.io.errors import TableError
from tamis.io.memory import Expanded
from tamis.io.readers.table import Progress, listed

ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zip")
"""What the names of compressed files end with."""


class CountedFile(io.RawIOBase):
    """A file that tells how far it was read."""

    def __init__(self, raw: IO[bytes], total: int, progress: Progress):
        self.raw, self.total, self.progress = raw, total, progress

    def read(self, size: int = -1) -> bytes:
        """Read bytes and tell the position."""
        data = self.raw.read(size)
        self.progress(self.raw.tell(), self.total)
        return data

    def readable(self) -> bool:
        """Tell that the file can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that the file can be moved in, as archives need."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to a position."""
        return self.raw.seek(offset, whence)

    def tell(self) -> int:
        """Tell the position."""
        return self.raw.tell()


@contextmanager
def opened(path: Path, progress: Progress, member: str | None = None) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed if it is compressed.

    Parameters
    ----------
    path : Path
        The file.
    progress : callable
        Told how many of how many compressed bytes were read.
    member : str, optional
        Which file of a zip archive with several.
    """
    with path.open("rb") as raw:
        start = raw.read(6)
        raw.seek(0)
        counted = CountedFile(raw, path.stat().st_size, progress)
        opener = next((found for magic, found in OPENERS.items() if start.startswith(magic)), None)
        if opener is None:
            yield counted  # type: ignore[misc]
            return
        with opener(counted, member) as stream:
            yield Expanded(stream, counted.total)  # type: ignore[misc]


def member_of(path: Path, wanted: str | None) -> str:
    """Return the name of the file in a zip archive, which must be the only one or be asked for."""
    if not zipfile.is_zipfile(path):
        raise TableError(f"{path}: is not a zip archive, or it is damaged.")
    with zipfile.ZipFile(path) as archive:
        try:
            return _member(_files(archive), wanted)
        except TableError as error:
            raise TableError(f"{path}: {error}") from error


@contextmanager
def _from_zip(stream: Any, member: str | None) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(stream) as archive, archive.open(_member(_files(archive), member)) as unpacked:
        yield unpacked


def _files(archive: zipfile.ZipFile) -> list[str]:
    return [entry.filename for entry in archive.infolist() if not entry.is_dir()]


def _member(names: list[str], wanted: str | None) -> str:
    """Choose the file of an archive; what operating systems add beside it does not count."""
    real = [name for name in names if not name.startswith("__MACOSX/") and not Path(name).name.startswith(".")]
    if wanted is not None:
        if wanted in real:
            return wanted
        raise TableError(f"--key names {wanted!r}, which is not in the archive; it holds {listed(real)}.")
    if len(real) != 1:
        what = f"holds several files: {listed(real)}; say which with --key" if real else "is an archive without files"
        raise TableError(f"{what}.")
    return real[0]


@contextmanager
def _from_zstandard(stream: Any, member: str | None) -> Iterator[IO[bytes]]:  # noqa: ARG001 (one file only)
    import pyarrow as pa

    with pa.CompressedInputStream(pa.PythonFile(stream, "r"), "zstd") as unpacked:
        yield unpacked


def _plain_packing(opener: Callable[[Any], Any]) -> Callable[[Any, str | None], Any]:
    """Return an opener of files that hold one file only, so that none can be asked for."""
    return lambda stream, member: opener(stream)  # noqa: ARG005


OPENERS: dict[bytes, Callable[[Any, str | None], Any]] = {
    b"\x1f\x8b": _plain_packing(gzip.open),
    b"BZh": _plain_packing(bz2.open),
    b"\xfd7zXZ\0": _plain_packing(lzma.open),
    b"\x28\xb5\x2f\xfd": _from_zstandard,
    b"PK\x03\x04": _from_zip,
}
