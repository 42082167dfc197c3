"""Files that once crashed the process, took all memory, never ended, or were read as if they were whole."""

import gzip
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from tamis.io.errors import TableError
from tamis.io.persistence import LoadError
from tamis.io.readers import Request, read
from tamis.io.sources import open_source

HEAD = b"%%MatrixMarket matrix coordinate real general\n"

MATRIX_MARKET = {
    "ends inside a number": (b"3 2 1\n1 1 7E-", "Row #1: CSV conversion error to double: invalid value '7E-'"),
    "a zero byte": (b"3 2 1\n1 1 5.\0", "invalid value '5."),
    "a broken exponent": (b"3 2 1\n1 1 7E-x\n", "invalid value '7E-x'"),
    "letters": (b"3 2 2\n1 1 1\n2 1 1.5abc\n", "Row #2: CSV conversion error to double: invalid value '1.5abc'"),
    "many cells": (b"3 2 1\n1 1 1 1 1\n", "Row #1: Expected 3 columns, got 5"),
    "too few": (b"3 2 2\n1 1 1\n", "declares 2 entries, but holds 1"),
    "entries though none are declared": (b"3 2 0\n1 1 1\n", "declares 0 entries, but holds 1"),
    "too many": (b"3 2 1\n1 1 1\n2 2 2\n", "declares 1 entries, but holds 2"),
    "outside": (b"3 2 1\n1 3 1\n", "names position 2 (or one below 0) of 2, which is not there"),
    "huge": (b"1000000000 1000000000 1\n1 1 1\n", "more than 1000 times the 76 bytes that are stored"),
    "no size": (b"3 x 1\n1 1 1\n", "does not begin with '%%MatrixMarket matrix' and the size of the matrix"),
    "nothing but comments": (b"%\n" * 100_001, "and the size of the matrix"),
    "signs in a number": (b"3 2 1\n1 1 1-2\n", "invalid value '1-2'"),
    "an endless line": (b"3 2 1\n" + b"1" * 70_000, "Row #1: Expected 3 columns, got 1"),
}


@pytest.mark.parametrize(("content", "sentence"), MATRIX_MARKET.values(), ids=MATRIX_MARKET)
def test_matrix_market(content, sentence, tmp_path):
    (tmp_path / "t.mtx").write_bytes(HEAD + content)
    with pytest.raises(TableError) as caught:
        read(tmp_path / "t.mtx")
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "t.mtx"))


def test_matrix_market_whose_words_are_parted_by_no_blank(tmp_path):
    (tmp_path / "t.mtx").write_bytes(HEAD.replace(b"real general", b"real\xa0general") + b"3 2 1\n1 1 1\n")
    with pytest.raises(TableError, match="does not begin with '%%MatrixMarket"):
        read(tmp_path / "t.mtx")


def test_matrix_market_is_read_as_scipy_does(tmp_path, rng):
    from scipy.io import mmread, mmwrite

    X = rng.random((5, 3))
    for stored in (X, sparse.coo_array(X)):
        mmwrite(tmp_path / "t.mtx", stored, comment="a remark")
        expected, found = mmread(tmp_path / "t.mtx"), read(tmp_path / "t.mtx").X
        if sparse.issparse(expected):
            expected, found = expected.toarray(), found.toarray()
        np.testing.assert_array_equal(found, expected)
    mmwrite(tmp_path / "t.mtx", sparse.coo_array(X.T @ X), symmetry="symmetric")
    with pytest.raises(TableError, match="is a symmetric matrix of real, not a general one of real numbers"):
        read(tmp_path / "t.mtx")


def test_matlab_sparse_with_a_row_beyond_the_last(tmp_path):
    savemat(tmp_path / "t.mat", {"X": sparse.csc_array(np.eye(4))})
    content = (tmp_path / "t.mat").read_bytes()
    rows = np.arange(4, dtype="<i4").tobytes()
    (tmp_path / "t.mat").write_bytes(content.replace(rows, rows[:12] + b"\xff\xff\xff\x00", 1))
    with pytest.raises(TableError, match="the sparse matrix is damaged: it names position 16777215"):
        read(tmp_path / "t.mat")


def test_matlab_over_which_scipy_crashes(tmp_path):
    savemat(tmp_path / "t.mat", {"X": np.eye(3), "word": "abcdefgh"})
    content = bytearray((tmp_path / "t.mat").read_bytes())
    content[content.index(b"abcdefgh") - 8] = 24  # the type of the letters
    (tmp_path / "t.mat").write_bytes(content)
    with pytest.raises(TableError, match=r"t\.mat: cannot be read as MATLAB \(its parts do not fit together\)"):
        read(tmp_path / "t.mat")


@pytest.mark.parametrize("compressed", [False, True])
def test_matlab_files_are_read_as_scipy_does(compressed, tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    cells = np.array(["a", "bc", "d"], dtype=object)
    content = {"X": X, "names": cells, "kinds": np.array(["one", "two", "six", "ten"]), "S": sparse.csc_array(X)}
    savemat(tmp_path / "t.mat", content, do_compression=compressed)
    table = read(tmp_path / "t.mat", Request(labels="kinds"))
    np.testing.assert_array_equal(table.X, X)
    assert table.feature_names.tolist() == ["a", "bc", "d"]
    assert table.y.tolist() == ["one", "two", "six", "ten"]
    np.testing.assert_array_equal(read(tmp_path / "t.mat", Request(key="S")).X.toarray(), X)


@pytest.fixture
def annotated(tmp_path):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    frames = [
        pandas.DataFrame(index=pandas.Index([f"{n}{i}" for i in range(s)], dtype=object))
        for n, s in (("c", 6), ("g", 4))
    ]
    return anndata.AnnData(sparse.csr_matrix(np.arange(24.0).reshape(6, 4)), *frames)


@pytest.mark.parametrize("starts", [[0, -5, 7, 11, 15, 19, 23], [0, 23, 7, 11, 15, 19, 23], [0, 3, 7, 11, 15, 19, 99]])
@pytest.mark.parametrize("in_pieces", [False, True])
def test_h5ad_with_rows_that_begin_anywhere(starts, in_pieces, annotated, tmp_path):
    h5py = pytest.importorskip("h5py")
    annotated.write_h5ad(tmp_path / "t.h5ad")
    with h5py.File(tmp_path / "t.h5ad", "r+") as file:
        file["X/indptr"][:] = starts
    with pytest.raises(TableError, match=r"t\.h5ad: the sparse matrix is damaged: .* do not ascend from 0 to 23"):
        read(tmp_path / "t.h5ad", Request(in_pieces=in_pieces))


def test_zarr_with_rows_that_begin_anywhere(annotated, tmp_path):
    zarr = pytest.importorskip("zarr")
    annotated.write_zarr(tmp_path / "t.zarr")
    zarr.open(str(tmp_path / "t.zarr"), mode="r+")["X/indptr"][:] = [0, 23, 7, 11, 15, 19, 23]
    with pytest.raises(TableError, match="the sparse matrix is damaged"):
        open_source(tmp_path / "t.zarr")


def test_zarr_without_the_part_that_holds_the_names(annotated, tmp_path):
    pytest.importorskip("zarr")
    annotated.write_zarr(tmp_path / "t.zarr")
    for frame in ("obs", "var"):
        parts = (tmp_path / "t.zarr" / frame / "_index").rglob("0")
        next(part for part in parts if part.is_file()).unlink()
        with pytest.raises(TableError, match=r"t\.zarr: a part of the list of names is missing"):
            read(tmp_path / "t.zarr")


def test_names_that_occur_twice_in_a_store(annotated, tmp_path):
    annotated.var_names = ["a", "b", "a", "c"]
    annotated.var.index = annotated.var.index.astype(object)
    annotated.write_h5ad(tmp_path / "t.h5ad")
    with pytest.raises(TableError, match=r"t\.h5ad: the name 'a' occurs more than once among the features"):
        open_source(tmp_path / "t.h5ad")


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_plain_zarr_array(zarr_format, tmp_path):
    zarr = pytest.importorskip("zarr")
    X = np.arange(24.0).reshape(6, 4)
    zarr.save_array(str(tmp_path / "t.zarr"), X, zarr_format=zarr_format)
    table = read(tmp_path / "t.zarr", Request(drop=("feature_3",)))
    np.testing.assert_array_equal(table.X[:], X[:, :3])


def in_small_memory(path, gigabytes=1.0):
    """Read a file in a process that may take some memory beyond what it has after its imports."""
    code = f"""
import resource, sys
import h5py, pyarrow, tamis.io.readers.hdf, tamis.io.readers.matlab
from tamis.io.readers import read
taken = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + int({gigabytes} * 2**30),) * 2)
try:
    print(read({str(path)!r}).shape)
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    return done.stdout + done.stderr[-300:]


def test_an_unused_giant_beside_the_matrix_is_not_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["X"] = np.arange(12.0).reshape(4, 3)
        file.create_dataset("unused", (10**9,), "i8", chunks=True)
    assert in_small_memory(tmp_path / "t.h5").strip() == "(4, 3)"


@pytest.mark.parametrize("name", ["t.h5", "t.h5ad"])
def test_a_matrix_that_is_declared_but_not_there(name, tmp_path, annotated):
    h5py = pytest.importorskip("h5py")
    annotated.write_h5ad(tmp_path / "t.h5ad")
    with h5py.File(tmp_path / name, "a") as file:
        if "X" in file:
            del file["X"]
        file.create_dataset("X", (10**9, 4), "f8", chunks=True)
    with pytest.raises(TableError, match=r"is said to be 32\.0 GB, more than 1000 times the 0 bytes"):
        read(tmp_path / name)


def test_more_than_the_free_memory(tmp_path, monkeypatch):
    np.save(tmp_path / "t.npy", np.zeros((9000, 1000)))
    monkeypatch.setattr("tamis.io.memory.free_memory", lambda: 10**6)
    with pytest.raises(TableError, match=r"would take 72\.0 MB of memory, and 1\.0 MB are free; read it in pieces"):
        read(tmp_path / "t.npy", Request(in_pieces=False))


def test_the_bound_on_expansion_can_be_raised(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    column = pa.DictionaryArray.from_arrays(pa.array([0] * 9_000_000, pa.int8()), pa.array([1.5]))
    parquet.write_table(pa.table({"a": column}), tmp_path / "t.parquet", compression="zstd")
    with pytest.raises(TableError, match=r"t\.parquet: the table is said to be 72\.0 MB, .* pass --max-expansion"):
        read(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet", Request(max_expansion=1e6)).shape == (9_000_000, 1)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.mtx.gz"])
def test_a_packed_file_that_unpacks_to_one_line(name, tmp_path):
    with gzip.open(tmp_path / name, "wb") as stream:
        stream.write(HEAD + b"3 2 1\n" if ".mtx" in name else b"")
        for _ in range(70):
            stream.write(b"1" * 10**6)
    begun = time.monotonic()
    with pytest.raises(
        TableError, match=r"a line is longer than|the unpacked text in memory is said to be|has no 5 lines in its first"
    ):
        read(tmp_path / name)
    assert time.monotonic() - begun < 20


def test_short_cells_are_counted_as_the_numbers_that_they_become(tmp_path):
    import lzma

    (tmp_path / "t.tsv.xz").write_bytes(lzma.compress(b"1,2\n" * 20_000_000))
    with pytest.raises(TableError, match=r"the unpacked text in memory is said to be .* pass --max-expansion"):
        read(tmp_path / "t.tsv.xz")


def test_a_long_header_is_read(tmp_path):
    names = [f"feature_with_a_long_name_{i}" for i in range(6000)]
    lines = [",".join(names), *(",".join(["1", "2", "3"] * 2000) for _ in range(3))]
    assert len(lines[0]) > 131_072
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert read(tmp_path / "t.csv").feature_names[-1] == names[-1]


@pytest.mark.parametrize("name", ["t.csv", "t.npy", "t.h5ad", "t.tamis"])
def test_a_pipe_is_refused_and_not_waited_for(name, tmp_path):
    import tamis

    os.mkfifo(tmp_path / name)
    opener, kind = (tamis.load, LoadError) if name == "t.tamis" else (read, TableError)
    with pytest.raises(kind, match="pipe or a device"):
        opener(tmp_path / name)
    if name == "t.npy":
        with pytest.raises(TableError, match="pipe or a device"):
            open_source(tmp_path / name)


@pytest.mark.parametrize("name", ["t.npy", "t.h5ad", "t.parquet", "t.zarr"])
def test_whatever_a_source_stumbles_over_is_one_error(name, tmp_path):
    if name == "t.zarr":
        (tmp_path / name).mkdir()
        (tmp_path / name / "zarr.json").write_text('{"zarr_format": 3, "node_type": "arr')
    else:
        (tmp_path / name).write_bytes(b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': Fal" + bytes(200))
    with pytest.raises(TableError, match=rf"^{tmp_path / name}: .*\.$"):
        open_source(tmp_path / name)


@pytest.mark.parametrize(("part", "value"), [("indices", 9), ("indptr", 9), ("indptr", -1)])
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_archives_are_checked_in_full(part, value, kind, tmp_path):
    X = sparse.csr_array(np.eye(4)).asformat(kind)
    arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
    arrays[part] = np.where(np.arange(len(arrays[part])) == 2, value, arrays[part])
    np.savez(tmp_path / "t.npz", format=np.array(kind.encode()), shape=[4, 4], **arrays)
    with pytest.raises(TableError, match="the sparse matrix is damaged"):
        read(tmp_path / "t.npz")


def test_members_that_are_not_needed_are_not_read(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(4), junk=np.array([{}], dtype=object))
    assert read(tmp_path / "t.npz").shape == (4, 4)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_part_of_a_zarr_array_that_declares_more_than_there_is_room_for(zarr_format, tmp_path):
    zarr = pytest.importorskip("zarr")
    codecs = pytest.importorskip("numcodecs")
    packing = {"compressors": codecs.Blosc()} if zarr_format == 2 else {}
    array = zarr.create_array(
        str(tmp_path / "t.zarr"), shape=(6, 4), chunks=(6, 4), dtype="f8", zarr_format=zarr_format, **packing
    )
    array[:] = np.arange(24.0).reshape(6, 4)
    (part,) = [path for path in (tmp_path / "t.zarr").rglob("*") if path.is_file() and "0" in path.name]
    content = bytearray(part.read_bytes())
    if zarr_format == 2:
        content[4:8] = (2**31 - 1).to_bytes(4, "little")
    else:
        assert content[:4] == b"\x28\xb5\x2f\xfd"
        content[4:9] = bytes([0b10100000]) + (2**31).to_bytes(4, "little")
    part.write_bytes(content)
    with pytest.raises(TableError, match=r"a part of the matrix is said to be 2\.1 GB"):
        open_source(tmp_path / "t.zarr")


def test_hdf5_whose_texts_never_end(annotated, tmp_path):
    annotated.write_h5ad(tmp_path / "t.h5ad")
    content = bytearray((tmp_path / "t.h5ad").read_bytes())
    heap = content.index(b"GCOL")
    content[heap + 16 : heap + 32] = bytes(16)  # The first text becomes free room of no bytes.
    (tmp_path / "t.h5ad").write_bytes(content)
    message = in_small_memory(tmp_path / "t.h5ad")
    assert f"t.h5ad: the list at byte {heap} leads back to itself" in message


@pytest.mark.parametrize("before", [b"", bytes(512)])
def test_hdf5_whose_names_never_end(before, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file["X"] = np.eye(4)
    content = bytearray((tmp_path / "t.h5").read_bytes())
    heap = content.index(b"HEAP")
    room, start = (int.from_bytes(content[heap + i : heap + i + 8], "little") for i in (16, 24))
    content[start + room : start + room + 8] = content[heap + 16 : heap + 24]
    (tmp_path / "t.h5").write_bytes(before + content)
    message = in_small_memory(tmp_path / "t.h5")
    assert f"t.h5: the list at byte {len(before) + heap} leads back to itself" in message


def test_lists_are_found_across_blocks(annotated, tmp_path, monkeypatch):
    from tamis.io.sources import hdf5

    annotated.write_h5ad(tmp_path / "t.h5ad")
    content = (tmp_path / "t.h5ad").read_bytes()
    places = {place for place in range(0, len(content), 8) if content.startswith((b"GCOL", b"HEAP"), place)}
    assert places
    monkeypatch.setattr(hdf5, "BLOCK_BYTES", 97)
    with (tmp_path / "t.h5ad").open("rb") as file:
        assert {place for _, place in hdf5._places(file, len(content))} == places
    monkeypatch.setattr(hdf5, "SCANNED", len(content) // 8)
    with (tmp_path / "t.h5ad").open("rb") as file:
        assert {place for _, place in hdf5._places(file, len(content))} < places


def test_names_of_cells_that_are_not_as_many_as_the_rows(annotated, tmp_path):
    h5py = pytest.importorskip("h5py")
    annotated.write_h5ad(tmp_path / "t.h5ad")
    with h5py.File(tmp_path / "t.h5ad", "r+") as file:
        names = file["obs/_index"][:5]
        del file["obs/_index"]
        file["obs/_index"] = names
    for in_pieces in (False, True):
        with pytest.raises(TableError, match=r"t\.h5ad: .*\b5\b"):
            read(tmp_path / "t.h5ad", Request(in_pieces=in_pieces))


def test_a_zarr_list_of_texts_that_declares_too_many(annotated, tmp_path):
    codecs = pytest.importorskip("numcodecs")
    annotated.write_zarr(tmp_path / "t.zarr")
    part = tmp_path / "t.zarr" / "var" / "_index" / "0"
    if not part.is_file():
        pytest.skip("this AnnData writes another version of Zarr")
    content = bytearray(codecs.Blosc().decode(part.read_bytes()))
    content[:4] = (2**32 - 1).to_bytes(4, "little")
    part.write_bytes(codecs.Blosc().encode(bytes(content)))
    with pytest.raises(TableError, match=r"t\.zarr: a list of texts declares 4294967295 of them in a part of 4"):
        open_source(tmp_path / "t.zarr")
