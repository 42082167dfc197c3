"""One damaged file in a process of its own, with limits on time and memory, and what became of it."""

import json
import os
import resource
import select
import signal
import sys
import traceback
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

from research.fuzz import mutations, oracle
from research.fuzz.bombs import BOMBS
from research.fuzz.seeds import Files

SECONDS = 20
"""Of work; the clock runs three times as long, since the machine may have other work, too."""
MEMORY = 2 * 10**9
OUTCOMES = ("read", "clean error", "foreign exception", "crash", "hang", "memory", "garbage")
FAULTS = OUTCOMES[2:]


@dataclass(frozen=True)
class Outcome:
    """What became of a file; ``detail`` tells faults of one kind from each other."""

    kind: str
    detail: str = ""


def run(path: Path, name: str, files: Files, number: int) -> Outcome:
    """Damage and read a file in a forked process."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        try:
            os.write(writer, json.dumps(asdict(_damage_and_read(path, name, files, Random(number)))).encode()[:4000])
        finally:
            os._exit(0)
    os.close(writer)
    return _waited(process, reader)


def _waited(process: int, reader: int) -> Outcome:
    try:
        ready, _, _ = select.select([reader], [], [], 3 * SECONDS)
        answer = os.read(reader, 4096) if ready else b""
    finally:
        os.close(reader)
    if not ready:
        os.kill(process, signal.SIGKILL)
    _, status, used = os.wait4(process, 0)
    if not ready or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return Outcome("hang")
    if not answer:
        return Outcome("crash", f"status {status}")
    outcome = Outcome(**json.loads(answer))
    return Outcome("memory", "resident") if 1024 * used.ru_maxrss > MEMORY + _base() else outcome


def _base() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _damage_and_read(path: Path, name: str, files: Files, draw: Random) -> Outcome:
    damage(path, name, files, draw)
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (until the process ends)
    used = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + SECONDS,) * 2)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
    warnings.simplefilter("ignore")
    return outcome_of(path, draw.randrange(3))


def damage(path: Path, name: str, files: Files, draw: Random) -> None:
    """Write the damaged file."""
    chance = draw.random()
    if chance < 0.04 and path.suffix in BOMBS:
        _write(path, {} if path.suffix == ".zarr" else files)
        draw.choice(BOMBS[path.suffix])(path, draw)
    elif (chance < 0.35 and path.suffix in (".h5", ".h5ad")) or (name == "new.mat" and chance < 0.35):
        _write(path, files)
        mutations.edit_hdf(path, draw)
    elif chance < 0.35 and path.suffix == ".zarr":
        _write(path, files)
        mutations.edit_zarr(path, draw)
    else:
        _write(path, mutations.mutate(name, files, draw))


def _write(path: Path, files: Files) -> None:
    for place, content in files.items():
        part = path / place if place else path
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)


def outcome_of(path: Path, way: int) -> Outcome:
    """Read a file in one of three ways, and sort what happens."""
    from tamis.persistence import LoadError
    from tamis.sources import TableError

    try:
        found = oracle.fault(path, table) if (table := _read(path, way)) is not None else None
    except (TableError, LoadError) as error:
        return _of_error(path, error)
    except MemoryError:
        return Outcome("memory", _place())
    except BaseException as error:
        return Outcome("foreign exception", f"{type(error).__name__} {_place()}")
    return Outcome("read") if found is None else Outcome("garbage", found)


def _read(path: Path, way: int) -> Any:
    """Read whole, or in pieces, or open as a source and go over it once."""
    import tamis
    from tamis.readers import Request, read
    from tamis.sources import READ_IN_PIECES, open_source

    if path.suffix == ".tamis":
        tamis.load(path)
        return None
    in_pieces = path.is_dir() or path.suffix in READ_IN_PIECES
    if way == 2 and in_pieces:
        open_source(path).column_statistics()
        return None
    labels = "kind" if path.suffix == ".h5ad" and way == 1 else None
    return read(path, Request(in_pieces=True if way == 1 and in_pieces else None, labels=labels, drop_text=True))


def _of_error(path: Path, error: BaseException) -> Outcome:
    cause: BaseException | None = error
    while cause is not None:
        # Arrow asks for what a buffer declares and fills what is there: of a damaged one nothing is taken.
        if isinstance(cause, MemoryError) and type(cause).__name__ != "ArrowMemoryError":
            return Outcome("memory", type(cause).__name__)
        cause = cause.__cause__
    text = str(error)
    if str(path) not in text or not text.endswith(".") or "\n" in text:
        return Outcome("foreign exception", f"a message without its file: {text[-80:]}")
    return Outcome("clean error")


def _place() -> str:
    """Name the innermost function of tamis in the trace."""
    frames = [f for f in traceback.extract_tb(sys.exc_info()[2]) if "tamis" in f.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else ""
