"""Whatever is wrong with the input: one sentence on standard error, exit code 2, no traceback, nothing written."""

import gzip
import io
import os
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import savemat

GOOD = "a,b,c\n1,2,3\n4,5,7\n7,8,1\n2,2,2\n"


def saved(function, *arguments, **named):
    stream = io.BytesIO()
    function(stream, *arguments, **named)
    return stream.getvalue()


def parquet(**columns):
    import pyarrow as pa
    from pyarrow import parquet

    return saved(lambda stream: parquet.write_table(pa.table(columns), stream))


NUMBERS = np.arange(12.0).reshape(4, 3)

FILES = {
    "zero bytes": ("t.csv", b"", "is empty (0 bytes)"),
    "zero bytes parquet": ("t.parquet", b"", "is empty (0 bytes)"),
    "archive without files": ("t.csv.zip", b"PK\5\6" + bytes(18), "is an archive without files"),
    "blank lines": ("t.csv", b"\n\n\n", "holds no lines"),
    "header only": ("t.csv", b"a,b,c\n", "has a header, but no rows"),
    "ragged short": ("t.csv", b"a,b,c\n1,2,3\n4,5\n", "line 3 has 2 cells, but the first line of the table has 3"),
    "ragged long": ("t.csv", b"a,b,c\n1,2,3\n4,5,6,7\n", "line 3 has 4 cells"),
    "ragged far down": (
        "t.csv",
        b"a,b,c\n" + b"1,2,3\n" * 500 + b"1,2\n",
        "has 2 cells, but the first line of the table has 3",
    ),
    "all text": (
        "t.csv",
        b"a,b\nx,y\nz,w\n",
        "no feature is left to select from: 'a', 'b' (text that differs in every row",
    ),
    "infinite cells": ("t.csv", b"a,b\n1,inf\n2,3\n4,5\n", "1 cell of 'b' is infinite; pass --na-values inf"),
    "binary as csv": ("t.csv", bytes(range(256)) * 10, "is not a text file"),
    "broken gzip": ("t.csv.gz", gzip.compress(GOOD.encode() * 500)[:-30], "cannot be read as CSV"),
    "two rows": ("t.csv", b"a,b,c\n1,2,3\n4,5,7\n", "the table has 2 rows, but rows are compared"),
    "one value only": ("t.csv", b"a,b,c\n" + b"1,2,3\n" * 5, "Each of the 3 features holds one value only"),
    "not parquet": ("t.parquet", b"PAR1 but no more", "cannot be read as Parquet"),
    "truncated parquet": ("t.parquet", parquet(a=[1.0] * 500)[:-50], "cannot be read as Parquet"),
    "text parquet": ("t.parquet", parquet(a=["x", "y", "z"]), "no feature is left to select from: 'a' (text"),
    "nested parquet": ("t.parquet", parquet(a=[[1], [2], [3]]), "'a' (it holds values of the type list"),
    "not feather": ("t.feather", b"ARROW1 no", "cannot be read as Feather"),
    "not npy": ("t.npy", b"\x93NUMPY no", "save it anew with numpy.save"),
    "truncated npy": ("t.npy", saved(np.save, NUMBERS)[:-8], "says that it holds 96 bytes of numbers, but has 88"),
    "pickled npy": ("t.npy", saved(np.save, np.array([{}, {}]), allow_pickle=True), "holds Python objects"),
    "bare pickle": ("t.npy", pickle.dumps([1, 2]), "cannot be read as NumPy"),
    "vector": ("t.npy", saved(np.save, np.arange(5.0)), "holds float64 of shape (5,), not a matrix of real numbers"),
    "complex": ("t.npy", saved(np.save, NUMBERS * 1j), "holds complex128 of shape (4, 3), not a matrix"),
    "text array": ("t.npy", saved(np.save, np.array([["a", "b"]])), "not a matrix of real numbers"),
    "no matrix in npz": ("t.npz", saved(np.savez, a=np.arange(3)), "holds no matrix of numbers"),
    "many in npz": ("t.npz", saved(np.savez, p=NUMBERS, q=NUMBERS), "holds several matrices: p (4×3), q (4×3)"),
    "not npz": ("t.npz", b"PK\x03\x04 no", "cannot be read as NumPy archive"),
    "odd sparse": ("t.npz", saved(sparse.save_npz, sparse.dia_array(np.eye(4))), "in the format 'dia'"),
    "damaged sparse": (
        "t.npz",
        saved(np.savez, format=b"csr", shape=[4, 3], data=[1.0], indices=[9], indptr=[0, 1, 1, 1, 1]),
        "the sparse matrix is damaged: it names position 9",
    ),
    "not a matrix in mat": ("t.mat", saved(savemat, {"name": "hello", "n": 3.0}), "holds no matrix of numbers"),
    "struct in mat": ("t.mat", saved(savemat, {"s": {"X": NUMBERS}}), "holds no matrix of numbers"),
    "not mat": ("t.mat", b"MATLAB 5.0 MAT-file but no more", "is no MATLAB file of version 5"),
    "truncated mat": (
        "t.mat",
        saved(savemat, {"X": NUMBERS})[:200],
        "cannot be read as MATLAB (OSError: could not read bytes)",
    ),
    "not mtx": ("t.mtx", b"%%MatrixMarket no\n", "does not begin with '%%MatrixMarket matrix"),
    "not hdf5": ("t.h5", b"\x89HDF no", "cannot be read as HDF5"),
    "not h5ad": ("t.h5ad", b"no", "cannot be read as HDF5"),
    "unknown ending": ("t.docx", b"PK", "the ending '.docx' is not that of a known format"),
    "no ending": ("table", b"a,b\n1,2\n", "the ending '' is not that of a known format"),
    "odd compression": ("t.parquet.gz", b"x", "of compressed files, only"),
}

OPTIONS = {
    "huge k": (["-k", "99"], "-k 99 asks for more than the 3 features of the table"),
    "unknown method": (["-k", "2", "-m", "lscea"], "There is no selector 'lscea'. Did you mean 'lscae'?"),
    "unknown index": (["-k", "2", "--index", "d"], "--index names 'd', which is not a feature of the file"),
    "unknown labels": (["-k", "2", "--labels", "d"], "--labels names 'd', which is not a feature"),
    "unknown drop": (["-k", "2", "--drop", "d"], "--drop names 'd', which is not a feature"),
    "everything dropped": (["-k", "2", "--drop", "a,b,c"], "no feature is left to select from"),
    "unknown must-keep": (["-k", "2", "--must-keep", "d"], "--must-keep names 'd'"),
    "unknown never": (["-k", "2", "--never", "x*"], "--never names 'x*'"),
    "kept and banned": (
        ["-k", "2", "--must-keep", "a", "--never", "a"],
        "--must-keep and --never both name 'a'; remove it",
    ),
    "too many kept": (["-k", "1", "--must-keep", "a,b"], "--must-keep names 2 features, more than -k 1"),
    "wrong delimiter": (["-k", "2", "--delimiter", ";"], "has one feature only with the delimiter ';'"),
    "long delimiter": (["-k", "2", "--delimiter", "abc"], "--delimiter takes one sign"),
    "unknown parameter": (["-k", "2", "--set", "epochs=3"], "has no parameter 'epochs'"),
    "odd setting": (["-k", "2", "--set", "epochs"], "--set takes NAME=VALUE"),
    "bad value": (["-k", "2", "--set", "max_epochs=-3"], "--set max_epochs must be"),
    "no literal": (["-k", "2", "--set", "max_epochs={[]:1}"], "--set max_epochs must be"),
    "bad field": (["-k", "2", "--set", "diffusion_steps=0"], "recipe: diffusion_steps takes a positive whole number"),
    "image shape": (["-k", "2", "--image-shape", "2x2"], "makes 4 pixels, but the table has 3 features"),
    "seed below zero": (["-k", "2", "--seed", "-1"], "--seed takes a whole number of at least 0, below 2**32; got -1."),
    "odd image shape": (["-k", "2", "--image-shape", "wide"], "--image-shape takes HEIGHTxWIDTH"),
}


def assert_one_sentence(result, sentence, folder):
    assert result.exit_code == 2, (result.output, result.exception)
    assert isinstance(result.exception, SystemExit)
    *read, last = result.stderr.strip().splitlines()
    told = ("Read: ", "Left out: ", "Assumed: ", "Note: ", "tamis: note: ")
    assert all(line.startswith(told) for line in read), result.stderr
    assert last.startswith("tamis: ")
    assert sentence in last
    assert result.stdout == ""
    assert not folder.exists()


@pytest.mark.parametrize("case", FILES)
def test_bad_files(case, run, tmp_path):
    name, content, sentence = FILES[case]
    (tmp_path / name).write_bytes(content)
    assert_one_sentence(run("select", tmp_path / name, "-k", 2, "-o", "out"), sentence, tmp_path / "out")
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("case", OPTIONS)
def test_bad_options(case, run, tmp_path):
    options, sentence = OPTIONS[case]
    (tmp_path / "t.csv").write_text(GOOD)
    assert_one_sentence(run("select", tmp_path / "t.csv", "-o", "out", *options), sentence, tmp_path / "out")


def test_log_of_negative_numbers(run, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD.replace("7", "-7"))
    for option, sentence in (("--log1p", "--log1p needs numbers above -1"), ("--scale", "--scale is for counts")):
        result = run("select", tmp_path / "t.csv", "-k", 2, "-o", "out", option)
        assert_one_sentence(result, sentence, tmp_path / "out")


def test_a_missing_file(run, tmp_path):
    assert_one_sentence(
        run("select", "none.csv", "-k", 2, "-o", "out"), "none.csv: there is no such file", tmp_path / "out"
    )


def test_a_folder(run, tmp_path):
    (tmp_path / "t.csv").mkdir()
    assert_one_sentence(run("select", "t.csv", "-k", 2, "-o", "out"), "t.csv: is a folder", tmp_path / "out")


def test_no_permission(run, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(GOOD)

    def forbidden(self, *arguments, **named):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.open", forbidden)
    result = run("select", "t.csv", "-k", 2, "-o", "out")
    assert_one_sentence(result, "t.csv: cannot be opened (Permission denied)", tmp_path / "out")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission_on_disk(run, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    (tmp_path / "t.csv").chmod(0)
    assert_one_sentence(run("select", "t.csv", "-k", 2, "-o", "out"), "Permission denied", tmp_path / "out")


@pytest.mark.parametrize("output", ["t.csv", "t.csv/out", "/proc/none/out"])
def test_an_output_folder_that_cannot_be(run, tmp_path, output):
    (tmp_path / "t.csv").write_text(GOOD)
    result = run("select", "t.csv", "-k", 2, "-o", output)
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert output in result.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.csv"]


def test_a_disk_that_fills_up_leaves_nothing(run, tmp_path, monkeypatch, quick_options):
    (tmp_path / "t.csv").write_text(GOOD)

    def full(*arguments, **named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tamis.io.files.os.fsync", full)
    result = run("select", "t.csv", "-k", 2, "-o", "out", *quick_options)
    assert_one_sentence(result, "No space left on device", tmp_path / "out")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["evaluate", "t.csv", "-f", "a,x"], "--features names 'x'"),
        (["evaluate", "t.csv", "-f", "a", "--seed", str(2**32)], "at least 0, below 2**32; got 4294967296."),
        (["evaluate", "t.csv", "-f", "none.txt"], "none.txt: there is no such file"),
        (["curve", "t.csv", "-k", "1,x", "-o", "out"], "-k takes numbers such as 10,20,50"),
        (["curve", "t.csv", "-k", "1:100000000000", "-o", "out"], "at most 10,000; got '1:100000000000'"),
        (["check", "t.csv", "--keep", "a\nb"], "a list of names holds a line break; put that name between double"),
        (["curve", "t.csv", "-k", "2,9", "-o", "out"], "-k 9 asks for more than the 3 features"),
        (["compare", "t.csv", "-k", "9", "-o", "out"], "-k 9 asks for more than the 3 features"),
        (["compare", "t.csv", "-k", "2", "-m", "lscae,pca", "-o", "out"], "There is no selector 'pca'"),
        (["compare", "t.csv", "-k", "2", "--set", "x=1", "-o", "out"], "none of the methods has a parameter 'x'"),
        (["select", "t.csv", "-k", "2", "--set", "must_keep=a", "-o", "out"], "lscae has no parameter 'must_keep'"),
        (["select", "t.csv", "-k", "2", "--set", "random_state=1"], "lscae has no parameter 'random_state'"),
        (["check", "t.csv", "--labels", "a", "--index", "a"], "--index and --labels both name 'a'; leave one of them"),
        (["apply", "t.csv", "t.csv"], "t.csv is not a saved selector"),
        (["apply", "none.tamis", "t.csv"], "none.tamis: No such file or directory"),
    ],
)
def test_the_other_commands(run, tmp_path, arguments, sentence):
    (tmp_path / "t.csv").write_text(GOOD)
    assert_one_sentence(run(*arguments), sentence, tmp_path / "out")
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.csv"]


ENDINGS = [
    ".csv",
    ".tsv.gz",
    ".csv.bz2",
    ".csv.xz",
    ".csv.zst",
    ".zip",
    ".xlsx",
    ".jsonl",
    ".json",
    ".parquet",
    ".feather",
    ".npy",
    ".npz",
    ".mat",
    ".mtx",
    ".h5",
    ".h5ad",
]
BEGINNINGS = [
    b"",
    b"a,b\n",
    b"PAR1",
    b"ARROW1\0\0",
    b"\x93NUMPY\x01\0",
    b"PK\x03\x04",
    b"\x89HDF\r\n\x1a\n",
    b"\x1f\x8b\x08",
    b"BZh9",
    b"\xfd7zXZ\0",
    b"\x28\xb5\x2f\xfd",
    b'{"a": 1}\n',
    b"[1, 2",
    b"%%MatrixMarket matrix coordinate real general\n",
    b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\x01IM",
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(ENDINGS), st.sampled_from(BEGINNINGS), st.binary(max_size=400))
def test_random_bytes_never_give_a_traceback(run, tmp_path, ending, beginning, content):
    path = tmp_path / f"t{ending}"
    path.write_bytes(beginning + content)
    # More features than there can be: what happens to be a table is refused, too.
    result = run("select", path, "-k", 10**6, "-o", "out")
    assert_one_sentence(result, f"t{ending}" if "asks for more" not in result.stderr else "-k", tmp_path / "out")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="ab1.,;\t\n\" -e'", max_size=60))
def test_random_text_never_gives_a_traceback(run, tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    result = run("select", tmp_path / "t.csv", "-k", 10**6, "-o", "out")
    assert_one_sentence(result, "", tmp_path / "out")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_random_bytes_are_no_selector(run, tmp_path, content):
    (tmp_path / "s.tamis").write_bytes(content)
    (tmp_path / "t.csv").write_text(GOOD)
    assert_one_sentence(run("apply", tmp_path / "s.tamis", tmp_path / "t.csv"), "s.tamis", tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("id", "text that differs in every row, as identifiers do); to use it, pass --keep id."),
        ("word", "it has one value only); name another feature."),
        ("mixed", "numbers mixed with 'low'); to use it, pass --na-values low."),
        ("cluster", "it holds the labels); name another feature."),
        ("nothing", "it has no value at all); name another feature."),
    ],
)
def test_a_feature_that_was_left_out_is_not_called_unknown(run, tmp_path, name, reason):
    lines = [f"s{i},same,{i if i else 'low'},{i % 2},,{i * i % 7},{i}.5" for i in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(["id,word,mixed,cluster,nothing,a,b", *lines]))
    for options in (["evaluate", "-f"], ["select", "-k", 2, "-m", "variance", "--must-keep"]):
        found = run(options[0], "t.csv", "--labels", "cluster", *options[1:], f"a,{name}")
        assert found.exit_code == 2
        assert f" names '{name}', which was left out ({reason}" in found.stderr
