from itertools import chain

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix

from tamis.lscae.rows import MemoryRows, Scaling

CPU = torch.device("cpu")


@pytest.fixture
def table(rng):
    return rng.integers(0, 9, size=(12, 5)).astype(np.uint8)


def rows_of(X, features, share=(0, 1), shown=None, loadings=None):
    dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)[:, features]
    scaling = Scaling(np.asarray(features), dense.mean(axis=0), dense.std(axis=0), shown, loadings)
    return MemoryRows(X, scaling, CPU, share)


def numbered(n_rows, share=(0, 1)):
    """Rows that hold their own number."""
    one = Scaling(np.arange(1), np.zeros(1), np.ones(1))
    return MemoryRows(np.arange(float(n_rows))[:, None], one, CPU, share)


def numbers(batches):
    return [x[:, 0].long().tolist() for x in batches]


def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("features", [range(5), [0, 3]], ids=["all", "some"])
@pytest.mark.parametrize("count", [1, 3])
def test_sparse_and_dense_give_equal_bits(table, features, count):
    dense, sparse = (rows_of(X, features).batches(count, rng()) for X in (table, csr_matrix(table)))
    for one, other in zip(dense, sparse, strict=True):
        assert one.dtype == torch.float32
        assert one.stride() == other.stride()  # else products of them may differ in their last bits
        torch.testing.assert_close(one, other, rtol=0, atol=0)


@pytest.mark.parametrize("count", [1, 3])
def test_directions_follow_the_features_that_are_shown(table, count):
    shown, loadings = np.array([0, 2]), torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    dense, sparse = (rows_of(X, [0, 2, 3], (0, 1), shown, loadings) for X in (table, csr_matrix(table)))
    whole = rows_of(table, [0, 2, 3]).batches(count, rng())
    for one, other, x in zip(dense.batches(count, rng()), sparse.batches(count, rng()), whole, strict=True):
        torch.testing.assert_close(one, torch.cat([x[:, shown], x @ loadings, torch.ones(len(x), 1)], dim=1))
        torch.testing.assert_close(one, other)


def test_what_is_known_of_a_direction_is_scaled_up():
    nan, loadings = float("nan"), torch.tensor([[1.0], [1.0], [2.0]])
    X = np.array([[1.0, 2.0, 3.0], [1.0, nan, 3.0], [nan, nan, nan]])
    scaling = Scaling(np.arange(3), np.zeros(3), np.ones(3), np.array([1]), loadings)
    expected = [[2.0, 9.0, 1.0], [nan, 7 / (5 / 6), 5 / 6], [nan, 0.0, 0.0]]
    np.testing.assert_allclose(scaling.apply(X).numpy(), np.array(expected, np.float32), rtol=1e-6)


def test_features_are_scaled_and_the_table_is_not_changed(table):
    before = table.copy()
    (whole,) = rows_of(table, range(5)).batches(1, rng())
    torch.testing.assert_close(whole.mean(dim=0), torch.zeros(5), atol=1e-6, rtol=0)
    torch.testing.assert_close(whole.std(dim=0, correction=0), torch.ones(5), atol=1e-6, rtol=0)
    whole.zero_()
    np.testing.assert_array_equal(table, before)


def test_every_row_comes_once_in_batches_of_nearly_equal_size():
    found = numbers(numbered(40).batches(3, rng()))
    assert [len(batch) for batch in found] == [14, 13, 13]
    assert sorted(chain(*found)) == list(range(40))
    assert found[0] != list(range(14))
    assert found == numbers(numbered(40).batches(3, rng()))


@pytest.mark.parametrize("count", [1, 4])
def test_skipping_gives_the_later_batches(count):
    whole = numbers(numbered(40).batches(count, rng()))
    for skip in range(count + 1):
        assert numbers(numbered(40).batches(count, rng(), skip)) == whole[skip:]


def test_shares_are_disjoint_cover_everything_and_make_equally_many_steps():
    parts = [numbered(41, (part, 3)) for part in range(3)]
    assert {part.n_rows for part in parts} == {14}
    found = [numbers(part.batches(2, rng())) for part in parts]
    assert {len(batches) for batches in found} == {2}
    assert sorted(chain(*chain(*found))) == list(range(41))
