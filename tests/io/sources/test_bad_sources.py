"""What goes wrong with stored tables is said in one sentence with the place."""

import os
import shutil

import h5py
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy.sparse import csc_matrix, csr_matrix
from stored_tables import Blocks, annotated, arrow, stored

from tamis import LSCAE, VarianceScore
from tamis.io.errors import TableError
from tamis.io.sources import RowBlocks, open_source
from tamis.lscae import rows

pytestmark = pytest.mark.filterwarnings("ignore::tamis.features.UnusableFeaturesWarning")


@pytest.fixture
def streamed(monkeypatch, small_blocks):
    """Let tables of fifty rows count as large."""
    monkeypatch.setattr(rows, "BUFFER_BYTES", 20 * 6 * 4)


class Change:
    """A callback that does something to a file after some epochs."""

    def __init__(self, at, action):
        self.at, self.action = at, action

    def __call__(self, epoch):
        if epoch.number == self.at:
            self.action()


def fit(source, action):
    LSCAE(2, max_epochs=12, batch_size=8, random_state=0, callbacks=Change(3, action)).fit(source)


def test_a_file_that_shrinks_during_training(table, tmp_path, streamed):
    source = stored("npy", table, tmp_path)
    with pytest.raises(TableError, match=r"x\.npy: rows \d+ to \d+ could not be read: .* shrank from 1328 to 600"):
        fit(source, lambda: os.truncate(tmp_path / "x.npy", 600))


def test_a_file_that_is_overwritten_during_training(table, tmp_path, streamed):
    source = stored("npy", table, tmp_path)
    with pytest.raises(
        TableError, match=r"rows \d+ to \d+ could not be read: .*x\.npy changed meanwhile; leave it alone"
    ):
        fit(source, lambda: np.save(tmp_path / "x.npy", table * 1e30))


@pytest.mark.parametrize("kind", ["sparse h5ad", "parquet file"])
def test_a_file_that_vanishes_during_training(kind, table, tmp_path, streamed):
    source = stored(kind, table, tmp_path)
    path = tmp_path / ("x.h5ad" if kind == "sparse h5ad" else "x.parquet")
    with pytest.raises(TableError, match=r"rows \d+ to \d+ could not be read: .* vanished \(No such file"):
        fit(source, path.unlink)


def test_a_zarr_store_that_vanishes(table, tmp_path, streamed):
    source = stored("dense zarr", table, tmp_path)
    with pytest.raises(TableError, match=r"x\.zarr: rows \d+ to \d+ could not be read: .* vanished"):
        fit(source, lambda: shutil.rmtree(tmp_path / "x.zarr"))


def test_a_read_that_comes_back_short(table, tmp_path, small_blocks):
    source = stored("npy", table, tmp_path)
    source._stamps = {}  # as if the file shrank between the check and the read
    os.truncate(tmp_path / "x.npy", 128 + 24 * 30)
    with pytest.raises(TableError, match=r"rows 28 to 34 could not be read: only 2 x 6 of 7 x 6 numbers are there"):
        source.column_statistics()


@pytest.mark.parametrize("kind", ["npy", "sparse h5ad", "parquet file", "blocks"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_not_finite_in_the_last_block(kind, value, table, tmp_path, small_blocks):
    table[49, 3] = value
    where, source = "feature 3" if kind == "npy" else "feature 'g3'", stored(kind, table, tmp_path)
    with pytest.raises(ValueError, match=rf"X holds (NaN|inf), the first in row 49: {where}\. (Fill the gaps|Replace)"):
        VarianceScore(2).fit(source)
    if np.isnan(value):
        assert LSCAE(2, max_epochs=1, random_state=0).fit(source).support_.sum() == 2
    else:
        with pytest.raises(ValueError, match=rf"X holds inf, the first in row 49: {where}\. Replace inf by NaN"):
            LSCAE(2).fit(source)


def test_parquet_parts_with_different_columns(table, tmp_path):
    stored("parquet folder", table, tmp_path)
    parquet.write_table(arrow(table).drop_columns("g2"), tmp_path / "parts" / "2.parquet")
    with pytest.raises(TableError, match=r"2\.parquet: has 'g3' where the first part has 'g2'; all parts"):
        open_source(tmp_path / "parts")
    parquet.write_table(arrow(table).drop_columns("g5"), tmp_path / "parts" / "2.parquet")
    with pytest.raises(TableError, match=r"2\.parquet: has 'nothing' where the first part has 'g5'; all parts"):
        open_source(tmp_path / "parts")


def test_parquet_with_a_name_that_occurs_twice(table, tmp_path):
    parquet.write_table(arrow(table).rename_columns(["a", "b", "b", "c", "d", "e"]), tmp_path / "x.parquet")
    with pytest.raises(TableError, match=r"x\.parquet: the name 'b' occurs more than once; rename one of the features"):
        open_source(tmp_path / "x.parquet")


def test_parquet_with_text(table, tmp_path):
    parquet.write_table(arrow(table).append_column("who", pa.array(["x"] * 50)), tmp_path / "x.parquet")
    with pytest.raises(TableError, match=r"x\.parquet: the feature 'who' holds string, not numbers"):
        open_source(tmp_path / "x.parquet")


def test_a_matrix_by_columns_is_turned(table, tmp_path):
    annotated(csc_matrix(table)).write_h5ad(tmp_path / "x.h5ad")
    found = open_source(tmp_path / "x.h5ad")[10:20]
    np.testing.assert_array_equal(found.toarray(), table[10:20])


def test_a_sparse_matrix_that_names_columns_beyond_the_last(table, tmp_path, small_blocks):
    annotated(csr_matrix(table)).write_h5ad(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5ad", "r+") as file:
        file["X/indices"][-1] = 99
    with pytest.raises(TableError, match=r"rows \d+ to 49: .* names position 99"):
        open_source(tmp_path / "x.h5ad").column_statistics()


def test_a_sparse_matrix_whose_arrays_do_not_fit(table, tmp_path):
    annotated(csr_matrix(table)).write_h5ad(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5ad", "r+") as file:
        file["X"].attrs["shape"] = (51, 6)
    with pytest.raises(TableError, match="its arrays do not fit together"):
        open_source(tmp_path / "x.h5ad")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("no.npy", None, "no.npy: there is no such file"),
        ("a.npy", b"\x93NUMPY", "a.npy: cannot be read"),
        ("a.h5ad", b"nothing", "a.h5ad: cannot be read as HDF5"),
        ("a.parquet", b"nothing", "a.parquet: cannot be read as Parquet"),
        ("a.csv", b"a,b", "a.csv: cannot be read in pieces; .npy, .h5ad"),
    ],
)
def test_files_that_cannot_be_opened(name, content, sentence, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=sentence):
        open_source(tmp_path / name)


def test_a_layer_that_is_not_there(table, tmp_path):
    stored("sparse h5ad", table, tmp_path)
    with pytest.raises(TableError, match="holds no matrix 'thrice'; there are X, twice"):
        open_source(tmp_path / "x.h5ad", "thrice")


def test_row_blocks_that_do_not_keep_their_word(table):
    with pytest.raises(TableError, match="block 1 has 5 features where the first has 6"):
        RowBlocks([table[:9], table[9:, :5]])
    with pytest.raises(TableError, match="X: is an iterator, spent after one pass"):
        RowBlocks(iter([table]))
    with pytest.raises(TableError, match="holds no blocks"):
        RowBlocks([])
    with pytest.raises(TableError, match=r"block 0 is <U1 of shape \(1, 1\), not a matrix of real numbers"):
        RowBlocks([np.array([["a"]])])
    blocks = Blocks(table)
    source = RowBlocks(blocks)
    blocks.X = table[:40]
    with pytest.raises(TableError, match="block 2 is 17 x 6, and was 27 x 6 before; blocks must keep their sizes"):
        source[:]


def test_selectors_that_cannot_and_tables_that_are_too_small(table, tmp_path):
    from tamis import RSR

    source = stored("npy", table, tmp_path)
    with pytest.raises(TypeError, match=r"RSR needs the whole table in memory, and .* is read in pieces\. Pass"):
        RSR(2).fit(source)
    with pytest.raises(ValueError, match="needs at least 3; X has n_samples = 2"):
        LSCAE(2).fit(RowBlocks([table[:2]]))
    fitted = LSCAE(2, max_epochs=1, n_init=1).fit(source)
    with pytest.raises(ValueError, match="X has 5 features, but LSCAE is expecting 6"):
        fitted.transform(RowBlocks([table[:, :5]]))


class Broken(Blocks):
    """Rows whose reader stumbles after some passes, as a database does whose connection is lost."""

    passes = 0

    def __iter__(self):
        self.passes += 1
        if self.passes > 4:
            raise ConnectionResetError("the server is gone")
        return super().__iter__()


def test_whatever_a_table_stumbles_over_during_training_is_one_error(table, streamed):
    with pytest.raises(TableError, match=r"^X: rows \d+ to \d+ could not be read \(the server is gone\); see that the"):
        fit(RowBlocks(Broken(table)), lambda: None)
