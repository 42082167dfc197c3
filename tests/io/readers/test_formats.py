"""Every format gives the same table."""

import numpy as np
import pytest
from scipy import io, sparse

from tamis.io.errors import TableError
from tamis.io.readers import Request, format_of, read
from tamis.io.readers.table import Table
from tamis.io.writers import WRITERS, _with_plain_text, write_table

NAMES = np.array(["a", "b", "c"], dtype=object)


@pytest.fixture
def table(rng):
    X = rng.integers(0, 9, size=(6, 3)).astype(float)
    return Table(X, NAMES, np.array([f"s{i}" for i in range(6)], dtype=object), np.array(list("xxyyzz"), dtype=object))


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.mark.parametrize("ending", [*WRITERS, ".h5ad", ".csv.gz", ".tsv.gz", ".mtx.gz"])
def test_what_is_written_is_read_again(table, tmp_path, ending):
    path = write_table(tmp_path / f"t{ending}", table)
    tabular = ending.startswith((".csv", ".tsv", ".txt", ".tab", ".parquet", ".pq", ".feather", ".arrow"))
    named = tabular or ending in (".npz", ".mat", ".h5", ".hdf5", ".h5ad")
    labelled = named and ending != ".h5ad"
    request = Request(index="sample" if tabular else None, labels="label" if labelled else None)
    again = read(path, request)
    np.testing.assert_array_equal(dense(again.X), table.X)
    if named:
        assert again.feature_names.tolist() == ["a", "b", "c"]
        assert again.sample_names.tolist() == table.sample_names.tolist()
    if labelled:
        assert again.y.tolist() == table.y.tolist()


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npz"])
def test_turned_tables_are_turned_back(table, tmp_path, ending):
    path = write_table(tmp_path / f"t{ending}", table, transpose=True)
    again = read(path, Request(transpose=True))
    np.testing.assert_array_equal(again.X, table.X)
    assert again.feature_names.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_scipy_sparse_archives_stay_sparse(table, tmp_path, kind):
    path = tmp_path / "t.npz"
    sparse.save_npz(path, sparse.csr_array(table.X).asformat(kind))
    again = read(path)
    assert again.X.format == "csr"
    np.testing.assert_array_equal(again.X.toarray(), table.X)


def test_sparse_tables_are_written_sparse(table, tmp_path):
    thin = Table(sparse.csr_array(table.X), NAMES)
    again = read(write_table(tmp_path / "t.npz", thin))
    assert sparse.issparse(again.X)
    assert again.feature_names.tolist() == ["a", "b", "c"]
    assert sparse.issparse(read(write_table(tmp_path / "t.mtx", thin)).X)


def test_names_beside_a_matrixmarket_file_are_found(table, tmp_path):
    io.mmwrite(tmp_path / "matrix.mtx", sparse.csr_array(table.X.T))
    (tmp_path / "features.tsv").write_text("a\tGene A\nb\tGene B\nc\tGene C\n")
    (tmp_path / "barcodes.tsv").write_text("".join(f"s{i}\n" for i in range(6)))
    for place, request in (("matrix.mtx", None), ("matrix.mtx", Request(transpose=True)), ("", None)):
        again = read(tmp_path / place, request)
        assert again.feature_names.tolist() == ["Gene A", "Gene B", "Gene C"]
        assert again.sample_names[0] == "s0"
        np.testing.assert_allclose(again.X.toarray(), table.X)
        told = "the rows of the matrix are the features listed beside it (else --no-transpose)"
        assert (told in " ".join(again.report.lines())) == (request is None)
    assert read(tmp_path / "matrix.mtx", Request(transpose=False)).shape == (3, 6)
    io.mmwrite(tmp_path / "matrix.mtx", sparse.csr_array(table.X))
    assert read(tmp_path / "matrix.mtx").feature_names.tolist() == ["Gene A", "Gene B", "Gene C"]


def test_lists_of_geo_and_features_that_are_no_genes(table, tmp_path):
    io.mmwrite(tmp_path / "GSM1_matrix.mtx", sparse.csr_array(table.X.T))
    lines = "ENS1\tA\tGene Expression\nENS2\tA\tGene Expression\nB1\tA\tAntibody Capture\n"
    (tmp_path / "GSM1_features.tsv").write_text(lines)
    again = read(tmp_path / "GSM1_matrix.mtx")
    assert again.feature_names.tolist() == ["A", "A_2"]
    assert read(tmp_path / "GSM1_matrix.mtx", Request(only=("A_2",))).feature_names.tolist() == ["A_2"]
    np.testing.assert_allclose(again.X.toarray(), table.X[:, :2])
    assert "Left out: 'A' (of the type 'Antibody Capture', not 'Gene Expression')." in again.report.lines()


def test_matlab_73_files_are_refused_with_what_to_do(table, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.mat", "w", userblock_size=512) as file:
        file["X"] = table.X.T
    with pytest.raises(TableError, match=r"version 7.3, which is HDF5; save it with save -v7, or name it \.h5"):
        read(tmp_path / "t.mat")
    (tmp_path / "t.mat").rename(tmp_path / "t.h5")
    np.testing.assert_array_equal(read(tmp_path / "t.h5", Request(transpose=True)).X, table.X)


def test_hdf5_is_read_by_key_and_pandas_frames_too(table, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["one/matrix"], file["two/matrix"], file["one/genes"] = table.X, table.X * 2, np.array([b"a", b"b", b"c"])
    again = read(tmp_path / "t.h5", Request(key="/one/matrix"))
    assert again.feature_names.tolist() == ["a", "b", "c"]
    with pytest.raises(
        TableError, match=r"several matrices: one/matrix \(6×3\), two/matrix \(6×3\); say which with --key"
    ):
        read(tmp_path / "t.h5")
    with h5py.File(tmp_path / "p.h5", "w") as file:
        group = file.create_group("frame")
        group["block0_values"], group["block0_items"], group["axis1"] = (
            table.X,
            np.array([b"a", b"b", b"c"]),
            np.arange(6),
        )
    assert read(tmp_path / "p.h5").feature_names.tolist() == ["a", "b", "c"]


def test_parquet_takes_the_index_that_pandas_wrote(table, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        table.X.astype(np.float32), columns=list("abc"), index=pandas.Index(table.sample_names, name="cell")
    )
    frame.to_parquet(tmp_path / "t.parquet")
    again = read(tmp_path / "t.parquet")
    assert again.sample_names.tolist() == table.sample_names.tolist()
    assert again.feature_names.tolist() == ["a", "b", "c"]
    assert again.X.dtype == np.float32


@pytest.mark.parametrize("in_pieces", [False, True])
def test_an_index_of_several_levels_is_left_out_and_told(in_pieces, table, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table.X, columns=list("abc"))
    levels = pd.MultiIndex.from_arrays(
        [[2000, 2000, 2001, 2001, 2002, 2002], [1, 2, 1, 2, 1, 2]], names=["year", "half"]
    )
    frame.set_index(levels).to_parquet(path := tmp_path / "t.parquet")
    whole = read(path, Request(in_pieces=in_pieces))
    assert whole.feature_names.tolist() == ["a", "b", "c"]
    assert whole.sample_names is None
    assert "'year', 'half' (part of the index that pandas wrote; to use them: --keep year,half)" in str(
        [found.told() for found in whole.report.findings]
    )
    kept = read(path, Request(in_pieces=in_pieces, keep=("year",), labels="half"))
    assert set(kept.feature_names) == {"a", "b", "c", "year"}
    assert kept.sample_names is None
    named = read(path, Request(in_pieces=in_pieces, index="half"))
    assert named.sample_names.tolist() == ["1", "2"] * 3
    assert named.feature_names.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_categories_that_pandas_wrote_are_categories_whatever_they_hold(ending, tmp_path):
    pd = pytest.importorskip("pandas")
    kinds, plain = pd.Categorical(np.resize([1, 2, 3], 12)), np.arange(12.0) ** 2
    frame = pd.DataFrame({"kind": kinds, "share": pd.Categorical(np.resize([0.5, None, 1.5], 12)), "a": plain})
    path = tmp_path / f"t{ending}"
    frame.to_parquet(path) if ending == ".parquet" else frame.to_feather(path)
    table = read(path)
    assert table.feature_names.tolist() == ["kind=1", "kind=2", "kind=3", "share=1.5", "a"]
    assert "the values were read as categories in 'kind', 'share'" in " ".join(table.report.lines())
    if ending == ".parquet":
        left = read(path, Request(in_pieces=True)).report.findings[0]
        assert (left.features, left.option) == (("kind", "share"), "--whole")


def test_h5ad_layers_labels_and_annotations(table, tmp_path):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    obs = pandas.DataFrame({"kind": pandas.Categorical(list("xxyyzz"))}, index=table.sample_names.astype(str))
    adata = anndata.AnnData(sparse.csr_matrix(table.X), obs, pandas.DataFrame(index=list("abc")))
    adata.layers["twice"] = adata.X * 2
    adata.obs, adata.var = _with_plain_text(adata.obs), _with_plain_text(adata.var)
    adata.write_h5ad(tmp_path / "t.h5ad")
    again = read(tmp_path / "t.h5ad", Request(key="twice", labels="kind"))
    np.testing.assert_array_equal(again.X.toarray(), table.X * 2)
    assert again.y.tolist() == list("xxyyzz")
    part = Table(again.X[:, [0, 2]], NAMES[[0, 2]], again.sample_names)
    write_table(tmp_path / "part.h5ad", part, source=tmp_path / "t.h5ad")
    kept = anndata.read_h5ad(tmp_path / "part.h5ad")
    assert kept.var_names.tolist() == ["a", "c"]
    assert kept.obs["kind"].tolist() == list("xxyyzz")


@pytest.mark.parametrize("in_pieces", [False, True])
def test_h5ad_files_whose_frames_are_records_are_read(tmp_path, in_pieces):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        file["X"] = np.arange(6.0).reshape(3, 2)
        file["obs"] = np.array([(b"c0", b"T"), (b"c1", b"B"), (b"c2", b"T")], [("index", "S2"), ("kind", "S1")])
        file["var"] = np.array([(b"g0", 1.0), (b"g1", 2.0)], [("index", "S2"), ("mean", float)])
    found = read(tmp_path / "t.h5ad", Request(labels="kind", in_pieces=in_pieces))
    assert found.feature_names.tolist() == ["g0", "g1"]
    assert found.y.tolist() == ["T", "B", "T"]


def test_images_are_flattened(tmp_path, rng):
    np.save(tmp_path / "t.npy", rng.random((4, 3, 2)))
    assert read(tmp_path / "t.npy").shape == (4, 6)


@pytest.mark.parametrize("in_pieces", [False, True])
def test_a_column_of_a_nameless_matrix_serves_as_labels(in_pieces, table, tmp_path):
    np.save(tmp_path / "t.npy", table.X)
    again = read(tmp_path / "t.npy", Request(labels="feature_1", drop=("feature_2",), in_pieces=in_pieces))
    np.testing.assert_array_equal(again.X[:], table.X[:, [0]])
    assert again.feature_names.tolist() == ["feature_0"]
    assert again.y.tolist() == table.X[:, 1].tolist()


def test_counts_are_brought_to_equal_totals_then_logs(tmp_path):
    X = np.array([[1.0, 3.0], [10.0, 30.0], [0.0, 0.0], [2.0, 2.0]])
    np.save(tmp_path / "t.npy", X)
    sparse.save_npz(tmp_path / "t.npz", sparse.csr_array(X))
    expected = np.log1p(np.array([[1.0, 3.0], [1.0, 3.0], [0.0, 0.0], [2.0, 2.0]]))
    for name in ("t.npy", "t.npz"):
        again = read(tmp_path / name, Request(scale=True, log1p=True))
        np.testing.assert_allclose(dense(again.X), expected)


def test_only_the_features_asked_for_are_read(tmp_path):
    (tmp_path / "t.csv").write_text("junk,b,c,a\nx,1,,3\ny,4,,6\n")
    again = read(tmp_path / "t.csv", Request(only=("a", "b")))
    assert again.feature_names.tolist() == ["a", "b"]
    assert again.X.tolist() == [[3, 1], [6, 4]]
    with pytest.raises(TableError, match=r"1 of the 2 selected features are not in the file: 'd'"):
        read(tmp_path / "t.csv", Request(only=("a", "d")))


@pytest.mark.parametrize(("name", "ending"), [("a.b.csv", ".csv"), ("x.CSV.GZ", ".csv.gz"), ("x.Parquet", ".parquet")])
def test_the_ending_tells_the_format(name, ending):
    assert format_of(name) == ending


def test_a_missing_part_is_named_with_what_installs_it(tmp_path, monkeypatch):
    import sys

    (tmp_path / "t.h5").write_bytes(b"\x89HDF")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r'^Reading HDF5 needs h5py; run pip install "tamis\[single-cell\]"\.$'):
        read(tmp_path / "t.h5")


def test_cells_of_one_type_keep_it_and_others_become_text():
    import datetime

    from tamis.io.readers.arrow import column_of

    day, moment = datetime.date(2020, 1, 31), datetime.datetime(2020, 1, 31, 12)
    assert str(column_of([1, 2.5, ""]).type) == "double"
    assert str(column_of([True, None]).type) == "bool"
    assert str(column_of([day, None]).type) == "date32[day]"
    assert column_of([day, moment]).to_pylist() == [datetime.datetime(2020, 1, 31), moment]
    assert column_of([1.0, "x", 2.5]).to_pylist() == ["1", "x", "2.5"]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_long_codes_of_categories_stay_apart(tmp_path, ending):
    codes = np.resize([1234561.0, 1234562.0, 0.5], (12, 1))
    path = write_table(tmp_path / f"t{ending}", Table(codes, np.array(["code"], dtype=object)))
    names = read(path, Request(categorical=("code",))).feature_names.tolist()
    assert names == ["code=0.5", "code=1234561", "code=1234562"]
