"""From options to a fitted selector, with a bar that moves and a Ctrl-C that keeps what is finished."""

import inspect
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli.options import UsageError, complain

if TYPE_CHECKING:
    from tamis.readers import Request, Table


class Bar:
    """What the user sees while waiting, on standard error; silent if it is not a terminal or not wanted."""

    def __init__(self, quiet: bool = False):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._task: Any = None

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def stage(self, description: str) -> None:
        """Begin another piece of work, of unknown length."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(description, total=None, note="")

    def move(self, done: int, total: int, note: str = "") -> None:
        """Show how far the piece of work is."""
        self._progress.update(self._task, completed=done, total=max(total, 1), note=note)


@dataclass
class Interruption:
    """Whether the user pressed Ctrl-C; a second time quits at once."""

    asked: bool = False
    quit: Callable[[int, Any], Any] = signal.default_int_handler
    hint: str = "stopping after this epoch; press Ctrl-C again to quit at once."

    def handle(self, number: int, frame: Any) -> None:
        """Note the wish, or quit."""
        if self.asked:
            self.quit(number, frame)
        self.asked = True
        complain(self.hint)


@contextmanager
def interruptible(hint: str | None = None) -> Iterator[Interruption]:
    """Let the first Ctrl-C ask for an end instead of making one."""
    state = Interruption() if hint is None else Interruption(hint=hint)
    if threading.current_thread() is not threading.main_thread():
        yield state
        return
    before = signal.signal(signal.SIGINT, state.handle)
    state.quit = before if callable(before) else signal.default_int_handler
    try:
        yield state
    finally:
        signal.signal(signal.SIGINT, before)


def begin_import(method: str) -> threading.Thread:
    """Import a method's module in the background, while the file is read."""
    from tamis.selectors import SELECTORS

    if method not in SELECTORS.homes:
        SELECTORS[method]  # Raises the sentence that names the nearest method.

    def work() -> None:
        # If it fails here, it fails again, and visibly, where the class is used.
        with suppress(Exception):
            SELECTORS[method]
            if "torch" in sys.modules:
                # torch's optimisers import it at their first step; this is the time to do so.
                import_module("torch._dynamo")

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def read_with_bar(path: Path, request: "Request", bar: Bar) -> "Table":
    """Read a file while the bar shows how far."""
    from tamis.readers import read

    bar.stage(f"Reading {path.name}")
    table = read(path, request, lambda done, total: bar.move(done, total, _megabytes(done)))
    if table.in_pieces and request.in_pieces is None and not path.is_dir():
        complain(f"note: {path.name} is large for the free memory and is read in pieces.")
    return table


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.0f} MB" if count >= 1e6 else ""


def make_selector(
    method: str, k: int | None, table: "Table", seed: int, *, keep: Sequence[str] = (), never: Sequence[str] = (),
    n_init: int | None = None, settings: dict[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Make an unfitted selector; parameters that the method does not have are refused by name."""
    from tamis.selectors import SELECTORS

    cls = SELECTORS[method]
    known = inspect.signature(cls.__init__).parameters
    given = dict(settings or {}) | ({"n_init": n_init} if n_init is not None else {})
    unknown = [name for name in given if name not in known]
    if unknown:
        raise UsageError(f"the method {method} has no parameter {unknown[0]!r}; it has {', '.join(list(known)[1:])}.")
    if k is not None and k > table.shape[1]:
        raise UsageError(f"-k {k} asks for more than the {table.shape[1]} features of the table.")
    if "random_state" in known:
        given.setdefault("random_state", seed)
    return cls(
        n_features_to_select=k,
        must_keep=table.positions(keep, "--must-keep").tolist(),
        never=table.positions(never, "--never").tolist(),
        **given,
    )


def fit(selector: Any, table: "Table", bar: Bar, state: Interruption, title: str = "Training") -> Any:
    """Fit with a moving bar; an interruption ends training early where the method can be asked to."""
    bar.stage(title)
    if "callbacks" in selector.get_params(deep=False):
        selector.set_params(callbacks=[_mover(bar, state)])
    _collect_garbage_again()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(table.X)
    if "callbacks" in selector.get_params(deep=False):
        selector.set_params(callbacks=())
    selector.feature_names_in_ = table.feature_names
    for message in dict.fromkeys(_worded(warning, table) for warning in caught):
        complain(message)
    return selector


def _collect_garbage_again() -> None:
    import gc

    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _worded(warning: Any, table: "Table") -> str:
    import numpy as np

    from tamis.base import ConstantColumnsWarning
    from tamis.columns import summarise_columns
    from tamis.readers.table import listed

    if issubclass(warning.category, ConstantColumnsWarning):
        constant = np.flatnonzero(summarise_columns(table.X).constant)
        names = listed(table.feature_names[constant])
        return f"note: {len(constant)} feature(s) hold one value only and were left out: {names}."
    return f"note: {warning.message}"


def _mover(bar: Bar, state: Interruption) -> Callable[[Any], bool]:
    def move(epoch: Any) -> bool:
        bar.move(epoch.number, epoch.total, f"J = {float(epoch.objective.min()):.3f}")
        return state.asked

    return move


def stopped_early(selector: Any, state: Interruption) -> bool:
    """Tell whether an interruption cut the training short."""
    return state.asked and hasattr(selector, "history_")


def is_terminal() -> bool:
    """Tell whether results go to a person."""
    return sys.stdout.isatty()
