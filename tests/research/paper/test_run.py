import pytest

from research.ledger import trial_key
from research.paper import run
from research.paper.catalogue import experiments
from research.paper.experiment import Experiment
from research.paper.run import Run
from research.runner import perform


def use(monkeypatch, work, **parts):
    made = Experiment("made", "Made", "?", lambda quick: [{"seed": s} for s in range(3)], work, lambda r: "", **parts)
    monkeypatch.setattr(run, "experiment", lambda name: made)


def test_trials_that_need_the_row_of_another_get_it(tmp_path, monkeypatch):
    def work(trial, parent):
        return {"score": 10 if parent is None else parent["score"] + trial["seed"]}

    use(monkeypatch, work, parent=lambda trial: None if trial["seed"] == 2 else {"seed": 2})
    found = {outcome.trial["seed"]: outcome.row["score"] for outcome in Run("made", tmp_path).go()}
    assert found == {2: 10, 0: 10, 1: 11}


def test_only_chosen_trials_are_run(tmp_path, monkeypatch):
    use(monkeypatch, lambda trial, parent: {})
    chosen = Run("made", tmp_path, choose=lambda trial: trial["seed"] == 1)
    assert [outcome.trial for outcome in chosen.go()] == [{"seed": 1}]


def test_missing_data_is_not_a_failure(tmp_path, monkeypatch):
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path))
    monkeypatch.delenv("TAMIS_DATA", raising=False)
    outcome = perform(lambda trial, parent: run.perform("table-stats", None, trial, parent), {"data": "Yale"})
    assert outcome.lacks_data
    assert outcome.problem.startswith("Yale is not on this machine: run `python -m research.paper fetch Yale`")


def test_several_processes_make_the_same_rows(tmp_path):
    runs = [Run("bound", tmp_path / str(jobs), quick=True, jobs=jobs) for jobs in (1, 2)]
    rows = [[outcome.row for outcome in one.go()] for one in runs]
    alone, together = (
        {row["trial"]["r"]: row["simulated"] for row in some if row["trial"]["noise"] == "as written"} for some in rows
    )
    assert alone == together
    assert len(rows[0]) == len(rows[1]) == 6


@pytest.mark.parametrize("quick", [True, False])
def test_every_experiment_has_distinct_trials_that_know_whether_they_are_quick(quick):
    for one in experiments():
        trials = one.trials(quick)
        assert len({trial_key(trial) for trial in trials}) == len(trials) > 0
        assert {bool(trial.get("quick")) for trial in trials} == {quick}
