import gzip

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csr_matrix, issparse, save_npz

from research.data import MissingDataError, using_folder
from research.paper import datasets
from research.paper.datasets import checksum, dataset, is_here, load, z_scores
from research.paper.printed import printed
from research.paper.sources import DATASETS, STAND_INS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TAMIS_DATA", str(tmp_path))
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "cache"))
    datasets._load.cache_clear()
    return tmp_path


def test_the_ten_sets_of_the_paper_are_described():
    assert {one.printed for one in DATASETS if one.printed} == set(printed()["statistics"])
    assert set(STAND_INS) <= {one.name for one in DATASETS}
    for one in DATASETS:
        assert one.licence
        assert one.home.startswith("http")
        assert all(len(code) == 64 for source in one.sources for code in source.checksums)


def test_sets_are_found_by_either_name_in_any_case():
    assert dataset("pix10") is dataset("pixraw10P")


def test_an_unknown_set_is_named():
    with pytest.raises(KeyError, match=r"There is no data set 'Yael'\. Did you mean 'Yale'"):
        dataset("Yael")


def test_a_missing_set_says_how_to_get_it(folder):
    with pytest.raises(
        MissingDataError, match=r"run `python -m research.paper fetch GISETTE`, or put gisette_train.data and gisette"
    ):
        load("GISETTE")
    with pytest.raises(
        MissingDataError, match=r"FAN is not on this machine: make it from https://www.ncbi.* fan.tsv.gz"
    ):
        load("FAN")
    assert not is_here("FAN")


def test_a_folder_is_used_and_then_forgotten(folder, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    write_mat(other / "Yale.mat")
    assert not is_here("Yale")
    with using_folder(other):
        assert is_here("Yale")
    assert not is_here("Yale")


def write_mat(path):
    X = np.array([[1, 5, 0], [2, 5, 4], [3, 5, 1], [9, 5, 2]], dtype=np.uint8)
    savemat(path, {"X": X, "Y": np.array([[1], [1], [2], [2]], dtype=np.uint8)})


def test_a_set_of_the_collection_loses_its_constant_columns(folder):
    write_mat(folder / "Yale.mat")
    X, y = load("Yale")
    np.testing.assert_array_equal(X, [[1, 0], [2, 4], [3, 1], [9, 2]])
    assert X.dtype == np.float64
    assert y.tolist() == [1, 1, 2, 2]


def test_gisette_is_two_text_files(folder):
    (folder / "gisette_train.data").write_text("550 0 495 \n0 0 3 \n976 0 0 \n")
    (folder / "gisette_train.labels").write_text("1\n-1\n1\n")
    X, y = load("GISETTE")
    np.testing.assert_array_equal(X, [[550, 495], [0, 3], [976, 0]])
    assert y.tolist() == [1, -1, 1]


def test_gisette_with_too_few_labels_is_refused(folder):
    (folder / "gisette_train.data").write_text("1 2\n3 4\n")
    (folder / "gisette_train.labels").write_text("1\n")
    with pytest.raises(ValueError, match=r"has 2 rows, but gisette_train\.labels has 1 labels"):
        load("GISETTE")


def test_rcv1_is_compressed_svmlight_and_stays_sparse(folder):
    import bz2

    text = b"1 1:0.5 3:0.25\n-1 2:1.0 3:0.25\n1 3:0.5 5:2\n"
    (folder / "rcv1_train.binary.bz2").write_bytes(bz2.compress(text))
    X, y = load("RCV1")
    assert issparse(X)
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, 0.25, 0], [0, 1, 0.25, 0], [0, 0, 0.5, 2]])
    assert y.tolist() == [1, -1, 1]


def test_damaged_svmlight_is_one_sentence(folder):
    import bz2

    (folder / "rcv1_train.binary.bz2").write_bytes(bz2.compress(b"not svmlight\n"))
    with pytest.raises(ValueError, match=r"rcv1_train.binary.bz2: cannot be read as svmlight"):
        load("RCV1")


def test_fan_has_genes_in_rows_and_stages_in_the_names_of_cells(folder):
    text = "gene\tzygote_1\tzygote_2\t2_cell_1\nSox2\t0\t1\t3\nNanog\t2\t0\t0\nActb\t5\t5\t5\n"
    with gzip.open(folder / "fan.tsv.gz", "wt") as file:
        file.write(text)
    X, y = load("FAN")
    np.testing.assert_allclose(X, np.log1p([[0, 2], [1, 0], [3, 0]]))
    assert y.tolist() == ["zygote", "zygote", "2_cell"]


def test_counts_are_sparse_archives_and_log1p_ed(folder):
    counts = csr_matrix(np.array([[0, 3, 0], [1, 0, 0], [7, 0, 0]]))
    save_npz(folder / "plain.npz", counts)
    with np.load(folder / "plain.npz") as archive:
        np.savez(folder / "pollen_counts.npz", **archive, y=np.array([0, 1, 1]))
    X, y = load("pollen")
    np.testing.assert_allclose(X.toarray(), np.log1p([[0, 3], [1, 0], [7, 0]]))
    assert y.tolist() == [0, 1, 1]


def test_z_scores_of_sparse_and_dense_tables_are_the_same(rng):
    X = rng.poisson(1.0, size=(20, 4)).astype(float)
    Z = z_scores(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(Z.std(axis=0), 1, atol=1e-6)
    np.testing.assert_array_equal(Z, z_scores(csr_matrix(X)))


def test_checksum_is_that_of_the_content(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    assert checksum(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
