import pytest

from tamis.neural.schedules import constant, doubling, exponential, linear, warm_up


def test_linear():
    assert [linear(10, 2)(p) for p in (0, 0.5, 1)] == [10, 6, 2]


def test_exponential():
    assert [exponential(100, 1)(p) for p in (0, 0.5, 1)] == pytest.approx([100, 10, 1])


def test_constant():
    assert constant(3.0)(0.2) == 3.0


def test_warm_up():
    assert [warm_up(0.5)(p) for p in (0, 0.25, 0.5, 1)] == [0, 0.5, 1, 1]
    assert warm_up(0)(0) == 1


def test_doubling():
    assert [doubling(1, 4)(p) for p in (0, 0.3, 0.34, 0.66, 0.67, 1)] == [1, 1, 2, 2, 4, 4]
    assert [doubling(3, 3)(p) for p in (0, 1)] == [3, 3]
    assert [doubling(2, 5)(p) for p in (0, 0.5, 1)] == [2, 4, 5]
