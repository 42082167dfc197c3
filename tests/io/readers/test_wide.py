"""Tables with very many features are read as the others are, only another way."""

import numpy as np
import pytest

from tamis.io.errors import TableError
from tamis.io.readers import Request, read

HEADER = "id,a,b,c,d\n"
BODY = "".join(f"s{i},{i}.5,{i * i},{'' if i == 3 else i},{'x' if i % 2 else 'y'}\n" for i in range(9))


@pytest.fixture
def both(tmp_path, monkeypatch):
    """Read a file the usual way and the way of wide ones."""

    def make(content, **request):
        (tmp_path / "t.csv").write_bytes(content.encode())
        usual = read(tmp_path / "t.csv", Request(**request))
        monkeypatch.setattr("tamis.io.readers.text.WIDE", 2)
        monkeypatch.setattr("tamis.io.readers.wide.BLOCK_BYTES", 40)
        wide = read(tmp_path / "t.csv", Request(**request))
        monkeypatch.undo()
        return usual, wide

    return make


@pytest.mark.parametrize(
    ("content", "request_"),
    [
        (HEADER + BODY, {"index": "id"}),
        (HEADER + BODY, {"drop": ("id", "d")}),
        (HEADER + BODY.replace("\n", "\r\n"), {"index": "id", "labels": "d"}),
        ("a,b\n" + "1,2.5\n3,4\n" * 50 + "5,oops\n", {}),
        ('"a","b"\n"1,5",2\n"2,5",3\n"4,5",7', {}),
        ("a;b\n1,5;2\n2,5;3\n", {}),
        ("# made\na\tb\n1\t2\n\n3\t4\n", {}),
        ("a,b\n1,2\n" + "3,4\n" * 80 + "7,NA\n", {}),
    ],
    ids=["index", "dropped", "windows", "stray", "quoted", "comma", "preamble", "gaps"],
)
def test_both_ways_give_the_same_table(both, content, request_):
    usual, wide = both(content, **request_)
    np.testing.assert_array_equal(usual.X, wide.X)
    assert usual.feature_names.tolist() == wide.feature_names.tolist()
    assert usual.report == wide.report
    assert str(usual.sample_names) == str(wide.sample_names)
    assert str(usual.y) == str(wide.y)


def test_a_ragged_line_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("tamis.io.readers.text.WIDE", 2)
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 80 + "3\n")
    with pytest.raises(TableError, match="the line '3' has 1 cell, but the first line of the table has 2"):
        read(tmp_path / "t.csv")


def test_long_lines_are_read_whole(tmp_path, rng):
    X = rng.standard_normal((4, 30_000)).round(4)
    names = [f"gene_{i}" for i in range(30_000)]
    rows = [",".join(map(repr, row)) for row in X.tolist()]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *rows]))
    table = read(tmp_path / "t.csv")
    np.testing.assert_array_equal(table.X, X)
    assert table.feature_names.tolist() == names
