"""Prefetching: the next item is read in a background thread while the last one is worked on."""

from collections.abc import Generator, Iterator
from contextlib import suppress
from queue import Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE = 0.1
"""Seconds after which a waiting thread checks whether it is still wanted."""


def prefetch(items: Generator[T, None, None] | Iterator[T], depth: int = 1) -> Iterator[T]:
    """Yield the items, up to ``depth`` of them fetched ahead; an error arrives where its item would have.

    The thread ends when the last item was fetched or the consumer stops early.
    """
    queue: Queue[tuple[str, Any]] = Queue(maxsize=depth)
    stop = Event()
    thread = Thread(target=_fetch, args=(items, queue, stop), daemon=True)
    thread.start()
    try:
        while True:
            kind, value = queue.get()
            if kind == "error":
                raise value
            if kind == "end":
                return
            yield value
            del value  # what was worked on need not be held while waiting for the next
    finally:
        stop.set()
        thread.join()


def _fetch(items: Any, queue: "Queue[tuple[str, Any]]", stop: Event) -> None:
    try:
        for item in items:
            _offer(queue, ("item", item), stop)
            if stop.is_set():
                break
        _offer(queue, ("end", None), stop)
    except BaseException as error:
        _offer(queue, ("error", error), stop)
    finally:
        if hasattr(items, "close"):
            items.close()


def _offer(queue: "Queue[tuple[str, Any]]", entry: tuple[str, Any], stop: Event) -> None:
    while not stop.is_set():
        with suppress(Full):
            return queue.put(entry, timeout=PATIENCE)
