import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from slow_experiment import COUNT, slow_experiment

from tamis.paper import runner
from tamis.paper.experiment import Experiment
from tamis.paper.ledger import Ledger
from tamis.paper.runner import Run, perform

SCRIPT = Path(__file__).with_name("slow_experiment.py")


def use(monkeypatch, work, trials=3, **parts):
    made = Experiment(
        "made", "Made", "?", lambda quick: [{"seed": s} for s in range(trials)], work, lambda r: "", **parts
    )
    monkeypatch.setattr(runner, "experiment", lambda name: made)


def test_a_row_holds_trial_result_time_and_versions(tmp_path, monkeypatch):
    use(monkeypatch, lambda trial, parent: {"score": 1.5})
    (row, *_) = [outcome.row for outcome in Run("made", tmp_path).go()]
    assert row["trial"] == {"seed": 0}
    assert row["score"] == 1.5
    assert row["seconds"] >= 0
    assert {"python", "tamis", "numpy", "scipy", "scikit-learn", "torch"} <= set(row["versions"])
    assert Ledger(tmp_path / "made.jsonl").rows()[0] == row


def test_a_failing_trial_is_told_and_the_others_go_on(tmp_path, monkeypatch):
    def work(trial, parent):
        return {"score": 1 / trial["seed"]}

    use(monkeypatch, work)
    outcomes = list(Run("made", tmp_path).go())
    assert [outcome.problem for outcome in outcomes] == ["ZeroDivisionError: division by zero", "", ""]
    assert len(Run("made", tmp_path).ledger.rows()) == 2
    assert len(list(Run("made", tmp_path).go())) == 1  # Only the failed one is tried again.


def test_trials_that_need_the_row_of_another_get_it(tmp_path, monkeypatch):
    def work(trial, parent):
        return {"score": 10 if parent is None else parent["score"] + trial["seed"]}

    use(monkeypatch, work, parent=lambda trial: None if trial["seed"] == 2 else {"seed": 2})
    found = {outcome.trial["seed"]: outcome.row["score"] for outcome in Run("made", tmp_path).go()}
    assert found == {2: 10, 0: 10, 1: 11}


def test_only_chosen_trials_are_done(tmp_path, monkeypatch):
    use(monkeypatch, lambda trial, parent: {})
    run = Run("made", tmp_path, choose=lambda trial: trial["seed"] == 1)
    assert [outcome.trial for outcome in run.go()] == [{"seed": 1}]


def test_missing_data_is_not_a_failure(tmp_path, monkeypatch):
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path))
    monkeypatch.delenv("TAMIS_DATA", raising=False)
    outcome = perform("table-stats", {"data": "Yale"}, None, None)
    assert outcome.lacks_data
    assert outcome.problem.startswith("Yale is not on this machine: run `tamis paper fetch Yale`")


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    """SIGKILL at several moments loses at most the trial under way, and no finished trial is done again."""
    kills = 0
    for rows_before in (1, 4, 8):
        process = subprocess.Popen([sys.executable, SCRIPT, tmp_path])
        deadline = time.monotonic() + 60
        while len(rows_in(tmp_path)) < rows_before and time.monotonic() < deadline:
            time.sleep(0.01)
        kills += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert kills == 3
    half_a_row(tmp_path)
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True)
    assert Counter(row["trial"]["seed"] for row in rows_in(tmp_path)) == dict.fromkeys(range(COUNT), 1)
    begun = Counter((tmp_path / "begun.txt").read_text().split())
    assert sum(begun.values()) <= COUNT + kills


def rows_in(folder):
    return Ledger(folder / "slow.jsonl").rows()


def half_a_row(folder):
    with (folder / "slow.jsonl").open("ab") as file:
        file.write(b'{"trial":{"se')


def test_several_processes_give_the_same_rows(tmp_path):
    runs = [Run("bound", tmp_path / str(jobs), quick=True, jobs=jobs) for jobs in (1, 2)]
    rows = [[outcome.row for outcome in run.go()] for run in runs]
    alone, together = (
        {row["trial"]["r"]: row["simulated"] for row in some if row["trial"]["noise"] == "as written"} for some in rows
    )
    assert alone == together
    assert len(rows[0]) == len(rows[1]) == 6


def test_the_slow_experiment_is_what_it_says(tmp_path):
    made = slow_experiment(tmp_path / "log", 0)
    assert made.work({"seed": 3}, None) == {"score": 9}
    assert (tmp_path / "log").read_text() == "3\n"


@pytest.mark.parametrize("quick", [True, False])
def test_every_experiment_has_distinct_trials_that_know_whether_they_are_quick(quick):
    from tamis.paper.catalogue import experiments
    from tamis.paper.ledger import trial_key

    for one in experiments():
        trials = one.trials(quick)
        assert len({trial_key(trial) for trial in trials}) == len(trials) > 0
        assert {bool(trial.get("quick")) for trial in trials} == {quick}
