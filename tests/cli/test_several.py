import json

import pytest

from tamis.cli import scoring


@pytest.fixture
def selected(run, table_file, roles, quick_options, tmp_path):
    run("select", table_file, "-k", 3, "-o", "chosen", *roles, *quick_options)
    return tmp_path / "chosen"


SMALL = ["--random", "4", "--resamples", "2"]


@pytest.mark.parametrize("form", ["selected.csv", "selector.tamis", "names"])
def test_evaluate_takes_any_list(run, table_file, roles, selected, form):
    names = [line.split(",")[1] for line in (selected / "selected.csv").read_text().splitlines()[1:]]
    entry = ",".join(names) if form == "names" else selected / form
    result = run("evaluate", table_file, "-f", entry, "--json", *roles, *SMALL)
    document = json.loads(result.stdout)
    assert document["features"] == names
    assert set(document["scores"]) == {"explained", "smoothness", "J", "redundancy", "accuracy"}
    assert document["random_lists"]["J"]["lists"] == 4
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
    assert scoring.listed_features(str(tmp_path / "list.txt")) == (("a", "b"), None)


def test_curve_suggests_a_size(run, table_file, roles, quick_options, tmp_path):
    result = run("curve", table_file, "-k", "1,2,4", "-o", "out", *roles, *quick_options)
    assert result.exit_code == 0, result.stderr
    assert [line.split("\t")[0] for line in result.stdout.splitlines()] == ["k", "1", "2", "4"]
    assert "Suggested: k = " in result.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        ".tamis-written",
        "scores.csv",
        "selections.csv",
        "result.json",
        "report.html",
    }


def test_curve_keeps_finished_sizes(run, table_file, roles, quick_options, tmp_path, monkeypatch):
    inner = scoring.try_one

    def interrupted_at_two(bar, state, name, method, k, *further):
        state.asked = k == 2
        return inner(bar, state, name, method, k, *further)

    monkeypatch.setattr("tamis.cli.scoring.try_one", interrupted_at_two)
    result = run("curve", table_file, "-k", "1,2,4", "-o", "out", "--json", *roles, *quick_options)
    assert result.exit_code == 130
    document = json.loads(result.stdout)
    assert document["interrupted"]
    assert [entry["k"] for entry in document["entries"]] == [1]
    assert (tmp_path / "out/report.html").exists()
    nothing = run("curve", table_file, "-k", "2,4", "-o", "none", *roles, *quick_options)
    assert nothing.exit_code == 130
    assert not (tmp_path / "none").exists()


def test_compare_lays_methods_side_by_side(run, table_file, roles, tmp_path):
    options = ["--set", "max_epochs=5", "--set", "n_init=1"]
    result = run("compare", table_file, "-k", 2, "-m", "lscae,cae", "-o", "out", *roles, *options)
    assert result.exit_code == 0, result.stderr
    assert [line.split("\t")[0] for line in result.stdout.splitlines()] == ["method", "lscae", "cae"]
    assert "Smallest J: " in result.stderr
    document = json.loads(run("compare", table_file, "-k", 2, "-m", "cae", "--json", *roles, *options).stdout)
    assert len(document["entries"][0]["selected"]) == 2


def test_several_fits_at_a_time_give_the_same_entries(run, table_file, roles, quick_options):
    options = ["curve", table_file, "-k", "1,2,3", "--json", *roles, *quick_options]
    one, two = (json.loads(run(*options, "--jobs", jobs).stdout)["entries"] for jobs in (1, 2))
    assert [entry["selected"] for entry in one] == [entry["selected"] for entry in two]
    assert [entry["scores"] for entry in one] == [entry["scores"] for entry in two]
