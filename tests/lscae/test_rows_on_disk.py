from itertools import chain

import numpy as np
import pytest
import torch

from tamis import CAE, LSCAE, ConcreteLaplacian
from tamis.io.sources import TableSource, open_source, source
from tamis.lscae.rows import DiskRows, Scaling

CPU = torch.device("cpu")


@pytest.fixture
def small_buffers(monkeypatch):
    """Ten rows of ten float64 features are a block, thirty a buffer."""
    monkeypatch.setattr(source, "BLOCK_BYTES", 10 * 80)
    monkeypatch.setattr("tamis.lscae.rows.BUFFER_BYTES", 30 * 80)


@pytest.fixture
def stored(blobs, tmp_path):
    np.save(tmp_path / "blobs.npy", blobs.X)
    return open_source(tmp_path / "blobs.npy")


@pytest.fixture
def numbered(tmp_path, small_buffers):
    """A table whose rows hold their own number."""
    np.save(tmp_path / "n.npy", np.repeat(np.arange(95.0)[:, None], 10, axis=1))
    return open_source(tmp_path / "n.npy")


def numbers(table, seed=0, skip=0, share=(0, 1)):
    rows = DiskRows(table, Scaling(np.arange(10), np.zeros(10), np.ones(10)), CPU, share)
    return [x[:, 0].long().tolist() for x in rows.batches(5, np.random.default_rng(seed), skip)]


def test_every_row_comes_once_in_batches_of_nearly_equal_size(numbered):
    found = numbers(numbered)
    assert [len(batch) for batch in found] == [19] * 5
    assert sorted(chain(*found)) == list(range(95))
    assert found != numbers(numbered, seed=1)
    assert found == numbers(numbered)


def test_rows_are_shuffled_within_the_buffer_and_blocks_over_the_table(numbered):
    order = list(chain(*numbers(numbered)))
    assert order[:30] != sorted(order[:30])
    assert len({row // 10 for row in order[:30]}) == 3  # the first buffer holds three whole blocks
    assert sorted({row // 10 for row in order[:30]}) != [0, 1, 2]


def test_skipping_gives_the_later_batches(numbered):
    whole = numbers(numbered)
    for skip in range(6):
        assert numbers(numbered, skip=skip) == whole[skip:]


def test_shares_are_disjoint_cover_everything_and_make_equally_many_steps(numbered):
    found = [numbers(numbered, share=(part, 3)) for part in range(3)]
    assert [len(batches) for batches in found] == [5] * 3
    assert sorted(chain(*chain(*found))) == list(range(95))


def test_features_are_taken_and_scaled(stored, blobs, small_buffers):
    scaling = Scaling(np.array([1, 4]), np.array([1.0, 2.0]), np.array([2.0, 4.0]))
    found = torch.cat(list(DiskRows(stored, scaling, CPU).batches(4, np.random.default_rng(0)))).numpy()
    expected = ((blobs.X[:, [1, 4]] - [1, 2]) / [2, 4]).astype(np.float32)
    np.testing.assert_array_equal(found[np.lexsort(found.T)], expected[np.lexsort(expected.T)])


def test_a_small_table_on_disk_gives_the_bits_it_gives_in_memory(stored, blobs, quick):
    in_memory, on_disk = (LSCAE(2, **quick, batch_size=20).fit(X) for X in (blobs.X, stored))
    np.testing.assert_array_equal(on_disk.selection_probs_, in_memory.selection_probs_)


@pytest.mark.parametrize("selector", [LSCAE, CAE, ConcreteLaplacian])
def test_concrete_selectors_learn_from_a_stream(selector, stored, blobs, small_buffers):
    fitted = selector(2, max_epochs=60, batch_size=30, random_state=0).fit(stored)
    # Reconstruction alone may pay for a nuisance feature, which nothing else tells.
    n_informative = (blobs.groups[fitted.selected_] >= 0).sum()
    assert n_informative >= (1 if selector is CAE else 2)
    assert fitted.transform(stored).shape == (90, 2)


def test_blocks_of_the_user_are_streamed(blobs, small_buffers):
    class Blocks:
        def __len__(self):
            return 9

        def __iter__(self):
            return (torch.from_numpy(blobs.X[i : i + 10]) for i in range(0, 90, 10))

    fitted = LSCAE(2, max_epochs=60, batch_size=30, random_state=0).fit(Blocks())
    assert set(blobs.groups[fitted.selected_]) == {0, 1}


def test_of_a_wide_table_the_features_that_matter_are_read_once(rng, monkeypatch):
    X = rng.standard_normal((300, 400))
    X[:, 1:6] += 2 * X[:, :1]
    n_read = []

    class Wide(TableSource):
        def _read(self, start, stop):
            n_read.append(stop - start)
            return X[start:stop]

    monkeypatch.setattr("tamis.lscae.rows.BUFFER_BYTES", X.nbytes // 2)
    on_disk = LSCAE(3, random_state=0).fit(Wide("X", X.shape, row_bytes=8 * 400))
    # Statistics, the samples of the test, of the shortlist and of far cells, the rows of the verdict and of training,
    # the decoder.
    assert sum(n_read) <= 7 * 300
    np.testing.assert_array_equal(on_disk.selected_, LSCAE(3, random_state=0).fit(X).selected_)
