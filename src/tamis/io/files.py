"""Files that are written whole or not at all, that are known as tamis's own, and that can be read at all."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import file_digest
from pathlib import Path
from secrets import token_hex

from tamis.io.errors import TableError

MARK = ".tamis-"
"""How the names of unfinished files begin."""

RECORD = ".tamis-written"
"""The file that lists what tamis wrote into a folder: a line for each, as ``sha256sum`` writes it."""

_unfinished: set[Path] = set()
_recorded: ContextVar[bool] = ContextVar("recorded", default=False)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path in the same folder, which takes the place of ``path`` when the block ends well.

    The temporary file keeps the ending of the name, by which some writers choose their format. It is flushed to the
    disk before it is renamed; on an error it is removed and ``path`` is left as it was.
    """
    target = Path(path)
    # The number of the process tells later whether the file was left behind by one that was killed.
    temporary = target.parent / f"{MARK}{os.getpid()}-{token_hex(4)}-{target.name[-80:]}"
    _unfinished.add(temporary)
    try:
        temporary.touch(exist_ok=False)
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        if _recorded.get():
            _record(target, temporary)
        temporary.replace(target)
    except OSError as error:
        raise _about(target, temporary, error) from error
    finally:
        _remove(temporary)  # After the renaming there is nothing left to remove.
        _unfinished.discard(temporary)


def _about(target: Path, temporary: Path, error: OSError) -> OSError:
    """Return an error that names the file that was to be written, not the temporary one."""
    if error.errno is None:
        return OSError(str(error).replace(os.fspath(temporary), os.fspath(target)))
    about_other = error.filename not in (None, os.fspath(temporary), temporary)
    return type(error)(error.errno, error.strerror, error.filename if about_other else os.fspath(target))


def remove_unfinished() -> None:
    """Remove the files that this process is writing, since it is about to end."""
    for path in list(_unfinished):
        _remove(path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


@contextmanager
def recording(wanted: bool = True) -> Iterator[None]:
    """Note in a file of the folder what is written in this block, so that :func:`is_own` knows it later."""
    token = _recorded.set(wanted)
    try:
        yield
    finally:
        _recorded.reset(token)


def _record(target: Path, content: Path) -> None:
    """Add a line before the file is there: whenever the process is killed, what is there is known."""
    known = [(digest, name) for digest, name in _written(target.parent) if (target.parent / name).is_file()]
    lines = dict.fromkeys([*known, (_digest(content), target.name)])
    text = "".join(f"{digest}  {name}\n" for digest, name in lines)
    with recording(False), replacing(target.parent / RECORD) as temporary:  # The record does not list itself.
        temporary.write_bytes(text.encode("utf-8", "surrogateescape"))


def is_own(path: Path) -> bool:
    """Return whether a file is as tamis wrote it."""
    wanted = {digest for digest, name in _written(path.parent) if name == path.name}
    return bool(wanted) and _digest(path) in wanted


def _written(folder: Path) -> list[tuple[str, str]]:
    try:
        lines = (folder / RECORD).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    return [(digest, name) for digest, _, name in (line.partition("  ") for line in lines) if name]


def _digest(path: Path) -> str:
    with path.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write UTF-8 text, atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
    return Path(path)


def check_readable(path: Path) -> None:
    """Raise :class:`TableError` unless a path can be read as a file or a folder."""
    fault = ""
    try:
        kind = path.stat()
        if stat.S_ISREG(kind.st_mode):
            path.open("rb").close()
            fault = "" if kind.st_size else "is empty (0 bytes); save it anew"
        elif not stat.S_ISDIR(kind.st_mode):
            # Opening a pipe waits for someone to write into it.
            fault = "is a pipe or a device, not a file; write its content to a file first"
    except FileNotFoundError:
        fault = "there is no such file"
    except OSError as error:
        fault = f"cannot be opened ({error.strerror}); see that you may read it"
    except ValueError:
        fault = "is no name that a file can have"
    if fault:
        raise TableError(f"{path}: {fault}.")


def remove_leftovers(folder: str | os.PathLike[str]) -> None:
    """Remove unfinished files in a folder that belong to processes which are no more."""
    for path in Path(folder).glob(f"{MARK}*-*"):
        number = path.name.removeprefix(MARK).partition("-")[0]
        with suppress(PermissionError, OverflowError):
            try:
                os.kill(int(number) if number.isdigit() else os.getpid(), 0)
            except ProcessLookupError:
                _remove(path)
