from itertools import chain

import numpy as np
import pytest
import torch

from tamis import CAE, LSCAE, ConcreteLaplacian, LaplacianScore, RandomSubset, VarianceScore
from tamis.io.sources import RowBlocks, open_source, source
from tamis.neural.batching import batches
from tamis.selectors import streamed_rows
from tamis.selectors.streamed_rows import StreamedRows

CPU = torch.device("cpu")


@pytest.fixture
def small_buffers(monkeypatch):
    """Ten rows of ten float64 columns are a block, thirty a buffer."""
    monkeypatch.setattr(source, "BLOCK_BYTES", 10 * 80)
    monkeypatch.setattr(streamed_rows, "BUFFER_BYTES", 30 * 80)


@pytest.fixture
def stored(blobs, tmp_path):
    np.save(tmp_path / "blobs.npy", blobs.X)
    return open_source(tmp_path / "blobs.npy")


def numbered(tmp_path, n_rows=95):
    """A table whose rows hold their own number."""
    np.save(tmp_path / "n.npy", np.repeat(np.arange(n_rows, dtype=float)[:, None], 10, axis=1))
    return open_source(tmp_path / "n.npy")


def streamed(table, columns=None, share=(0, 1)):
    columns = np.arange(table.shape[1]) if columns is None else columns
    return StreamedRows(table, columns, np.zeros(len(columns)), np.ones(len(columns)), CPU, share)


def seen(rows, generator=None, skip=0, batch_size=20):
    return [x[:, 0].long().tolist() for x in batches(rows, batch_size, generator, skip)]


def seeded():
    return torch.Generator().manual_seed(0)


def test_every_row_comes_once_in_batches_of_nearly_equal_size(tmp_path, small_buffers):
    found = seen(streamed(numbered(tmp_path)), seeded())
    assert [len(batch) for batch in found] == [19] * 5
    assert sorted(chain(*found)) == list(range(95))
    assert found != seen(streamed(numbered(tmp_path)), torch.Generator().manual_seed(1))
    assert found == seen(streamed(numbered(tmp_path)), seeded())


def test_rows_are_shuffled_within_the_buffer_and_blocks_over_the_table(tmp_path, small_buffers):
    order = list(chain(*seen(streamed(numbered(tmp_path)), seeded())))
    assert order[:30] != sorted(order[:30])
    assert len({row // 10 for row in order[:30]}) == 3  # the first buffer holds three whole blocks
    assert sorted({row // 10 for row in order[:30]}) != [0, 1, 2]


def test_skipping_gives_the_later_batches(tmp_path, small_buffers):
    rows = streamed(numbered(tmp_path))
    whole = seen(rows, seeded())
    for skip in range(6):
        assert seen(rows, seeded(), skip) == whole[skip:]


def test_shares_are_disjoint_cover_everything_and_make_equally_many_steps(tmp_path, small_buffers):
    table = numbered(tmp_path)
    parts = [streamed(table, share=(part, 3)) for part in range(3)]
    assert len({part.n_rows for part in parts}) == 1
    found = [seen(part, seeded()) for part in parts]
    assert len({len(batches_) for batches_ in found}) == 1
    assert sorted(chain(*chain(*found))) == list(range(95))


def test_columns_are_taken_and_standardised(stored, blobs, small_buffers):
    columns = np.array([1, 4])
    rows = StreamedRows(stored, columns, np.array([1.0, 2.0]), np.array([2.0, 4.0]), CPU)
    expected = torch.from_numpy(((blobs.X[:, columns] - [1, 2]) / [2, 4]).astype(np.float32))
    torch.testing.assert_close(rows.take(None), expected, rtol=0, atol=0)
    torch.testing.assert_close(rows.take(torch.tensor([7, 2, 7])), expected[[7, 2, 7]], rtol=0, atol=0)


def test_a_small_table_on_disk_gives_the_bits_it_gives_in_memory(stored, blobs, quick):
    in_memory, on_disk = (LSCAE(2, **quick, batch_size=20).fit(X) for X in (blobs.X, stored))
    np.testing.assert_array_equal(on_disk.selection_probs_, in_memory.selection_probs_)


@pytest.mark.parametrize("selector", [LSCAE, CAE, ConcreteLaplacian])
def test_concrete_selectors_learn_from_a_stream(selector, stored, blobs, small_buffers):
    fitted = selector(2, max_epochs=60, batch_size=30, random_state=0, hidden_units=(8,)).fit(stored)
    assert set(blobs.groups[fitted.selected_]) <= {0, 1}
    assert fitted.transform(stored).shape == (90, 2)


def test_blocks_of_the_user_are_streamed(blobs, small_buffers):
    class Blocks:
        def __len__(self):
            return 9

        def __iter__(self):
            return (torch.from_numpy(blobs.X[i : i + 10]) for i in range(0, 90, 10))

    fitted = LSCAE(2, max_epochs=60, batch_size=30, random_state=0, hidden_units=(8,)).fit(Blocks())
    assert set(blobs.groups[fitted.selected_]) == {0, 1}
    assert isinstance(RowBlocks(Blocks()), source.TableSource)


def test_baselines_from_disk(stored, blobs, small_buffers, monkeypatch):
    assert VarianceScore(3).fit(stored).selected_.tolist() == VarianceScore(3).fit(blobs.X).selected_.tolist()
    np.testing.assert_allclose(LaplacianScore(2).fit(stored).scores_, LaplacianScore(2).fit(blobs.X).scores_)
    assert len(RandomSubset(2, random_state=0).fit(stored).selected_) == 2
    monkeypatch.setattr("tamis.selectors.laplacian_score.SAMPLE_ROWS", 45)
    sampled = LaplacianScore(2).fit(stored)
    assert set(blobs.groups[sampled.selected_]) <= {0, 1}
    assert not np.allclose(sampled.scores_, LaplacianScore(2).fit(blobs.X).scores_)


def test_names_come_from_the_source(blobs, tmp_path):
    found = VarianceScore(1, must_keep=["signal_1"]).fit(RowBlocks([blobs.X], blobs.names))
    assert found.selected_.tolist() == [1]
    assert found.feature_names_in_.tolist() == blobs.names
