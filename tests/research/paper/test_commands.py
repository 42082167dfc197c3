import json
from dataclasses import replace

import pytest

from research.paper import run as paper_run
from research.paper.__main__ import main
from research.paper.catalogue import experiment


@pytest.fixture
def run(capsys):
    def run(*arguments, code=0):
        try:
            found = main([str(one) for one in arguments])
        except SystemExit as left:  # argparse has refused an option.
            found = left.code
        result = capsys.readouterr()
        assert found == code, result
        return result

    return run


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    assert main(["run", "table-stats", "--quick", "--results", str(folder), "--quiet"]) == 0
    return folder


def test_a_run_says_what_it_did_and_a_second_one_does_nothing(run, results):
    assert len((results / "table-stats.jsonl").read_text().splitlines()) == 3
    again = run("run", "table-stats", "--quick", "--results", results, "--quiet")
    assert "table-stats: 0 new rows, 3 of 3 in" in again.out


def test_rows_are_one_json_object_a_line(results):
    rows = [json.loads(line) for line in (results / "table-stats.jsonl").read_text().splitlines()]
    assert {row["trial"]["data"] for row in rows} == {"bundled-digits", "bundled-wine", "made-blobs"}


def test_list_shows_progress_and_data_sets(run, results):
    text = run("list", "--quick", "--results", results).out
    assert "3 of 3" in text
    assert "GISETTE" in text


def test_figures_tables_and_page_are_made_of_the_rows(run, results, tmp_path):
    run("run", "bound", "--quick", "--results", results, "--quiet")
    assert "bound.png" in run("figures", "--results", results, "--figures", tmp_path).out
    assert "bundled-wine" in run("tables", "--results", results, "-o", tmp_path / "csv").out
    assert (tmp_path / "csv" / "table-stats.csv").read_text().startswith("data set,samples,")
    run("page", "--results", results, "-o", tmp_path / "paper.md")
    assert "# The paper, reproduced" in (tmp_path / "paper.md").read_text()


def test_sets_that_are_not_there_are_passed_over_with_a_sentence(run, tmp_path, monkeypatch):
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "none"))
    monkeypatch.delenv("TAMIS_DATA", raising=False)
    result = run("run", "table-stats", "--data", "Yale", "--results", tmp_path, "--quiet")
    assert "skipped: Yale is not on this machine: run `python -m research.paper fetch Yale`" in result.err
    assert "0 new rows, 0 of 1 in" in result.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "fig-chy"], "There is no experiment 'fig-chy'. Did you mean 'fig-chi'?"),
        (["run", "bound", "--jobs", "0"], "takes a number of trials at a time"),
        (["run", "bound", "--backend", "slurm"], "--backend takes one of local, dask, ray"),
        (["run", "table-stats", "--data-dir", "no-such-folder"], "no-such-folder: there is no such folder"),
        (["run", "table-results", "--data", "Yael"], "There is no data set 'Yael'. Did you mean 'Yale'?"),
        (["run", "table-results", "--methods", "mcsf"], "There is no selector 'mcsf'. Did you mean 'mcfs'?"),
        (["fetch", "FAN"], "FAN cannot be downloaded as it is"),
    ],
)
def test_mistakes_are_one_sentence(run, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments, code=2)
    assert sentence in result.err.strip().splitlines()[-1]


def test_a_trial_that_fails_makes_the_exit_code_one(run, tmp_path, monkeypatch):

    def work(trial, parent):
        raise RuntimeError("no luck")

    broken = replace(experiment("bound"), work=work)
    monkeypatch.setattr(paper_run, "experiment", lambda name: broken)
    result = run("run", "bound", "--quick", "--results", tmp_path, "--quiet", code=1)
    assert "RuntimeError: no luck" in result.err
