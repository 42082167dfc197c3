"""One damaged file in a process of its own, with limits on time and memory, and what became of it."""

import faulthandler
import json
import os
import resource
import select
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import IO, Any

from research.fuzz import mutations, oracle
from research.fuzz.bombs import BOMBS
from research.fuzz.seeds import Files

SECONDS = 20
"""Of work."""

CLOCK_SECONDS = 300
"""By the clock, since the machine may have other work, too."""

MEMORY = 2 * 10**9
OUTCOMES = ("read", "clean error", "foreign exception", "crash", "hang", "memory", "garbage")
FAULTS = OUTCOMES[2:]


@dataclass(frozen=True)
class Outcome:
    """What became of a file; ``detail`` tells faults of one kind from each other."""

    kind: str
    detail: str = ""


@dataclass(frozen=True)
class Job:
    """A valid file, where the damaged one goes, and the number that tells the damage."""

    path: Path
    name: str
    files: Files
    number: int


def run(jobs: Sequence[Job]) -> Iterator[Outcome]:
    """Damage and read files in a forked process, one after the other, and yield what became of each."""
    left = list(jobs)
    while left:
        reader, writer = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(reader)
            _work(left, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as answers:
            while left and (line := _line(answers)):
                left.pop(0)
                yield Outcome(**json.loads(line))
        if left:
            # The process ended, or has to be ended, over the next file.
            left.pop(0)
            yield _ended(process)
        else:
            os.waitpid(process, 0)


def _work(jobs: Sequence[Job], writer: int) -> None:
    """Do all jobs, and end the process."""
    try:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (until the process ends)
        faulthandler.disable()  # a crash is told as an outcome
        warnings.simplefilter("ignore")
        for job in jobs:
            outcome = _damage_and_read(job.path, job.name, job.files, Random(job.number))
            os.write(writer, json.dumps(asdict(outcome)).encode()[:3000] + b"\n")
    finally:
        os._exit(0)


def _line(answers: IO[bytes]) -> bytes:
    """Return the next answer, nothing if there is none in time or the process is gone."""
    ready, _, _ = select.select([answers], [], [], CLOCK_SECONDS)
    return answers.readline() if ready else b""


def _ended(process: int) -> Outcome:
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGXCPU):
        return Outcome("hang")
    return Outcome("crash", f"status {status}")


def _damage_and_read(path: Path, name: str, files: Files, draw: Random) -> Outcome:
    _limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)
    damage(path, name, files, draw)
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + SECONDS)
    _limit(resource.RLIMIT_AS, int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + MEMORY)
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    before = _resident("VmRSS")
    outcome = outcome_of(path, draw.randrange(3))
    return Outcome("memory", "resident") if _resident("VmHWM") - before > MEMORY else outcome


def _limit(kind: int, value: int) -> None:
    resource.setrlimit(kind, (value, resource.RLIM_INFINITY))


def _resident(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])


def damage(path: Path, name: str, files: Files, draw: Random) -> None:
    """Write the damaged file."""
    chance = draw.random()
    if chance < 0.01 and path.suffix in BOMBS:
        _write(path, {} if path.suffix == ".zarr" else files)
        draw.choice(BOMBS[path.suffix])(path, draw)
    elif chance < 0.35 and path.suffix in (".h5", ".h5ad"):
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
    from tamis.io.errors import TableError
    from tamis.io.persistence import LoadError

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
    from tamis.io.readers import Request, read
    from tamis.io.sources import READ_IN_PIECES, open_source

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
