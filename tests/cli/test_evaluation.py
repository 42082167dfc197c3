import json

import pytest

from tamis.cli import evaluation

SMALL = ["--random", "4"]


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
    assert set(document["verdict"]) == {"trusted", "reasons"}


def test_a_good_list_beats_random_ones(run, table_file, roles):
    result = run("evaluate", table_file, "-f", "signal_0,signal_1", *roles, "--random", 9)
    rows = {line.split("\t")[0]: line.split("\t") for line in result.stdout.splitlines()}
    assert rows["accuracy"][-1] in ("7 of 9", "8 of 9", "9 of 9")
    assert "This selection can be trusted." in result.stderr
    noise = run("evaluate", table_file, "-f", "nuisance_0,nuisance_1", *roles, "--random", 2)
    assert "Do not trust this selection." in noise.stderr


def test_the_same_features_in_another_order_are_no_better(run, table_file):
    names = table_file.read_text().partition("\n")[0].split(",")[1:-1]
    result = run("evaluate", table_file, "-f", ",".join(names), "--index", "id", "--drop", "cluster", "--json", *SMALL)
    lists = json.loads(result.stdout)["random_lists"]
    assert [scores["better_than"] for scores in lists.values()] == [0] * len(lists)


def test_labels_that_differ_in_every_row_are_noticed(run, table_file):
    result = run("evaluate", table_file, "-f", "signal_0,signal_1", "--labels", "id", "--random", 1)
    assert "different labels in" in result.stderr
    assert "so that accuracy tells nothing; if another feature holds them, pass --labels." in result.stderr


def test_a_text_file_lists_one_feature_a_line(tmp_path):
    (tmp_path / "list.txt").write_text("a\nb\n\na\n")
    assert evaluation.listed_features(str(tmp_path / "list.txt")) == ("a", "b")


@pytest.mark.parametrize("entry", ["", ",", "empty.txt", "empty.csv"])
def test_a_list_of_nothing_is_refused(entry, table_file, run, tmp_path):
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "empty.csv").write_text("rank,feature\n")
    found = run("evaluate", table_file.name, "-f", entry)
    assert found.exit_code == 2
    assert f"{entry!r} lists no features; pass a,b,c, or a file with one a line." in found.stderr


def test_names_with_line_breaks_come_back_from_a_list(run, tmp_path, rng):
    lines = [",".join(f"{value:.3f}" for value in row) for row in rng.standard_normal((20, 3))]
    (tmp_path / "t.csv").write_text("\n".join(['"Height\n(cm)","Weight\n(kg)",age', *lines]))
    assert run("select", "t.csv", "-k", 2, "-m", "variance", "--must-keep", '"Height\n(cm)"').exit_code == 0
    found = run("evaluate", "t.csv", "-f", "t-tamis/selected.csv", "--random", 2)
    assert found.exit_code == 0, found.stderr
