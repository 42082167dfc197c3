from itertools import chain

import pytest
import torch

from tamis.neural.batching import batches, centered, sample_batches, steps_per_epoch


@pytest.fixture
def rows(table_rows):
    return table_rows(torch.randn(40, 2, generator=torch.Generator().manual_seed(0)))


def generator():
    return torch.Generator().manual_seed(3)


def sample(rows, batch_size, generator):
    return sample_batches(rows, batch_size, generator, 1)[0]


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
    assert len(sample(rows, 15, generator())) == 14
    assert len(rows.taken) == 1
    torch.testing.assert_close(sample(rows, 40, None), rows.table - rows.table.mean(dim=0))


def test_processes_with_all_rows_in_memory_sample_the_same(rows):
    rows.whole, rows.share = rows.table, (1, 2)
    torch.testing.assert_close(sample(rows, 40, None), rows.table - rows.table.mean(dim=0))
    one = sample(rows, 15, generator())
    rows.share = (0, 1)
    torch.testing.assert_close(sample(rows, 15, generator()), one, rtol=0, atol=0)
    rows.whole = None
    torch.testing.assert_close(sample(rows, 15, generator()), one, rtol=0, atol=0)


@pytest.mark.parametrize("in_memory", [True, False])
def test_samples_have_no_common_rows(rows, in_memory):
    rows.whole = rows.table if in_memory else None
    parts = sample_batches(rows, 15, generator(), 2)
    assert [len(part) for part in parts] == [14, 13]
    differences = torch.cat([(part[1:] - part[0])[:, 0] for part in parts])
    assert len(differences.unique()) == 25
    assert len(sample_batches(rows, 15, generator(), 9)) == 3
    assert len(sample_batches(rows, 64, None, 3)) == 1


def test_a_batch_is_centred_and_left_as_it_was():
    x = torch.tensor([[1.0, 5.0], [3.0, 5.0]])
    assert centered(x).tolist() == [[-1, 0], [1, 0]]
    assert x.tolist() == [[1, 5], [3, 5]]
