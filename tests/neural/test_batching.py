from itertools import chain

import pytest
import torch

from tamis.neural.batching import batches, centred, sample_batch, steps_per_epoch


@pytest.fixture
def rows(table_rows):
    return table_rows(torch.randn(40, 2, generator=torch.Generator().manual_seed(0)))


def generator():
    return torch.Generator().manual_seed(3)


def test_batches_use_every_row_once_and_differ_by_one_row(rows):
    sizes = [len(x) for x in batches(rows, 15, generator())]
    assert sizes == [14, 13, 13]
    assert sorted(chain(*rows.taken)) == list(range(40))
    assert rows.taken[0] != list(range(14))


def test_few_rows_are_one_batch(rows):
    assert [len(x) for x in batches(rows, 64, None)] == [40]
    assert steps_per_epoch(3, 256) == 1
    assert steps_per_epoch(257, 256) == 2


def test_a_sample_is_one_batch(rows):
    assert len(sample_batch(rows, 15, generator())) == 14
    assert len(rows.taken) == 1
    torch.testing.assert_close(sample_batch(rows, 40, None), rows.table - rows.table.mean(dim=0))


def test_what_is_constant_in_a_batch_is_zero_there():
    x = centred(torch.tensor([[1.0, 7.0], [3.0, 7.0]]))
    assert x.tolist() == [[-1.0, 0.0], [1.0, 0.0]]


def test_processes_with_all_rows_in_memory_sample_the_same(rows):
    rows.whole, rows.share = rows.table, (1, 2)
    torch.testing.assert_close(sample_batch(rows, 40, None), rows.table - rows.table.mean(dim=0))
    one = sample_batch(rows, 15, generator())
    rows.share = (0, 1)
    torch.testing.assert_close(sample_batch(rows, 15, generator()), one, rtol=0, atol=0)
    rows.whole = None
    torch.testing.assert_close(sample_batch(rows, 15, generator()), one, rtol=0, atol=0)
