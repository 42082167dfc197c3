"""Writing files so that a crash never leaves half a file where a good one was."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARK = ".tamis-"
"""How the names of unfinished files begin."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path in the same folder, which takes the place of ``path`` when the block ends well.

    The temporary file keeps the ending of the name, by which some writers choose their format. It is flushed to the
    disk before it is renamed; on an error it is removed and ``path`` is left as it was.
    """
    target = Path(path)
    # The number of the process tells later whether the file was left behind by one that was killed.
    handle, name = tempfile.mkstemp(prefix=f"{MARK}{os.getpid()}-", suffix="-" + target.name[-80:], dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        # mkstemp makes private files; what users write follows their umask as any other file does.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write UTF-8 text, atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
    return Path(path)


def remove_leftovers(folder: str | os.PathLike[str]) -> None:
    """Remove unfinished files in a folder that belong to processes which are no more."""
    for path in Path(folder).glob(f"{MARK}*-*"):
        number = path.name.removeprefix(MARK).partition("-")[0]
        if number.isdigit() and not _is_alive(int(number)):
            with suppress(OSError):
                path.unlink()


def _is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _umask() -> int:
    # The mask can be read only by setting it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
