"""Every format gives the same rows, columns and statistics as the array it was made from."""

import pickle
from pathlib import Path

import anndata
import dask.array as da
import h5py
import numpy as np
import pandas as pd
import polars
import pytest
import zarr
from pyarrow import dataset
from scipy.sparse import csr_matrix, issparse
from stored_tables import NAMES, ROWS, Blocks, stored

from tamis import LSCAE, MCFS, StructurePursuit, VarianceScore, find_structure
from tamis.columns import summarise_columns
from tamis.io.sources import TableSource, as_source, open_source


def dense(block):
    return block.toarray() if issparse(block) else np.asarray(block)


def test_blocks_cover_the_rows_in_order(any_source, table):
    assert any_source.shape == table.shape
    starts, blocks = zip(*any_source.blocks(), strict=True)
    assert len(blocks) > 1
    assert list(starts) == np.cumsum([0, *(block.shape[0] for block in blocks[:-1])]).tolist()
    np.testing.assert_array_equal(np.concatenate([dense(block) for block in blocks]), table)


def test_rows_and_columns_are_taken_as_of_an_array(any_source, table):
    np.testing.assert_array_equal(dense(any_source[3:41]), table[3:41])
    np.testing.assert_array_equal(dense(any_source[np.array([0, 9, 30, 49])]), table[[0, 9, 30, 49]])
    np.testing.assert_array_equal(dense(any_source[:, [4, 1]]), table[:, [4, 1]])
    np.testing.assert_array_equal(dense(any_source[5:9]), table[5:9])


ROWS_ASKED = [np.arange(ROWS) % 3 == 0, [40, 2, 2, 17], [-1, 0, -3], slice(None, None, -7), slice(30, 3), []]


@pytest.mark.parametrize("rows", ROWS_ASKED)
def test_any_rows_are_taken_as_of_an_array(rows, any_source, table):
    np.testing.assert_array_equal(dense(any_source[rows]), table[rows])
    np.testing.assert_array_equal(dense(any_source[rows, [4, 1]]), table[rows][:, [4, 1]])


def test_one_row_stays_a_table_and_rows_that_are_not_there_are_no_rows(any_source, table):
    np.testing.assert_array_equal(dense(any_source[-2]), table[[-2]])
    with pytest.raises(IndexError, match="out of bounds"):
        any_source[[0, ROWS]]


def test_statistics_are_those_of_the_array(any_source, table):
    found, expected = summarise_columns(any_source), summarise_columns(table)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(found.std, expected.std, rtol=1e-12)
    np.testing.assert_array_equal(found.constant, [True] + [False] * 5)
    assert found.bad_row == -1


@pytest.mark.parametrize("kind", ["npy", "sparse h5ad", "dense zarr", "parquet folder"])
def test_a_file_is_opened_anew_in_another_process(kind, table, tmp_path):
    again = pickle.loads(pickle.dumps(stored(kind, table, tmp_path)))
    np.testing.assert_array_equal(dense(again[:]), table)


def test_objects_of_other_libraries_are_recognised(table, tmp_path):
    for kind in ("dense h5ad", "sparse h5ad", "sparse zarr", "parquet folder"):
        stored(kind, table, tmp_path)
    backed = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    with h5py.File(tmp_path / "x.h5ad") as file:
        for found in (as_source(file["layers/twice"]), as_source(backed), as_source(backed.X)):
            assert found.shape == table.shape
        np.testing.assert_array_equal(dense(as_source(file["layers/twice"])[:]), 2 * table)
        assert as_source(backed).names.tolist() == NAMES
    np.testing.assert_array_equal(dense(as_source(zarr.open(tmp_path / "x.zarr")["X"])[:]), table)
    parts = as_source(dataset.dataset(tmp_path / "parts", format="parquet"))
    np.testing.assert_array_equal(dense(parts[:]), table)
    backed.file.close()


def test_what_is_in_memory_is_no_source(table):
    for X in (table, table.tolist(), csr_matrix(table), {"a": 1}, iter([table])):
        assert as_source(X) is None
    with pytest.raises(TypeError, match=r"X is an AnnData object; pass adata\.X"):
        as_source(anndata.AnnData(table))


@pytest.mark.parametrize("path", ["t.csv", Path("t.csv")])
def test_a_path_is_to_be_opened_first(path):
    with pytest.raises(TypeError, match=r"X is the path 't.csv'; read the file first.*tamis.open_source\(path\)"):
        VarianceScore(1).fit(path)


def test_tables_that_are_no_arrays_are_to_be_converted(table):
    frame = polars.DataFrame(table)
    with pytest.raises(TypeError, match=r"X is a polars LazyFrame; pass X.collect\(\)"):
        VarianceScore(1).fit(frame.lazy())
    with pytest.raises(TypeError, match=r"X is a pyarrow Table; pass X.to_pandas\(\)"):
        VarianceScore(1).fit(frame.to_arrow())


def test_an_iterable_with_a_length_is_row_blocks(table):
    found = as_source(Blocks(table))
    assert isinstance(found, TableSource)
    assert found.shape == (ROWS, 6)


def test_small_memory_maps_are_tables_in_memory_and_large_ones_are_read(table, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", table)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert as_source(mapped) is None
    monkeypatch.setattr("tamis.io.sources.opening.MAX_HELD_BYTES", 100)
    np.testing.assert_array_equal(as_source(mapped)[:], table)
    np.testing.assert_array_equal(as_source(mapped[10:])[:], table[10:])


def test_layers_are_named_by_their_key(table, tmp_path):
    stored("sparse h5ad", table, tmp_path)
    np.testing.assert_array_equal(dense(open_source(tmp_path / "x.h5ad", "twice")[:]), 2 * table)


def test_a_dask_array_is_not_gathered(table, monkeypatch):
    def gather(*_, **__):
        raise AssertionError("the whole array was asked for")

    array = da.from_array(np.vstack([table] * 4)[:, 1:], chunks=(30, 5))
    monkeypatch.setattr(type(array), "__array__", gather)
    assert find_structure(array, random_state=0).n_rows == 200
    for selector in (StructurePursuit(2, random_state=0), LSCAE(2, max_epochs=1, random_state=0)):
        assert selector.fit(array).support_.sum() == 2
    with pytest.raises(TypeError, match="MCFS needs the whole table in memory"):
        MCFS(2).fit(array)


def test_samples_of_a_long_table_are_drawn_from_rows_that_are_read_once(rng):
    X = rng.standard_normal((20_000, 3))
    read = []

    class Counted(TableSource):
        def _read(self, start, stop):
            read.append(stop - start)
            return X[start:stop]

    source = Counted("X", X.shape)
    source.column_statistics()
    for seed in range(3):
        rows, positions = source.sample(500, np.random.default_rng(seed))
        assert (np.diff(positions) > 0).all()
        np.testing.assert_array_equal(rows, X[positions])
    assert sum(read) == 20_000


def test_parquet_keeps_single_precision_if_all_features_have_it(tmp_path, rng):
    frame = pd.DataFrame(rng.standard_normal((50, 3)).astype(np.float32), columns=list("abc"))
    frame.to_parquet(tmp_path / "single.parquet")
    frame.astype({"b": "int64"}).to_parquet(tmp_path / "mixed.parquet")
    assert open_source(tmp_path / "single.parquet")[:].dtype == np.float32
    assert open_source(tmp_path / "mixed.parquet")[:].dtype == np.float64


@pytest.mark.parametrize("index", [np.arange(0, 80, 2), list(map(str, range(40))), pd.RangeIndex(40)])
def test_the_index_that_pandas_wrote_is_no_feature(index, table, tmp_path):
    pd.DataFrame(table[:40], index=index, columns=NAMES).rename_axis("row").to_parquet(tmp_path / "t.parquet")
    source = open_source(tmp_path / "t.parquet")
    assert source.names.tolist() == list(NAMES)
    np.testing.assert_array_equal(source[:], table[:40])
