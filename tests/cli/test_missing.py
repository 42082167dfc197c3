"""Missing cells on the command line: kept where the method can, else filled, and said."""

import json

import numpy as np
import pytest
from scipy import sparse

from tamis.cli import fitting
from tamis.io.errors import TableError
from tamis.io.readers import Request, Table, read
from tamis.io.readers.missing import fill
from tamis.selectors.variance import VarianceScore

TEXT = "a,b,kind\n1,10,x\n2,,x\n3,30,\n4,50,y\n9,20,x\n"


@pytest.fixture
def gaps(tmp_path):
    (tmp_path / "t.csv").write_text(TEXT)
    return tmp_path / "t.csv"


@pytest.fixture
def tolerant(monkeypatch):
    """Let the variance take missing cells, as its tag then says."""
    seen = []
    tags, fit = VarianceScore.__sklearn_tags__, VarianceScore.fit

    def tagged(self):
        found = tags(self)
        found.input_tags.allow_nan = True
        return found

    def tolerant_fit(self, X, y=None):
        seen.append(np.isnan(X).sum())
        return fit(self, np.nan_to_num(X), y)

    monkeypatch.setattr(VarianceScore, "__sklearn_tags__", tagged)
    monkeypatch.setattr(VarianceScore, "fit", tolerant_fit)
    return seen


def test_medians_and_commonest_values_fill_gaps(gaps):
    table = read(gaps)
    filled = fill(table, "median")
    assert filled.X[1].tolist() == [2, 25, 0]
    assert filled.X[2].tolist() == [3, 30, 0]
    assert "filled with medians, categories with their commonest value" in filled.report.headline()
    assert np.isnan(table.X).sum() == 2


def test_rows_with_gaps_are_dropped(gaps):
    dropped = fill(read(gaps), "drop-rows")
    assert dropped.X[:, 0].tolist() == [1, 4, 9]
    assert dropped.texts["kind"] == ["x", "y", "x"]
    with pytest.raises(TableError, match="--missing drop-rows leaves no row"):
        fill(read_text(gaps, "a,b\n1,\n,2\n3,\n,4\n"), "drop-rows")


def read_text(path, text):
    path.write_text(text)
    return read(path)


def test_numbers_that_mark_missing_cells_are_those_of_the_file(tmp_path):
    rows = "m,yes,1970-01-01,0,0\nf,no,1970-01-02,3,5\nm,no,1970-01-03,2,6\n0,0,0,1,5\n"
    (tmp_path / "t.csv").write_text("sex,smoker,day,visits,code\n" + rows * 4)
    table = read(tmp_path / "t.csv", Request(na_values=("0",), categorical=("code",)))
    assert table.feature_names.tolist() == ["sex=m", "smoker", "day", "visits", "code=6"]
    gap = np.nan
    expected = [[1, 1, 0, gap, gap], [0, 0, 1, 3, 0], [1, 0, 2, 2, 1], [gap, gap, gap, 1, 0]]
    np.testing.assert_array_equal(table.X[:4], expected)


def test_gaps_of_sparse_tables_are_filled_sparsely():
    X = sparse.csr_array(np.array([[0, 5.0], [np.nan, 0], [0, 7], [4, 8]]))
    report = read_report(X)
    filled = fill(Table(X, np.array(["a", "b"], dtype=object), report=report), "median")
    assert sparse.issparse(filled.X)
    assert filled.X.toarray().tolist() == [[0, 5], [0, 0], [0, 7], [4, 8]]


def read_report(X):
    from tamis.io.readers.report import ReadReport

    return ReadReport(X.shape[0], {"number": X.shape[1]}, 1, ("a",))


def test_a_method_that_takes_gaps_gets_them_and_scores_do_not(run, gaps, tolerant):
    result = run("select", gaps, "-k", 2, "-m", "variance", "-o", "out", "--drop", "kind")
    assert result.exit_code == 0, result.stderr
    assert tolerant == [1]
    assert "1 cell missing (10%) in 'b', which the method takes as missing" in result.stderr
    run("select", gaps, "-k", 2, "-m", "variance", "-o", "out", "--missing", "median")
    assert tolerant[-1] == 0


def test_compare_says_for_which_methods_gaps_are_kept(run, gaps, tolerant, tmp_path):
    result = run("compare", gaps, "-k", 2, "-m", "variance,random", "-o", "out", "--drop", "kind")
    assert result.exit_code == 0, result.stderr
    assert "filled with medians (kept for variance)" in result.stderr
    filled = json.loads((tmp_path / "out/result.json").read_text())["read"]["missing"]
    assert filled == {"cells": 1, "features": ["b"], "filled": "filled with medians"}


def test_methods_tell_by_their_tag_whether_they_take_gaps(tolerant):
    assert fitting.allows_missing("variance")
    assert not fitting.allows_missing("random")


def test_kept_features_are_candidates_though_mostly_missing(run, tmp_path, rng):
    X = np.repeat(rng.standard_normal((60, 1)), 4, axis=1) + 0.1 * rng.standard_normal((60, 4))
    X[:, 1], X[20:, 3] = 7, np.nan
    lines = [",".join("" if np.isnan(cell) else repr(cell) for cell in row) for row in X.tolist()]
    (tmp_path / "t.csv").write_text("\n".join(["a,still,b,gaps", *lines]))
    result = run("select", "t.csv", "-k", 3, "-m", "structure-pursuit", "--keep", "gaps", "--json")
    assert sorted(entry["feature"] for entry in json.loads(result.stdout)["selected"]) == ["a", "b", "gaps"]
    assert [line for line in result.stderr.splitlines() if "note:" in line] == [
        "tamis: note: Features with one value only are never selected: feature 'still'. Name them with --must-keep to "
        "select them all the same."
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["select", "-k", 2, "-m", "random", "--missing", "keep"], "since the method random needs every cell"),
        (["evaluate", "-f", "a", "--missing", "keep"], "--missing keep cannot be had, since scores need every cell"),
        (["select", "-k", 2, "--missing", "mean"], "--missing takes keep, median, drop-rows or error; got 'mean'"),
        (["select", "-k", 2, "--missing", "error"], "2 cells missing, in 'b', 'kind'; pass --missing median"),
        (["check", "--decimal", ";"], "--decimal takes . or , ; got ';'"),
        (["check", "--thousands", "x"], "--thousands takes , or . or ' or a space; got 'x'"),
        (["check", "--decimal", ",", "--thousands", ","], "--decimal and --thousands are both ','"),
        (["check", "--encoding", "utf-99"], "--encoding utf-99 is not a known encoding"),
        (["check", "--keep", "none"], "--keep names 'none', which is not a feature of the file"),
    ],
)
def test_what_cannot_be_done_is_said(run, gaps, arguments, sentence):
    result = run(arguments[0], gaps, *arguments[1:])
    assert result.exit_code == 2
    assert sentence in result.stderr.splitlines()[-1]
