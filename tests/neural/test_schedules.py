import pytest

from tamis.neural.schedules import ANNEALING, exponential, linear


def test_linear():
    assert [linear(10, 2)(p) for p in (0, 0.5, 1)] == [10, 6, 2]


def test_exponential():
    assert [exponential(100, 1)(p) for p in (0, 0.5, 1)] == pytest.approx([100, 10, 1])


def test_annealing_finds_them_by_name():
    assert ANNEALING["linear"] is linear
    assert ANNEALING["exponential"] is exponential
