import json

import numpy as np
import pytest

from tamis.cli import fitting


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


def test_curve_and_select_agree_where_cells_are_missing(run, tmp_path):
    rng = np.random.default_rng(3)
    X = np.repeat(rng.standard_normal((300, 4)), 3, axis=1) + 0.5 * rng.standard_normal((300, 12))
    X[rng.random(X.shape) < 0.35] = np.nan
    lines = [",".join("" if np.isnan(cell) else repr(cell) for cell in row) for row in X.tolist()]
    (tmp_path / "t.csv").write_text("\n".join([",".join("abcdefghijkl"), *lines]))
    method = ["-m", "structure-pursuit", "--json"]
    chosen = json.loads(run("select", "t.csv", *method).stdout)["k"]
    assert json.loads(run("curve", "t.csv", *method).stdout)["suggested_k"] == chosen


def test_the_page_of_a_curve_holds_every_list(run, table_file, roles, tmp_path):
    run("curve", table_file, "-k", "1,2,4", "-m", "variance", "-o", "out", *roles)
    page = (tmp_path / "out/report.html").read_text()
    for entry in json.loads((tmp_path / "out/result.json").read_text())["entries"]:
        part = page.split(f'data-size="{entry["k"]}"')[1].split("</article>")[0]
        assert all(name in part for name in entry["selected"])


def test_curve_keeps_finished_sizes(run, table_file, roles, quick_options, tmp_path, monkeypatch):
    inner = fitting.fit

    def interrupted_at_two(selector, table, bar, state, title):
        state.asked = selector.n_features_to_select == 2
        return inner(selector, table, bar, state, title)

    monkeypatch.setattr(fitting, "fit", interrupted_at_two)
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
    options = ["--set", "max_epochs=5", "--set", "n_init=1", "--set", "self_loops=True"]
    result = run("compare", table_file, "-k", 2, "-m", "lscae,cae", "-o", "out", *roles, *options)
    assert result.exit_code == 0, result.stderr
    assert [line.split("\t")[0] for line in result.stdout.splitlines()] == ["method", "lscae", "cae"]
    assert "explains most: " in result.stderr
    document = json.loads(run("compare", table_file, "-k", 2, "-m", "cae", "--json", *roles, *options).stdout)
    assert len(document["entries"][0]["selected"]) == 2


@pytest.mark.parametrize("command", ["curve", "compare"])
def test_no_page_has_a_second_j(run, table_file, roles, command, tmp_path):
    methods = ["-m", "variance"] if command == "curve" else ["-m", "variance,random"]
    result = run(command, table_file, "-k", 2, "-o", "out", *methods, *roles)
    assert "J" not in result.stdout.splitlines()[0].split("\t")
    assert "J" not in json.loads((tmp_path / "out/result.json").read_text())["entries"][0]["scores"]
