import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from slow_trials import COUNT

from research.data import MissingDataError, find_file, using_folder
from research.ledger import Ledger
from research.runner import Outcome, Runner, perform, report

SCRIPT = Path(__file__).with_name("slow_trials.py")
TRIALS = [{"seed": seed} for seed in range(3)]


def square(trial, parent):
    return {"score": trial["seed"] ** 2}


def runner(folder, work, **parts):
    return Runner(Ledger(folder / "made.jsonl"), work, **parts)


def test_a_row_holds_trial_result_time_and_versions(tmp_path):
    row = next(iter(runner(tmp_path, lambda trial, parent: {"score": 1.5}).run(TRIALS))).row
    assert row["trial"] == {"seed": 0}
    assert row["score"] == 1.5
    assert row["seconds"] >= 0
    assert {"python", "tamis", "numpy", "scipy", "scikit-learn", "torch"} <= set(row["versions"])
    assert Ledger(tmp_path / "made.jsonl").rows()[0] == row


def test_a_failing_trial_is_reported_and_the_others_continue(tmp_path):
    made = runner(tmp_path, lambda trial, parent: {"score": 1 / trial["seed"]})
    assert [outcome.problem for outcome in made.run(TRIALS)] == ["ZeroDivisionError: division by zero", "", ""]
    assert len(made.ledger.rows()) == 2
    assert len(list(made.run(TRIALS))) == 1  # Only the failed one is tried again.


def test_trials_that_need_the_row_of_another_get_it(tmp_path):
    def work(trial, parent):
        return {"score": 10 if parent is None else parent["score"] + trial["seed"]}

    made = runner(tmp_path, work, parent_of=lambda trial: None if trial["seed"] == 2 else {"seed": 2})
    assert {outcome.trial["seed"]: outcome.row["score"] for outcome in made.run(TRIALS)} == {2: 10, 0: 10, 1: 11}


def test_missing_data_is_not_a_failure(tmp_path):
    def work(trial, parent):
        with using_folder(tmp_path):
            return {"path": str(find_file("absent.mat"))}

    outcome = perform(work, {"seed": 0})
    assert outcome.lacks_data
    assert outcome.problem.startswith(f"absent.mat is not there (the folder {tmp_path}): name the folder")


def test_a_file_of_the_folder_is_found_and_the_variable_is_put_back(tmp_path, monkeypatch):
    monkeypatch.setenv("TAMIS_DATA", "before")
    (tmp_path / "there.mat").touch()
    with using_folder(tmp_path):
        assert find_file("there.mat") == tmp_path / "there.mat"
    with pytest.raises(MissingDataError, match="the folder before"):
        find_file("there.mat")


def test_a_report_prints_rows_and_counts_failures(capsys):
    outcomes = [
        Outcome({"seed": 0}, {"score": 4}),
        Outcome({"seed": 1}, problem="no data", lacks_data=True),
        Outcome({"seed": 2}, problem="no data", lacks_data=True),
        Outcome({"seed": 3}, problem="ValueError: bad"),
    ]
    assert report(outcomes, lambda row: f"score {row['score']}") == 1
    out, err = capsys.readouterr()
    assert out == "score 4\n"
    assert err == "skipped: no data\nfailed: {'seed': 3}: ValueError: bad\n"


def test_a_killed_run_continues_where_it_was(tmp_path):
    """SIGKILL at several moments loses at most the trial under way, and no finished trial is run again."""
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
    with (tmp_path / "slow.jsonl").open("ab") as file:
        file.write(b'{"trial":{"se')
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True)
    assert Counter(row["trial"]["seed"] for row in rows_in(tmp_path)) == dict.fromkeys(range(COUNT), 1)
    begun = Counter((tmp_path / "begun.txt").read_text().split())
    assert sum(begun.values()) <= COUNT + kills


def rows_in(folder):
    return Ledger(folder / "slow.jsonl").rows()


def test_several_processes_make_the_same_rows(tmp_path):
    rows = [list(runner(tmp_path / str(jobs), square, jobs=jobs).run(TRIALS)) for jobs in (1, 2)]
    alone, together = ({one.trial["seed"]: one.row["score"] for one in some} for some in rows)
    assert alone == together == {0: 0, 1: 1, 2: 4}
