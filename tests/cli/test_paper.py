import json

import pytest
from typer.testing import CliRunner

from tamis.cli.app import app


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["paper", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    run("run", "table-stats", "--quick", "--results", folder, "--quiet")
    return folder


def test_a_run_says_what_it_did_and_a_second_one_does_nothing(results):
    assert len((results / "table-stats.jsonl").read_text().splitlines()) == 3
    again = run("run", "table-stats", "--quick", "--results", results, "--quiet")
    assert "table-stats: 0 new row(s), 3 of 3 done" in again.stdout


def test_rows_are_one_json_object_a_line(results):
    rows = [json.loads(line) for line in (results / "table-stats.jsonl").read_text().splitlines()]
    assert {row["trial"]["data"] for row in rows} == {"bundled-digits", "bundled-wine", "made-blobs"}


def test_list_shows_progress_and_data_sets(results, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = run("list", "--quick", "--results", results).stdout
    assert "3 of 3" in text
    assert "GISETTE" in text


def test_figures_tables_and_page_are_made_of_the_rows(results, tmp_path):
    run("run", "bound", "--quick", "--results", results, "--quiet")
    assert "bound.png" in run("figures", "--results", results, "--figures", tmp_path).stdout
    assert "bundled-wine" in run("tables", "--results", results, "-o", tmp_path / "csv").stdout
    assert (tmp_path / "csv" / "table-stats.csv").read_text().startswith("data set,samples,")
    run("page", "--results", results, "-o", tmp_path / "paper.md")
    assert "# The paper, reproduced" in (tmp_path / "paper.md").read_text()


def test_sets_that_are_not_there_are_passed_over_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "none"))
    monkeypatch.delenv("TAMIS_DATA", raising=False)
    result = run("run", "table-stats", "--data", "Yale", "--results", tmp_path, "--quiet")
    assert "tamis: passed over: Yale is not on this machine: run `tamis paper fetch Yale`" in result.stderr
    assert "0 new row(s), 0 of 1 done" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "fig-chy"], "There is no experiment 'fig-chy'. Did you mean 'fig-chi'?"),
        (["run", "bound", "--jobs", "0"], "--jobs takes a number of trials at a time"),
        (["run", "bound", "--backend", "slurm"], "--backend takes one of local, dask, ray"),
        (["run", "table-stats", "--data-dir", "no-such-folder"], "no-such-folder: there is no such folder"),
        (["run", "table-results", "--data", "Yael"], "There is no data set 'Yael'. Did you mean 'Yale'?"),
        (["run", "table-results", "--methods", "mcsf"], "There is no selector 'mcsf'. Did you mean 'mcfs'?"),
        (["fetch", "FAN"], "FAN cannot be downloaded as it is"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments, code=2)
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_trial_that_fails_makes_the_exit_code_one(tmp_path, monkeypatch):
    from dataclasses import replace

    from tamis.paper import runner
    from tamis.paper.catalogue import experiment

    def work(trial, parent):
        raise RuntimeError("no luck")

    broken = replace(experiment("bound"), work=work)
    monkeypatch.setattr(runner, "experiment", lambda name: broken)
    result = run("run", "bound", "--quick", "--results", tmp_path, "--quiet", code=1)
    assert "RuntimeError: no luck" in result.stderr
