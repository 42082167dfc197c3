import math

import pytest
import torch

from tamis.neural.taming import effective_rows, limit_of, tamed


@pytest.mark.parametrize("m", [1, 2, 10])
def test_effective_rows_count_those_that_differ(m):
    column = torch.zeros(4000)
    column[:m] = 5.0
    halves, normal = torch.ones(4000), torch.randn(4000, generator=torch.Generator().manual_seed(0))
    halves[::2] = -1.0
    rare, half, third = effective_rows(torch.stack([column - column.mean(), halves, normal], dim=1)).tolist()
    assert rare == pytest.approx(m, rel=0.01)
    assert half == pytest.approx(4000)
    assert third == pytest.approx(4000 / 3, rel=0.1)


def test_what_is_constant_in_a_batch_is_zero_there():
    x = tamed(torch.tensor([[1.0, 7.0], [3.0, 7.0]]), math.inf)
    assert x.tolist() == [[-1.0, 0.0], [1.0, 0.0]]


@pytest.fixture
def columns():
    """One that a row in a hundred carries, one that a row in five carries, and a normal one with a large value."""
    x = torch.zeros(500, 3)
    x[:5, 0] = 10.0
    x[:100, 1] = 10.0
    x[:, 2] = torch.randn(500, generator=torch.Generator().manual_seed(0))
    x[7, 2] = 5.0
    return x


def test_rare_values_are_drawn_in_and_others_are_not(columns):
    centred, found = columns - columns.mean(dim=0), tamed(columns, 3.0)
    torch.testing.assert_close(found[:, 1:], centred[:, 1:], rtol=0, atol=0)
    torch.testing.assert_close(found[:, 0], columns[:, 0].clamp(max=3.0) - 0.03)
    torch.testing.assert_close(tamed(columns, math.inf), centred, rtol=0, atol=0)
    torch.testing.assert_close(tamed(-columns, 3.0), -found)


def test_without_rare_columns_nothing_is_drawn_in(columns):
    x = columns[:, 1:]
    torch.testing.assert_close(tamed(x, 3.0), x - x.mean(dim=0), rtol=0, atol=0)


def test_a_source_names_its_limit(columns, table_rows):
    rows = table_rows(columns)
    assert limit_of(rows) == math.inf
    rows.limit = 2
    assert limit_of(rows) == 2.0
