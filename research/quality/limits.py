"""The rule by which slow fits are left out: ten minutes, and no second try on a larger table.

A fit that takes more than :data:`TIME_LIMIT` seconds is stopped, and its row says so. The same method is then not
tried on tables with at least as many rows and at least as many features, nor with further seeds and sizes; these
rows say so, too.
"""

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from research.ledger import Row

TIME_LIMIT = 600


class TooSlowError(Exception):
    """A fit was stopped at the time limit."""


@contextmanager
def time_limit(seconds: int = TIME_LIMIT) -> Iterator[None]:
    """Raise :class:`TooSlowError` in the block after so many seconds, as soon as compiled code returns.

    Only the main thread of a process can be stopped so; in any other thread there is no limit.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: Any) -> None:
        raise TooSlowError(f"the fit took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def known_as_too_slow(rows: Iterable[Row], method: str, shape: tuple[int, int]) -> str | None:
    """Return why a method is not tried on a table of this shape, or None if it is to be tried."""
    for row in rows:
        n, d = row["shape"]
        if "skipped" in row and row["trial"]["method"] == method and n <= shape[0] and d <= shape[1]:
            return f"{TIME_LIMIT} s were not enough for {n} × {d} ({row['trial']['set']})"
    return None
