import threading

import pytest

from tamis.io.sources.prefetch import prefetch


def test_items_come_in_order_and_the_thread_ends():
    before = threading.active_count()
    assert list(prefetch(iter(range(20)), depth=3)) == list(range(20))
    assert threading.active_count() == before


def test_the_next_item_is_fetched_while_one_is_worked_on():
    fetched = threading.Event()

    def items():
        yield 1
        fetched.set()
        yield 2

    reader = prefetch(items())
    assert next(reader) == 1
    assert fetched.wait(timeout=5)
    reader.close()


def test_an_error_arrives_in_its_place():
    def items():
        yield 1
        raise OSError("gone")

    reader = prefetch(items())
    assert next(reader) == 1
    with pytest.raises(OSError, match="gone"):
        next(reader)


def test_a_consumer_that_stops_early_ends_the_thread():
    closed = []

    def items():
        try:
            yield from range(100)
        finally:
            closed.append(True)

    before = threading.active_count()
    reader = prefetch(items())
    next(reader)
    reader.close()
    assert closed == [True]
    assert threading.active_count() == before
