import json

import pytest

from tamis.cli import evaluation

SMALL = ["--random", "4", "--resamples", "2"]


@pytest.fixture
def selected(run, table_file, roles, tmp_path):
    run("select", table_file, "-k", 3, "-m", "structure-pursuit", "-o", "chosen", *roles)
    return tmp_path / "chosen"


@pytest.mark.parametrize("form", ["selected.csv", "selector.tamis", "names"])
def test_evaluate_takes_any_list(run, table_file, roles, selected, form):
    names = [line.split(",")[1] for line in (selected / "selected.csv").read_text().splitlines()[1:]]
    entry = ",".join(names) if form == "names" else selected / form
    result = run("evaluate", table_file, "-f", entry, "--json", *roles, *SMALL)
    document = json.loads(result.stdout)
    assert document["features"] == names
    assert set(document["scores"]) == {"explained", "smoothness", "redundancy", "accuracy"}
    assert document["random_lists"]["explained"]["lists"] == 4
    assert 0 <= document["stability"]["resamples_better_than_random"] <= 1


def test_a_good_list_beats_random_ones(run, table_file, roles):
    result = run("evaluate", table_file, "-f", "signal_0,signal_1", *roles, "--random", 9, "--resamples", 2)
    rows = {line.split("\t")[0]: line.split("\t") for line in result.stdout.splitlines()}
    assert rows["accuracy"][-1] in ("7 of 9", "8 of 9", "9 of 9")
    assert "Stability: on 100%" in result.stderr


def test_refits_tell_how_far_a_method_agrees_with_itself(run, table_file, roles, selected):
    result = run("evaluate", table_file, "-f", selected / "selector.tamis", "--refits", 2, *roles, *SMALL)
    assert "Refits on halves overlap by" in result.stderr


def test_a_text_file_lists_one_feature_a_line(tmp_path):
    (tmp_path / "list.txt").write_text("a\nb\n\na\n")
    assert evaluation.listed_features(str(tmp_path / "list.txt")) == (("a", "b"), None)
