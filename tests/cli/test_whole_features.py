"""Categories are chosen or left as wholes, and k counts features of the file."""

import csv
import json

import numpy as np
import pytest

from tamis.io.readers import Request, read


@pytest.fixture
def mixed(tmp_path):
    """A table whose second feature is a category of four levels."""
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal():.3f},{level},{rng.normal() / 9:.3f},{i % 2}" for i, level in enumerate("pqrs" * 10)]
    (tmp_path / "t.csv").write_text("\n".join(["a,kind,b,c", *rows]))
    return tmp_path / "t.csv"


def test_the_table_says_which_encoded_features_belong_together(mixed):
    table = read(mixed)
    assert table.feature_names.tolist() == ["a", "kind=p", "kind=q", "kind=r", "kind=s", "b", "c"]
    assert table.groups.tolist() == ["a", "kind", "kind", "kind", "kind", "b", "c"]
    assert table.original_names == ["a", "kind", "b", "c"]
    assert table.positions(["kind", "b"], "--drop").tolist() == [1, 2, 3, 4, 5]


def test_select_lists_features_of_the_file(run, mixed, tmp_path):
    result = run("select", mixed, "-k", 3, "-m", "variance", "-o", "out", "--json")
    document = json.loads(result.stdout)
    names = [entry["feature"] for entry in document["selected"]]
    assert names == ["a", "c", "kind"]
    with (tmp_path / "out/features.csv").open() as lines:
        assert [row["feature"] for row in csv.DictReader(lines)] == ["a", "c", "kind", "b"]
    reduced = (tmp_path / "out/t-selected.csv").read_text().splitlines()
    assert reduced[0] == '"a","kind","c"'
    assert [line.split(",")[1] for line in reduced[1:5]] == ['"p"', '"q"', '"r"', '"s"']


@pytest.mark.parametrize("shape", ["2x2", "7x1"])
def test_levels_of_categories_are_no_pixels(run, mixed, shape):
    refused = run("select", mixed, "-k", 2, "-m", "variance", "--image-shape", shape)
    assert refused.exit_code == 2
    assert "--image-shape takes a table of pixels, and this one holds categories; leave it out." in refused.stderr
    assert "Read:" not in refused.stderr


def test_lists_of_the_user_name_whole_features(run, mixed):
    options = ["-k", 2, "-m", "variance", "--must-keep", "kind", "--never", "a", "-o", "out", "--json"]
    document = json.loads(run("select", mixed, *options).stdout)
    assert [entry["feature"] for entry in document["selected"]] == ["kind", "c"]
    refused = run("select", mixed, "-k", 4, "-m", "variance", "--never", "a", "-o", "out")
    assert "only 3 of the 4 features can be selected" in refused.stderr


def test_apply_knows_the_levels_of_the_saved_selector(run, mixed, tmp_path):
    run("select", mixed, "-k", 3, "-m", "variance", "-o", "out")
    new = tmp_path / "new.csv"
    new.write_text("kind,c,a,b,more\n" + "q,1,2.5,3,x\nz,2,3.5,4,y\nq,2,4.5,5,z\nq,1,1.5,6,z\n" * 5)
    applied = run("apply", "out/selector.tamis", new, "-o", "small.csv")
    assert applied.exit_code == 0, applied.stderr
    assert (tmp_path / "small.csv").read_text().splitlines()[:2] == ['"a","kind","c"', '2.5,"q",1']


@pytest.mark.parametrize(
    ("cells", "reason"), [("", "it has no value at all"), ("2.5,3.5,bad", "holds text such as 'bad' now")]
)
def test_apply_takes_all_selected_features_or_none(run, mixed, tmp_path, cells, reason):
    run("select", mixed, "-k", 3, "-m", "variance", "-o", "out")
    found = (cells.split(",") * 20)[:20]
    (tmp_path / "new.csv").write_text("kind,c,a\n" + "".join(f"q,{i % 3},{cell}\n" for i, cell in enumerate(found)))
    refused = run("apply", "out/selector.tamis", "new.csv", "-o", "small.csv")
    assert refused.exit_code == 2
    assert "the selected feature 'a' cannot be taken: it " in refused.stderr
    assert reason in refused.stderr
    assert not (tmp_path / "small.csv").exists()


def test_apply_names_features_that_are_missing_and_not_their_levels(run, mixed):
    run("select", mixed, "-k", 3, "-m", "variance", "-o", "out")
    mixed.write_text("a,b\n1,2\n")
    refused = run("apply", "out/selector.tamis", mixed, "-o", "small.csv")
    assert "2 of the 3 selected features are not in the file: 'kind', 'c'; the features are 'a', 'b'." in refused.stderr


def test_one_sample_with_one_feature_is_told_so(run, mixed, tmp_path):
    run("select", mixed, "-k", 1, "-m", "variance", "-o", "out")
    (tmp_path / "new.csv").write_text("kind,c,a,b\nq,1,2.5,3\n")
    assert "1 sample with 1 feature: new-selected.csv" in run("apply", "out/selector.tamis", "new.csv").stderr
    refused = run("select", mixed, "-k", 1, "-m", "variance", "--n-init", 3)
    assert "the method variance has no parameter 'n_init'; it has none." in refused.stderr


def test_levels_are_encoded_as_asked_for(tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("kind,c,a,b\n" + "q,1,2.5,3\nz,2,3.5,4\n" * 5)
    table = read(new, Request(only=("a", "kind=p", "kind=q", "b")))
    assert table.feature_names.tolist() == ["a", "kind=p", "kind=q", "b"]
    assert table.X[:2].tolist() == [[2.5, 0, 1, 3], [3.5, 0, 0, 4]]


def test_compare_and_curve_count_features_of_the_file(run, mixed):
    document = json.loads(run("curve", mixed, "-k", "1,4", "-m", "variance", "--json", "-o", "out").stdout)
    assert [len(entry["selected"]) for entry in document["entries"]] == [1, 4]
    run("select", mixed, "-k", 3, "-m", "variance", "-o", "chosen")
    scores = ["--random", 2]
    evaluated = run("evaluate", mixed, "-f", "chosen/selector.tamis", "--json", *scores)
    assert json.loads(evaluated.stdout)["features"] == ["a", "c", "kind"]
    assert "-k 5 asks for more than the 4 features" in run("compare", mixed, "-k", 5, "-o", "out").stderr
