"""What users see while they wait, and a Ctrl-C that keeps what is finished."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tamis.cli.options import complain
from tamis.progress import ProgressBar


class Bar(ProgressBar):
    """A bar on standard error; silent if that is not a terminal or the bar is not wanted."""

    def __init__(self, quiet: bool = False):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}")
        how: dict[str, Any] = {"transient": True, "disable": quiet or not console.is_terminal}
        self._progress = Progress(*columns, TimeRemainingColumn(), console=console, **how)
        self._task = self._progress.add_task("Starting", total=None, note="")

    def stage(self, description: str) -> None:
        """Begin another piece of work, of unknown length."""
        self._progress.remove_task(self._task)
        self._task = self._progress.add_task(description, total=None, note="")

    def move(self, done: int, total: int, note: str = "") -> None:
        """Show how far the piece of work is."""
        self._progress.update(self._task, completed=done, total=max(total, 1), note=note)


STOPPING = "stopping after this epoch; press Ctrl-C again to quit at once."


class Interruption:
    """Whether the user pressed Ctrl-C."""

    asked = False


@contextmanager
def interruptible(hint: str = STOPPING) -> Iterator[Interruption]:
    """Let the first Ctrl-C ask for an end instead of making one; the second quits at once."""
    state = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield state
        return

    def handle(number: int, frame: Any) -> None:
        if state.asked:
            (before if callable(before) else signal.default_int_handler)(number, frame)
        state.asked = True
        complain(hint)

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield state
    finally:
        signal.signal(signal.SIGINT, before)
