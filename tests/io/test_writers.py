"""Names in written files are tamis's own where users' names could do harm, and are checked before a fit."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from scipy import sparse

from tamis.cli.results import reduced_table
from tamis.io.readers import Request, Table, read
from tamis.io.writers import check_names, write_table

NAMES = np.array(["a", "b"], dtype=object)
LABELS = np.array(["x", "y", "z"], dtype=object)


def table(label_name, X=None):
    X = np.arange(6.0).reshape(3, 2) if X is None else X
    return Table(X, NAMES, None, LABELS, label_name=label_name)


@pytest.mark.parametrize("name", ["X", "feature_names", "file", "allow_pickle", "../../evil", "data", "label_name"])
@pytest.mark.parametrize("ending", [".npz", ".mat", ".h5"])
def test_labels_replace_no_data_whatever_they_are_called(name, ending, tmp_path):
    for X in (np.arange(6.0).reshape(3, 2), sparse.csr_array(np.arange(6.0).reshape(3, 2))):
        path = write_table(tmp_path / f"t{ending}", table(name, X))
        for wanted in ("labels", name):
            again = read(path, Request(labels=wanted, key="X" if ending == ".mat" else None))
            found = again.X.toarray() if sparse.issparse(again.X) else again.X
            np.testing.assert_array_equal(found, np.arange(6.0).reshape(3, 2))
            assert again.feature_names.tolist() == ["a", "b"]
            if wanted == "labels" or name not in ("X", "data", "feature_names", "label_name"):
                assert again.y.tolist() == ["x", "y", "z"]
                break
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"t{ending}"]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".tsv.gz"])
def test_a_name_for_two_things_is_refused_before_anything_is_written(ending, tmp_path):
    with pytest.raises(ValueError, match="'b' is the name of a feature and of the samples' names or labels; rename"):
        check_names(tmp_path / f"t{ending}", table("b"))
    with pytest.raises(ValueError, match="'b' is the name of a feature"):
        write_table(tmp_path / f"t{ending}", table("b"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["zero\0byte", "broken\udcff"])
def test_names_that_no_file_can_hold(name, tmp_path):
    with pytest.raises(ValueError, match="holds signs that no file can hold"):
        check_names(tmp_path / "t.csv", Table(np.eye(2), np.array(["a", name], dtype=object)))


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_columns_keep_their_types(tmp_path, rng, ending):
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, 40), "D")
    frame = pd.DataFrame({"count": rng.integers(0, 9, 40), "large": 2**53 + 1 + 2 * rng.integers(0, 99, 40)})
    frame = frame.assign(smoker=rng.random(40) < 0.5, day=days, sex=pd.Categorical(np.resize(["m", "f"], 40)))
    frame = frame.assign(gaps=pd.array([None, *range(39)], dtype="Int64"), label=rng.integers(0, 2, 40))
    path, small = tmp_path / f"t{ending}", tmp_path / f"small{ending}"
    frame.to_parquet(path) if ending == ".parquet" else frame.to_feather(path)
    read_arrow = parquet.read_table if ending == ".parquet" else feather.read_table
    stored = read_arrow(path)
    whole = read(path, Request(labels="label"))
    write_table(small, reduced_table(whole, whole.original_names, small), source=path)
    assert read_arrow(small).equals(stored)
    marked = read(path, Request(labels="label", na_values=("3",)))
    write_table(small, reduced_table(marked, marked.original_names, small), source=path)
    kinds = dict(zip(stored.column_names, map(str, stored.schema.types), strict=True))
    found = read_arrow(small)
    assert dict(zip(found.column_names, map(str, found.schema.types), strict=True)) == kinds | {
        "count": "double",
        "gaps": "double",
    }
    assert found["count"].null_count == (frame["count"] == 3).sum()


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
@pytest.mark.parametrize("kind", [["x", None, "y"], [1, None, 2], [True, None, False]])
def test_labels_with_gaps_keep_their_type(tmp_path, ending, kind):
    stored = pa.table({"a": np.arange(9.0), "b": np.arange(9.0) ** 2, "label": kind * 3})
    path, small = tmp_path / f"t{ending}", tmp_path / f"small{ending}"
    write, read_again = {
        ".parquet": (parquet.write_table, parquet.read_table),
        ".feather": (feather.write_feather, feather.read_table),
    }[ending]
    write(stored, path)
    write_table(small, read(path, Request(labels="label")), source=path)
    assert read_again(small).equals(stored)
