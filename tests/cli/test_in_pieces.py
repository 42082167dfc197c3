import anndata
import numpy as np
import pandas
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy.sparse import csr_matrix

from tamis.io.errors import TableError
from tamis.io.readers import Request, read


@pytest.fixture
def stored(blobs, tmp_path):
    """The planted table as a sparse .h5ad file with labels, and as a folder of Parquet files."""
    cells = pandas.Index([f"c{i}" for i in range(90)], dtype=object)
    kinds = pandas.Categorical.from_codes(blobs.labels, pandas.Index(["a", "b", "c"], dtype=object))
    var = pandas.DataFrame(index=pandas.Index(blobs.names, dtype=object))
    positive = np.maximum(blobs.X, 0)
    adata = anndata.AnnData(csr_matrix(positive), pandas.DataFrame({"kind": kinds}, index=cells), var)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    adata.write_zarr(tmp_path / "cells.zarr")
    columns = {"id": cells.tolist()} | {name: positive[:, i] for i, name in enumerate(blobs.names)}
    (tmp_path / "parts").mkdir()
    for part, rows in enumerate((slice(0, 50), slice(50, 90))):
        parquet.write_table(pa.table({k: v[rows] for k, v in columns.items()}), tmp_path / "parts" / f"{part}.parquet")
    np.save(tmp_path / "plain.npy", positive)
    return tmp_path


PLACES = {
    "cells.h5ad": (["--labels", "kind"], "cells-selected.h5ad"),
    "cells.zarr": (["--labels", "kind"], "cells-selected.h5ad"),
    "parts": (["--index", "id"], "parts-selected.parquet"),
    "plain.npy": ([], "plain-selected.npy"),
}


@pytest.mark.parametrize("name", PLACES)
def test_the_same_features_are_chosen_whole_and_in_pieces(name, stored, run, quick_options):
    roles, reduced = PLACES[name]
    options = ["-k", 2, "-o", "out", *quick_options]
    found = run("select", name, *options, *roles, "--in-pieces")
    assert found.exit_code == 0, found.stderr
    whole = run("select", "cells.h5ad", "-k", 2, "-o", "whole", *quick_options, "--whole")
    if name == "plain.npy":
        assert [line.split("\t")[2] for line in found.stdout.splitlines()] == [
            line.split("\t")[2] for line in whole.stdout.splitlines()
        ]
    else:
        assert found.stdout == whole.stdout
    table = read(stored / "out" / reduced, Request(index="id") if name == "parts" else None)
    assert table.shape == (90, 2)
    expected = [f"feature_{i}" for i in range(2)] if name == "plain.npy" else None
    assert expected is None or table.feature_names.tolist() == expected


def test_annotations_of_the_cells_are_kept(stored, run, quick_options):
    run("select", "cells.h5ad", "-k", 2, "-o", "out", *quick_options, "--in-pieces")
    reduced = anndata.read_h5ad(stored / "out" / "cells-selected.h5ad")
    assert reduced.obs["kind"].tolist() == anndata.read_h5ad(stored / "cells.h5ad").obs["kind"].tolist()
    assert reduced.obs_names[0] == "c0"


def test_a_file_that_is_large_for_the_memory_is_read_in_pieces_and_that_is_said(
    stored, run, quick_options, monkeypatch
):
    monkeypatch.setattr("tamis.io.readers.streaming.SMALL", 0)
    monkeypatch.setattr("tamis.io.memory.free_memory", lambda: 1000)
    found = run("select", "cells.h5ad", "-k", 2, *quick_options)
    assert "note: cells.h5ad is large for the free memory and is read in pieces." in found.stderr
    assert found.exit_code == 0
    assert "in pieces" not in run("select", "cells.h5ad", "-k", 2, *quick_options, "--whole").stderr


def test_counts_are_scaled_and_logarithmised_the_same_way(stored):
    options = {"scale": True, "log1p": True, "drop": ("nuisance_*",)}
    pieces, whole = (read(stored / "cells.h5ad", Request(in_pieces=way, **options)) for way in (True, False))
    assert pieces.in_pieces
    assert not whole.in_pieces
    assert pieces.feature_names.tolist() == whole.feature_names.tolist()
    np.testing.assert_allclose(pieces.X[:].toarray(), whole.X.toarray(), rtol=1e-6)


def test_labels_and_names_are_read(stored, blobs):
    table = read(stored / "cells.zarr", Request(labels="kind"))
    assert table.y.tolist() == ["abc"[label] for label in blobs.labels]
    assert table.sample_names[:2].tolist() == ["c0", "c1"]
    parts = read(stored / "parts", Request(index="id"))
    assert parts.sample_names[-1] == "c89"


def test_apply_and_evaluate_take_folders(stored, run, quick_options):
    run("select", "cells.h5ad", "-k", 2, "-o", "out", *quick_options)
    done = run("apply", "out/selector.tamis", "parts", "--index", "id", "-o", "small.parquet")
    assert "90 samples with 2 features" in done.stdout + done.stderr
    scoring = ["-f", "signal_0,signal_1", "--random", 2]
    assert run("evaluate", "parts", "--index", "id", *scoring).exit_code == 0


@pytest.mark.parametrize(
    ("name", "request_", "sentence"),
    [
        (
            "cells.h5ad",
            Request(in_pieces=True, labels="type"),
            "--labels names 'type', which is not a column of obs; there",
        ),
        ("cells.zarr", Request(transpose=True), "has its samples in rows; leave --transpose out"),
        ("cells.h5ad", Request(in_pieces=True, drop=("*",)), "no feature is left to select from"),
        ("cells.h5ad", Request(in_pieces=True, key="raw"), "holds no matrix 'raw'; there are X"),
    ],
)
def test_what_cannot_be_done_is_said(name, request_, sentence, stored):
    with pytest.raises(TableError, match=sentence):
        read(stored / name, request_)


def test_a_gap_in_the_last_rows_is_named_with_its_place(stored, blobs, run):
    X = blobs.X.copy()
    X[89, 3] = np.nan
    np.save(stored / "gap.npy", X)
    found = run("select", "gap.npy", "-k", 2, "--in-pieces")
    assert found.exit_code == 2
    assert "gap.npy: 1 cell of 'feature_3' missing or infinite, the first in row 89; a table that is" in found.stderr
    assert not (stored / "gap-tamis").exists()


def test_a_checkpoint_is_kept_and_used(stored, run, quick_options):
    options = ["select", "cells.h5ad", "-k", 2, *quick_options, "--checkpoint", "state"]
    first = run(*options)
    assert (stored / "state" / "fit.checkpoint").exists()
    assert run(*options).stdout == first.stdout
    refused = run(*options, "--seed", 1)
    assert refused.exit_code == 2
    assert "state/fit.checkpoint is the checkpoint of another fit: seed was" in refused.stderr


def test_text_among_parts_is_left_out_with_a_word(stored):
    table = read(stored / "parts", Request())
    assert "id" not in table.feature_names
    assert [(found.kind, found.features) for found in table.report.findings] == [("left out", ("id",))]


def test_identifiers_are_left_out_whole_and_in_pieces(tmp_path, rng):
    columns = {"patient_id": rng.permutation(40) + 100, "row": np.arange(1, 41), "line": np.arange(40)}
    columns |= {"a": rng.standard_normal(40), "late": [*range(20), *range(20)], "flag": rng.integers(0, 2, 40) > 0}
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=15)
    for keep, names in (((), ["a", "late", "flag"]), (("l*", "row"), ["row", "line", "a", "late", "flag"])):
        for in_pieces in (True, False):
            table = read(tmp_path / "t.parquet", Request(keep=keep, in_pieces=in_pieces))
            assert table.feature_names.tolist() == names
            assert "'patient_id' (numbers that differ in every row, as identifiers do" in table.report.lines()[1]
    with pytest.raises(TableError, match="--keep names 'rows', which is not a feature of the file; did you mean 'row'"):
        read(tmp_path / "t.parquet", Request(keep=("rows",), in_pieces=True))


def test_identifiers_that_were_selected_are_read_in_pieces(tmp_path, rng):
    parquet.write_table(pa.table({"id": rng.permutation(40), "a": rng.standard_normal(40)}), tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet", Request(only=("id",), in_pieces=True)).shape == (40, 1)


def test_the_index_of_pandas_names_the_samples_in_pieces_too(tmp_path, rng):
    index = rng.permutation(40) + 100
    pandas.DataFrame({"a": rng.standard_normal(40)}, index=index).to_parquet(tmp_path / "t.parquet")
    for in_pieces in (True, False):
        table = read(tmp_path / "t.parquet", Request(in_pieces=in_pieces))
        assert table.feature_names.tolist() == ["a"]
        assert table.sample_names.tolist() == [str(name) for name in index]


def test_a_table_of_identifiers_and_words_is_refused_in_pieces(tmp_path):
    parquet.write_table(pa.table({"id": range(20), "a": ["x", "y"] * 10}), tmp_path / "t.parquet")
    told = "no feature is left to select from: 'id' .it counts the rows; to use it: --keep id.; 'a' .not numbers"
    with pytest.raises(TableError, match=told):
        read(tmp_path / "t.parquet", Request(in_pieces=True))


def test_a_feature_that_is_named_like_a_label_is_told_in_pieces(tmp_path, rng):
    parquet.write_table(pa.table({name: rng.standard_normal(40) for name in "axy"}), tmp_path / "t.parquet")
    lines = [read(tmp_path / "t.parquet", Request(in_pieces=way)).report.lines()[-1] for way in (True, False)]
    assert (
        lines[0]
        == lines[1]
        == ("Note: 'y' is named like a label and is used as a feature; if it is a label, pass --labels y.")
    )
