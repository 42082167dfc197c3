"""Whatever marks a table is written with, its numbers are read as meant, or asked for, or left out: never otherwise."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tamis.io.errors import TableError
from tamis.io.readers import Request, read
from tamis.io.readers.numbers import read_numbers

VALUES = st.lists(st.decimals(-99999, 99999, places=3), min_size=4, max_size=8)


def written(value, digits, decimal, thousands):
    text = f"{value:,.{digits}f}" if thousands else f"{value:.{digits}f}"
    return text.replace(",", "_").replace(".", decimal).replace("_", thousands)


def read_or_none(path):
    """Read a table; None if its marks are asked for."""
    try:
        return read(path, Request())
    except TableError as error:
        if "may be a decimal or a thousands mark" in str(error) or "no feature is left" in str(error):
            return None
        raise


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(VALUES, min_size=2, max_size=3),
    st.integers(0, 3),
    st.sampled_from([(".", ""), (",", ""), (".", ","), (",", "."), (",", " "), (".", "'")]),
    st.sampled_from([";", "\t", "|", ","]),
)
def test_numbers_are_never_read_as_others(tmp_path, columns, digits, marks, sep):
    # Where a comma parts the cells, a point alone is the decimal mark by custom.
    assume((sep, marks, digits) != (",", (",", "."), 0))
    rows = list(zip(*columns, strict=False))
    cells = [[written(value, digits, *marks) for value in row] for row in rows]
    quote = '"' if sep in "".join(map("".join, cells)) else ""
    lines = [sep.join(f"{quote}{cell}{quote}" for cell in row) for row in cells]
    names = [f"x{i}" for i in range(len(columns))]
    (tmp_path / "t.csv").write_text("\n".join([sep.join(names), *lines]) + "\n")
    table = read_or_none(tmp_path / "t.csv")
    if table is None:
        return
    truth = np.array([[float(f"{value:.{digits}f}") for value in row] for row in rows])
    for place, name in enumerate(table.feature_names):
        np.testing.assert_allclose(table.X[:, place], truth[:, names.index(name)])


@pytest.mark.parametrize(
    ("cells", "decimal", "expected"),
    [
        (["1,234.5", None], None, [1234.5, np.nan]),
        (["1.234,5"], None, [1234.5]),
        (["45%", "3 %"], None, [0.45, 0.03]),
        (["($1,234.50)", "$2"], None, [-1234.5, 2]),
        (["-€5,00", "7 €"], None, [-5, 7]),
        (["1\u202f234,5"], None, [1234.5]),
        (["−5", "–6"], None, [-5, -6]),
        (["74,224"], ",", [74.224]),
        (["74,224"], ".", [74224]),
        (["1e5", "+3", ".5"], None, [1e5, 3, 0.5]),
        (["1,5E3", "2,25E3"], None, [1500, 2250]),
        (["1e5", "3e5"], None, [1e5, 3e5]),
    ],
)
def test_numbers_as_people_write_them(cells, decimal, expected):
    np.testing.assert_allclose(read_numbers(pa.array(cells), decimal).values, expected)


@pytest.mark.parametrize(
    "cells", [["1,23,456"], ["1.5,3"], ["12.34.5"], ["5%", "3"], ["$5", "€5"], ["1,5", "2.5"], ["5 kg"]]
)
def test_what_is_no_number_is_none(cells):
    assert read_numbers(pa.array(cells), None).values is None


@pytest.mark.parametrize("cell", ["74,224", "74.224", "€1.234", "-1,000"])
def test_marks_that_could_be_either_are_not_guessed(cell):
    found = read_numbers(pa.array([cell, "5"]), None)
    assert (found.values, found.undecided) == (None, cell)
