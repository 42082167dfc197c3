import gzip
import shlex

import numpy as np
import pytest

from tamis.cli.options import split
from tamis.io.errors import TableError
from tamis.io.readers import Request, read
from tamis.io.readers.report import shell_word


@pytest.fixture
def table_of(tmp_path):
    def make(content, name="table.csv", **request):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(path, Request(**request))

    return make


def told(table):
    return " ".join(table.report.lines())


@pytest.mark.parametrize(
    "content",
    ["a,b\n1.5,2\n3,4\n", "a\tb\n1.5\t2\n3\t4\n", "a;b\n1.5;2\n3;4\n", "a|b\n1.5|2\n3|4\n", "a b\n1.5 2\n3 4\n",
     "a;b\n1,5;2\n3;4\n", "a,b\r\n1.5,2\r\n3,4\r\n", '"a","b"\n"1.5",2\n3,4', "a,b\n\n1.5,2\n\n3,4\n"],
    ids=["comma", "tab", "semicolon", "bar", "space", "decimal comma", "windows", "quoted", "blank lines"],
)  # fmt: skip
def test_delimiters_and_decimal_marks_are_found(table_of, content):
    table = table_of(content)
    assert table.feature_names.tolist() == ["a", "b"]
    assert table.X.tolist() == [[1.5, 2], [3, 4]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_encodings_are_found(table_of, encoding):
    assert table_of("é,b\n1,2\n3,4\n".encode(encoding)).feature_names.tolist() == ["é", "b"]


def test_a_file_without_a_header_gets_numbered_names(table_of):
    table = table_of("1,2\n3,4\n")
    assert table.feature_names.tolist() == ["feature_0", "feature_1"]
    assert table.shape == (2, 2)


def test_compressed_files_are_read(table_of):
    assert table_of(gzip.compress(b"a,b\n1,2\n3,4\n"), "table.csv.gz").X.tolist() == [[1, 2], [3, 4]]


def test_an_unnamed_first_column_is_the_index_and_so_are_the_row_names_of_r(table_of):
    assert table_of(",a\nu,1\nv,2\n").sample_names.tolist() == ["u", "v"]
    table = table_of('"a" "b"\n"u" 1 2\n"v" 3 4\n', "table.txt")
    assert table.sample_names.tolist() == ["u", "v"]
    assert table.feature_names.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("rows", "line"),
    [(["0,50,0,0", "3,51,7,1", "4,52,8,2", "9,5,9,4", "7,5,5,6"], 2), (["1,5,2,3", *["4,5,6"] * 5], 2)],
)
def test_a_cell_too_many_is_no_name_of_a_row(table_of, rows, line):
    with pytest.raises(TableError, match=f"line {line} has 4 cells, but the first line of the table has 3"):
        table_of("\n".join(["price,qty,stock", *rows]) + "\n")


@pytest.mark.parametrize(("names", "mark"), [("12345", ","), ("01234", ","), ("pqr1s", ","), ("13479", "\t")])
def test_names_of_rows_need_no_heading(table_of, names, mark):
    lines = ["a,b,c", *(f"{name},{i},{i * i},{2 * i}" for i, name in enumerate(names))]
    table = table_of("\n".join(lines).replace(",", mark) + "\n")
    assert table.feature_names.tolist() == ["a", "b", "c"]
    assert table.sample_names.tolist() == list(names)


def test_commas_between_spaces_part_the_cells(table_of):
    table = table_of(
        "home town , age , pay\n" + "".join(f"old {'abc'[i % 3]} , {20 + i} , {i * i}\n" for i in range(6))
    )
    assert table.original_names == ["home town", "age", "pay"]


def test_what_was_guessed_is_told_where_no_feature_is_left(table_of):
    told = "no feature is left .*; cells are parted by a semicolon, else pass --delimiter"
    with pytest.raises(TableError, match=told):
        table_of("who;what\n" + "".join(f"name {i};thing {i}\n" for i in range(9)))


def test_a_selected_date_that_could_be_either_asks_for_the_order(table_of):
    days = "when,a\n" + "".join(f"0{1 + i}/04/2020,{i}\n" for i in range(9))
    with pytest.raises(TableError, match="could be either; mend the file, or pass --day-first or --month-first"):
        table_of(days, only=("when",))


def test_percentages_among_other_numbers_are_shown(table_of):
    cells = ["0.0", "1", "45%", "2", "3%", "5", "0.5"]
    table = table_of("d,a\n" + "".join(f"{cell},{i * i}\n" for i, cell in enumerate(cells)))
    assert "'d' (numbers mixed with '45%'; to use it: --na-values '45%,3%')" in told(table)


def test_index_labels_and_dropped_columns_get_their_roles(table_of):
    text = "id,kind,a,meta_1,meta_2,b\nu,x,1,9,9,2\nv,y,3,9,9,4\n"
    table = table_of(text, index="id", labels="kind", drop=("meta_*",))
    assert (table.index_name, table.label_name) == ("id", "kind")
    assert table.sample_names.tolist() == ["u", "v"]
    assert table.y.tolist() == ["x", "y"]
    assert table.feature_names.tolist() == ["a", "b"]
    assert table_of(text, drop_text=True).feature_names.tolist() == ["a", "meta_1", "meta_2", "b"]


def test_genes_in_rows_are_turned(table_of):
    table = table_of("gene,s1,s2,s3\ng1,1,2,3\ng2,4,5,6\n", transpose=True)
    assert table.feature_names.tolist() == ["g1", "g2"]
    assert table.sample_names.tolist() == ["s1", "s2", "s3"]
    assert table.X.tolist() == [[1, 4], [2, 5], [3, 6]]


def test_a_feature_that_is_named_like_a_level_is_refused(table_of):
    content = "x,x=a,z\n" + "a,1,2.5\nb,3,4\nc,2,2\n" * 5
    with pytest.raises(TableError, match="'x=a' is named like a level of another one; rename it, or leave it out"):
        table_of(content)
    assert table_of(content, drop=("x",)).feature_names.tolist() == ["x=a", "z"]


def test_free_text_is_left_out_with_the_option_that_keeps_it(table_of):
    table = table_of("a,b\n1,x y\n2,y z\n3,z u\n")
    assert table.feature_names.tolist() == ["a"]
    (finding,) = table.report.findings
    assert (finding.kind, finding.features, finding.option) == ("left out", ("b",), "--keep b")


def test_identifiers_too_long_for_a_number_are_left_out(table_of):
    ids = "".join(f"{1_700_000_000_000_000_000 + 37 * i},{i % 4},{i * i}\n" for i in range(40))
    table = table_of("order_id,a,b\n" + ids)
    assert table.feature_names.tolist() == ["a", "b"]
    assert "'order_id' (numbers that have over 15 digits, as identifiers do; to use it: --keep order_id)" in told(table)


def test_a_stray_word_far_down_takes_its_feature_out(table_of):
    text = "x,a,b\n" + "q,1,2\n" * 3000 + "q,1,oops\n"
    table = table_of(text, drop=("x",))
    assert table.feature_names.tolist() == ["a"]
    (finding,) = table.report.findings
    assert (finding.text, finding.option) == ("numbers mixed with 'oops'", "--na-values oops")
    assert np.isnan(table_of(text, drop=("x",), na_values=("oops",)).X[-1, 1])


def test_many_blocks_give_the_same_numbers_as_one(table_of, rng, monkeypatch):
    X = rng.standard_normal((500, 30))
    text = ",".join(f"g{i}" for i in range(30)) + "\n" + "\n".join(",".join(map(repr, row)) for row in X.tolist())
    monkeypatch.setattr("tamis.io.readers.text.BLOCK_BYTES", 4096)
    np.testing.assert_array_equal(table_of(text).X, X)


def test_progress_reaches_the_end_of_the_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "1,2\n" * 1000)
    told = []
    read(path, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (path.stat().st_size, path.stat().st_size)
    assert told == sorted(told)


def test_missing_cells_are_counted_and_named(table_of):
    table = table_of("a,b\n1,\n2,NA\n3,4\n4,5\n5,6\n")
    assert (table.report.missing_cells, table.report.missing_features) == (2, ("b",))
    assert np.isnan(table.X[:, 1]).tolist() == [True, True, False, False, False]


ROWS = "".join(f"s{i},{i}.5,{i * i},{'' if i == 3 else i},{'x' if i % 2 else 'y'}\n" for i in range(9))


@pytest.mark.parametrize(
    ("content", "request_"),
    [
        ("id,a,b,c,d\n" + ROWS, {"index": "id"}),
        ("id,a,b,c,d\n" + ROWS, {"drop": ("id", "d")}),
        ("id,a,b,c,d\n" + ROWS.replace("\n", "\r\n"), {"index": "id", "labels": "d"}),
        ("a,b\n" + "1,2.5\n3,4\n" * 50 + "5,oops\n", {}),
        ('"a","b"\n"1,5",2\n"2,5",3\n"4,5",7', {}),
        ("a;b\n1,5;2\n2,5;3\n", {}),
        ("# made\na\tb\n1\t2\n\n3\t4\n", {}),
        ("a,b\n1,2\n" + "3,4\n" * 80 + "7,NA\n", {}),
        ("a,b\r1,2\r3,5\r4,9\r6,6\r5,5\r", {}),
    ],
    ids=["index", "dropped", "windows", "stray", "quoted", "comma", "preamble", "gaps", "macintosh"],
)
def test_wide_tables_are_read_as_others(table_of, monkeypatch, content, request_):
    usual = table_of(content, **request_)
    monkeypatch.setattr("tamis.io.readers.text.WIDE", 2)
    wide = table_of(content, **request_)
    np.testing.assert_array_equal(usual.X, wide.X)
    assert usual.feature_names.tolist() == wide.feature_names.tolist()
    assert usual.report == wide.report
    assert (str(usual.sample_names), str(usual.y)) == (str(wide.sample_names), str(wide.y))


def test_a_ragged_line_of_a_wide_table_is_named(table_of, monkeypatch):
    monkeypatch.setattr("tamis.io.readers.text.WIDE", 2)
    with pytest.raises(TableError, match="the line '3' has 1 cell, but the first line of the table has 2"):
        table_of("a,b\n" + "1,2\n" * 80 + "3\n")


@pytest.mark.parametrize("name", ["plain", "two words", "a,b", 'a "b"', "first\nsecond", "it's", "-k"])
def test_a_name_in_an_option_is_the_same_after_the_shell(name):
    assert split(shlex.split(shell_word(name, "other"))) == (name, "other")
