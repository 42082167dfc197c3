"""What is done to a run: signals, a full disk, a folder that vanishes or cannot be written, a table that changes."""

import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from research.faults.runs import COMMANDS, Verdict, check, leftovers, make_inputs, picks, start

SIGNALS = {signal.SIGKILL: (-9,), signal.SIGINT: (130, -2), signal.SIGTERM: (143, -15)}
"""Exit codes that are right; those below 0 are of a process that is killed before its first line, or after its last."""

Row = Counter[str]


class Reference:
    """How long every command takes undisturbed, and what ``select`` chooses."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.picks: dict[str, list[str]] = {}
        for name, command in COMMANDS.items():
            with TemporaryDirectory(prefix="faults-") as place:
                folder = Path(place)
                make_inputs(folder)
                begun = time.monotonic()
                process = start(command, folder)
                _, stderr = process.communicate()
                assert process.returncode == 0, stderr
                self.seconds[name] = time.monotonic() - begun
                if command[0] == "select":
                    self.picks[name] = picks(folder)


def kill(name: str, reference: Reference, draw: Random) -> tuple[Row, list[str]]:
    """End a command by a signal at a random moment; a checkpointed one must go on to the reference picks."""
    number = draw.choice(list(SIGNALS))
    with TemporaryDirectory(prefix="faults-") as place:
        folder = Path(place)
        before = make_inputs(folder)
        process = start(COMMANDS[name], folder)
        in_training = name.startswith("checkpointed") and _wait_for(folder / "state" / "fit.checkpoint", process)
        time.sleep(draw.random() * (0.5 if in_training else 1.05 * reference.seconds[name]))
        process.send_signal(number)
        _, stderr = process.communicate()
        found = check(folder, before, process.returncode, stderr, (0, *SIGNALS[number]))
        row = _row(found)
        row["before the first line"] += int(number != signal.SIGKILL and process.returncode < 0)
        if number != signal.SIGKILL and leftovers(folder):
            row["half-written files"] += 1
            found.notes.append(f"left {leftovers(folder)}")
        if name.startswith("checkpointed"):
            row += _resume(name, folder, before, reference, found)
        return row, [f"{name}, signal {int(number)}: {note}" for note in found.notes]


def _wait_for(path: Path, process: "subprocess.Popen[str]") -> bool:
    while process.poll() is None and not path.exists():
        time.sleep(0.01)
    return path.exists()


def _resume(name: str, folder: Path, before: dict[str, str], reference: Reference, found: Verdict) -> Row:
    """Run the same command again, in the same folder and with the same checkpoint."""
    process = start(COMMANDS[name], folder)
    _, stderr = process.communicate()
    again = check(folder, before, process.returncode, stderr, (0,))
    found.notes += again.notes
    same = process.returncode == 0 and picks(folder) == reference.picks[name] and not leftovers(folder)
    if not same:
        found.notes.append(f"resumed otherwise: {stderr[-200:]}")
    return _row(again) + Counter({"resumed fits": 1, "resumed otherwise": int(not same)}) - Counter({"runs": 1})


def fill_disk(name: str, reference: Reference, draw: Random) -> tuple[Row, list[str]]:  # noqa: ARG001 (as the others)
    """Leave a command less room than its results need."""
    with TemporaryDirectory(prefix="faults-") as place, _small_disk(Path(place), draw.choice([150, 200, 1000, 4000])):
        folder = Path(place)
        before = make_inputs(folder)
        process = start(COMMANDS[name], folder)
        _, stderr = process.communicate()
        found = check(folder, before, process.returncode, stderr, (2,))
        row = _row(found)
        if leftovers(folder) or "/.tamis-" in stderr:
            row["half-written files"] += 1
            found.notes.append(f"left {leftovers(folder)}: {stderr}")
        return row, [f"{name}, full disk: {note}" for note in found.notes]


@contextmanager
def _small_disk(folder: Path, kilobytes: int) -> Iterator[None]:
    """Mount a small file system; without the right to do so, limit the length of files instead."""
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", folder], capture_output=True)
    if made.returncode == 0:
        try:
            yield
        finally:
            subprocess.run(["umount", folder], check=True)
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (min(kilobytes, 1000) * 1000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def lose_folder(name: str, reference: Reference, draw: Random) -> tuple[Row, list[str]]:
    """Let the folder for the results vanish, or become a file, while the command runs."""
    with TemporaryDirectory(prefix="faults-") as place:
        folder = Path(place)
        make_inputs(folder)
        process = start(COMMANDS[name], folder)
        time.sleep(draw.random() * reference.seconds[name])
        shutil.rmtree(folder / "out")
        if draw.random() < 0.5:
            (folder / "out").write_text("a file")
        _, stderr = process.communicate()
        before = make_inputs(folder) if not (folder / "out").exists() else {}
        found = check(folder, before, process.returncode, stderr, (0, 2)) if before else Verdict()
        if not before and (process.returncode not in (0, 2) or "Traceback" in stderr):
            found.wrong_exit, found.notes = 1, [f"exit {process.returncode}: {stderr[-300:]}"]
        return _row(found), [f"{name}, lost folder: {note}" for note in found.notes]


def change_table(name: str, reference: Reference, draw: Random) -> tuple[Row, list[str]]:
    """Truncate, remove or overwrite a table while it is read in pieces."""
    with TemporaryDirectory(prefix="faults-") as place:
        folder = Path(place)
        make_inputs(folder)
        process = start(COMMANDS[name], folder)
        time.sleep(draw.random() * reference.seconds[name])
        draw.choice(CHANGES)(folder / "t.npy")
        _, stderr = process.communicate()
        found = Verdict()
        if process.returncode not in (0, 2) or "Traceback" in stderr:
            found.wrong_exit, found.notes = 1, [f"exit {process.returncode}: {stderr[-300:]}"]
        return _row(found), [f"{name}, changed table: {note}" for note in found.notes]


CHANGES: list[Callable[[Path], object]] = [
    Path.unlink,
    lambda path: os.truncate(path, 1000),
    lambda path: os.truncate(path, 0),
    lambda path: path.write_bytes(os.urandom(path.stat().st_size)),
]


def _row(found: Verdict) -> Row:
    return Counter(
        {
            "runs": 1,
            "inputs changed": found.inputs_changed,
            "half-written files": found.half_written,
            "wrong exits": found.wrong_exit,
        }
    )
