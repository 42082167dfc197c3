import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from tamis.io.errors import TableError
from tamis.io.readers import Request, read


@pytest.fixture
def rows(rng):
    return rng.integers(1, 50, (12, 3))


def write(path, rows, first=(), last=(), header="name,a,b,c"):
    lines = [f"s{i},{','.join(map(str, row))}" for i, row in enumerate(rows)]
    path.write_text("\n".join([header, *first, *lines, *last]) + "\n")
    return path


@pytest.mark.parametrize(
    "word", ["Total", "TOTAL:", "Grand total", "Summe", "Gesamt", "Totale", "итого", "subtotal", "Total (n=12)"]
)
def test_a_row_that_says_total_is_no_sample(rows, tmp_path, word):
    line = [f"{word},,700,800"]
    for which, more in (("first", {"first": line}), ("last", {"last": line})):
        table = read(write(tmp_path / "t.csv", rows, **more), Request(index="name"))
        np.testing.assert_array_equal(table.X, rows)
        assert len(table.sample_names) == 12
        told = (
            f"the {which} row holds totals, as '{word}' and its numbers show, and was passed over (else --keep-totals)"
        )
        assert told in " ".join(table.report.lines())
    assert read(tmp_path / "t.csv", Request(index="name", keep_totals=True)).shape[0] == 13
    assert read(tmp_path / "t.csv", Request(only=("b", "c"))).shape == (12, 2)


def test_words_that_other_rows_have_too_are_no_totals(tmp_path):
    lines = [f"{word},{i}" for i, word in enumerate(["part", "total"] * 10)]
    (tmp_path / "t.csv").write_text("\n".join(["paid,a", *lines]) + "\n")
    assert read(tmp_path / "t.csv").shape[0] == 20


def test_totals_of_sheets_and_of_very_wide_files(rows, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [
        ["name", "a", "b", "c"],
        *([f"s{i}", *map(int, row)] for i, row in enumerate(rows)),
        ["Total", 100, 200, 300],
    ]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    np.testing.assert_array_equal(read(tmp_path / "t.xlsx").X, rows)
    wide, names = np.tile(rows, 1500), ",".join(f"f{i}" for i in range(4500))
    total = ["Total," + ",".join(["100"] * 4500)]
    path = write(tmp_path / "wide.csv", wide, last=total, header=f"name,{names}")
    assert read(path, Request(index="name")).shape == (12, 4500)


def test_rows_to_skip_are_counted_as_in_the_sheet(rows, tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [["Title"], [], ["a", "b", "c"], *rows.tolist()]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    for request in (Request(), Request(skip_rows=2)):
        table = read(tmp_path / "t.xlsx", request)
        assert table.feature_names.tolist() == ["a", "b", "c"]
        np.testing.assert_array_equal(table.X, rows)


def test_a_name_that_means_total_is_a_sample_if_its_numbers_are_like_the_others(rows, tmp_path):
    path = write(tmp_path / "t.csv", rows, last=["Total,20,21,22"])
    assert read(path, Request(index="name")).shape[0] == 13


def test_a_grand_total_may_follow_a_subtotal(rows, tmp_path):
    path = write(tmp_path / "t.csv", rows, last=["Subtotal,600,600,600", "Grand total,600,600,601"])
    assert read(path, Request(index="name")).shape[0] == 12


@pytest.mark.parametrize("header", ["name,a,b,c", "name, a, b, c"])
def test_the_header_again_is_no_sample(rows, tmp_path, header):
    table = read(write(tmp_path / "t.csv", rows, last=[header, "s12,1,2,3"], header=header))
    np.testing.assert_array_equal(table.X, [*rows, [1, 2, 3]])
    assert "1 row with the names of the header again passed over" in " ".join(table.report.lines())


@pytest.mark.parametrize(
    ("above", "below", "word"),
    [
        ("name,a,b,c", ["-,cm,kg,s"], "cm"),
        ("name,a,b,c", [",cm,,"], "cm"),
        ("name,a,b,c", ["Who?,How tall?,How heavy?,How old?", "ImportId 1,ImportId 2,ImportId 3,ImportId 4"], "Who?"),
        (",Body,,Age", ["name,a,b,c"], "Body"),
        ("Who,Body,Body,Age", ["name,a,b,c", ",kg,m,s"], "Who"),
    ],
    ids=["units", "one unit", "survey", "groups", "groups and units"],
)
def test_words_above_numbers_are_no_sample(rows, tmp_path, above, below, word):
    path = write(tmp_path / "t.csv", rows, first=below, header=above)
    table = read(path)
    assert table.feature_names.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(table.X, rows)
    told = " ".join(table.report.lines())
    assert f"beside the header passed over, with words such as '{word}' above numbers (else --skip-rows)" in told


def test_units_can_be_the_names(rows, tmp_path):
    path = write(tmp_path / "t.csv", rows, first=["-,cm,kg,s"])
    assert read(path, Request(skip_rows=1, header=True)).feature_names.tolist() == ["cm", "kg", "s"]


def test_a_first_sample_with_words_beside_numbers_is_kept(rows, tmp_path):
    path = write(tmp_path / "t.csv", rows, first=["s,failed,3,failed"])
    assert read(path).shape == (13, 1)
    assert read(path, Request(na_values=("failed",))).shape == (13, 3)


@pytest.mark.parametrize("name", ["no", "pk", "order number"])
@pytest.mark.parametrize("first", [0, 1])
def test_row_numbers_are_left_out_whatever_their_name(rows, tmp_path, name, first):
    lines = [f"{i + first},{','.join(map(str, row))}" for i, row in enumerate(rows)]
    (tmp_path / "t.csv").write_text("\n".join([f"{name},a,b,c", *lines]) + "\n")
    table = read(tmp_path / "t.csv")
    assert table.feature_names.tolist() == ["a", "b", "c"]
    assert "it counts the rows; to use it: --keep" in " ".join(table.report.lines())
    assert read(tmp_path / "t.csv", Request(keep=(name,))).shape == (12, 4)


@pytest.mark.parametrize("text", ['{"a": {"0": 1, "1": 2}}', '{"data": [\n{"a": 1},\n{"a": 2}]}'])
def test_other_layouts_of_json_are_refused(tmp_path, text):
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(TableError, match="save records, such as"):
        read(tmp_path / "t.json")


@pytest.mark.parametrize("option", ["sheet", "key"])
def test_parts_are_not_named_of_files_that_have_none(rows, tmp_path, option):
    with pytest.raises(TableError, match=f"--{option} names a part of .* files; leave it out"):
        read(write(tmp_path / "t.csv", rows), Request(**{option: "x"}))


@pytest.mark.parametrize("names", ["NA,K,p2", "inf,K,p2", "K,nan,null"])
def test_names_that_look_like_missing_cells_are_names_beside_words(rows, tmp_path, names):
    lines = [",".join(map(str, row)) for row in rows]
    (tmp_path / "t.csv").write_text("\n".join([names, *lines]) + "\n")
    assert read(tmp_path / "t.csv").feature_names.tolist() == names.split(",")


def save_as(path, table):
    if path.suffix == ".json":
        path.write_text(json.dumps(table.to_pylist()))
    else:
        {".parquet": parquet.write_table, ".feather": feather.write_feather}[path.suffix](table, path)
    return path


@pytest.mark.parametrize("ending", ["json", "parquet", "feather"])
@pytest.mark.parametrize("text", [pa.string(), pa.dictionary(pa.int32(), pa.string())], ids=["text", "codes"])
def test_totals_of_records_and_of_columns(rows, tmp_path, ending, text):
    names = pa.array([*(f"s{i}" for i in range(12)), "Total"]).cast(text)
    columns = {name: [*map(int, values), 900] for name, values in zip("abc", rows.T, strict=True)}
    path = save_as(tmp_path / f"t.{ending}", pa.table({"name": names} | columns))
    table = read(path, Request(index="name"))
    np.testing.assert_array_equal(table.X, rows)
    assert "the last row holds totals, as 'Total' and its numbers show" in " ".join(table.report.lines())
    assert read(path, Request(index="name", keep_totals=True)).shape[0] == 13


def test_columns_of_any_type_do_not_hide_totals(rows, tmp_path):
    days = pa.array([*range(12), None], pa.int32()).cast(pa.date32())
    columns = {"day": days, "list": [[1]] * 13, "name": pa.array([*"abcdefghijkl", "Sum"], pa.large_string())}
    path = save_as(tmp_path / "t.parquet", pa.table(columns | {"a": [*map(float, rows[:, 0]), 900.0]}))
    assert read(path).shape == (12, 2)


@pytest.mark.parametrize("kind", ["number", "time"])
def test_what_grows_evenly_with_the_rows_is_no_feature(tmp_path, rng, kind):
    starts = {
        "number": [f"{17 + 3 * i}" for i in range(40)],
        "time": [f"2024-03-01 {i // 4:02}:{i % 4 * 15:02}" for i in range(40)],
    }
    lines = [
        f"{start},{a:.3f},{b:.3f}" for start, (a, b) in zip(starts[kind], rng.standard_normal((40, 2)), strict=True)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["at,a,b", *lines]))
    table = read(tmp_path / "t.csv")
    assert table.feature_names.tolist() == ["a", "b"]
    assert "it grows evenly with the rows, as clocks do; to use it: --keep at" in " ".join(table.report.lines())
    assert read(tmp_path / "t.csv", Request(keep=("at",))).feature_names.tolist() == ["at", "a", "b"]
