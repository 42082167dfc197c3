"""Prefetching: the next item is read in a background thread while the last one is worked on."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def prefetch(items: Iterator[T], depth: int = 1) -> Iterator[T]:
    """Yield the items, up to ``depth`` of them fetched ahead; an error arrives where its item would have.

    The thread ends when the last item was fetched or the consumer stops early.
    """
    end = object()
    with ThreadPoolExecutor(1, thread_name_prefix="prefetch") as thread:
        fetched = deque(thread.submit(next, items, end) for _ in range(depth))
        try:
            while (item := fetched.popleft().result()) is not end:
                fetched.append(thread.submit(next, items, end))
                yield item  # type: ignore[misc]
                del item  # what was worked on need not be held while waiting for the next
        finally:
            for future in fetched:
                future.cancel()
            thread.submit(getattr(items, "close", bool))
