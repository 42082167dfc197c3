import json
import time

import numpy as np
import pytest
from scipy.io import savemat

from research.ledger import Ledger
from research.quality import bench, limits, sets
from research.quality.__main__ import main
from research.quality.limits import TooSlowError, known_as_too_slow, time_limit
from research.quality.split import PATH, SEED, deal, half


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder with a small Yale.mat."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 2], 20)
    X = rng.normal(size=(40, 131))
    X[y == 1, :20] += 4
    X[:, 130] = 7.0
    savemat(tmp_path / "Yale.mat", {"X": X, "Y": y[:, None]})
    monkeypatch.setenv("TAMIS_DATA", str(tmp_path))
    sets.load.cache_clear()
    yield tmp_path
    sets.load.cache_clear()


def last_features(X, k, seed):
    return np.arange(X.shape[1])[::-1][:k]


def endless(X, k, seed):
    while True:
        time.sleep(0.01)


def test_constant_features_are_removed(folder):
    assert sets.load("Yale").X.shape == (40, 130)


def test_large_tables_are_thinned_once(folder, monkeypatch):
    monkeypatch.setattr(sets, "MAX_ROWS", 12)
    X, y = sets.load("Yale")
    sets.load.cache_clear()
    assert len(X) == len(y) == 12
    np.testing.assert_array_equal(X, sets.load("Yale").X)


def test_an_unknown_set_is_named():
    with pytest.raises(KeyError, match=r"There is no set 'Yael'\. Did you mean 'Yale'"):
        sets.real_set("Yael")


def test_the_kept_split_is_the_one_that_its_seed_deals():
    kept = json.loads(PATH.read_text())
    assert kept == {"seed": SEED, **deal(list(sets.SETS), SEED)}
    assert sorted(kept["choosing"] + kept["confirming"]) == sorted(sets.SETS)
    assert abs(len(half("choosing")) - len(half("confirming"))) <= 1


def test_an_unknown_half_is_refused():
    with pytest.raises(ValueError, match="--half takes choosing or confirming; got 'both'"):
        half("both")


def test_smaller_selections_and_further_seeds_start_from_the_row_that_was_fitted():
    trial = {"method": "variance", "set": "Yale", "k": 10, "seed": 2}
    assert bench.parent_of(trial) == trial | {"k": 100, "seed": 0}
    assert bench.parent_of(trial | {"method": "mcfs"}) == trial | {"method": "mcfs", "seed": 0}
    assert bench.parent_of(trial | {"method": "ndfs"}) == trial | {"method": "ndfs", "k": 100}
    assert bench.parent_of(trial | {"method": "lscae"}) is None
    assert bench.trials_of("variance", ["Yale"], [10], [2]) == [trial | {"k": 100, "seed": 0}, trial]


def test_a_run_writes_scored_rows_and_goes_on_where_it_was(folder, tmp_path, capsys):
    arguments = ["run", "--methods", "variance,random", "--sets", "Yale", "--k", "10,20", "--seeds", "0,1"]
    assert main([*arguments, "--results", str(tmp_path / "rows")]) == 0
    rows = Ledger(tmp_path / "rows" / "variance.jsonl").rows()
    assert sorted((row["trial"]["k"], row["trial"]["seed"]) for row in rows) == [
        (10, 0), (10, 1), (20, 0), (20, 1), (100, 0),
    ]  # fmt: skip
    assert all(0 <= row["kmeans_accuracy"] <= 1 and row["shape"] == [40, 130] for row in rows)
    assert [len(row["selected"]) for row in rows if "selected" in row] == [100]
    assert "variance Yale k=10 seed=1: kmeans_accuracy=" in capsys.readouterr().out
    assert main([*arguments, "--results", str(tmp_path / "rows")]) == 0
    assert capsys.readouterr().out == ""


def test_any_function_can_be_scored(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(
        bench, "import_module", lambda name: {"made.ranking": __import__("sys").modules[__name__]}[name]
    )
    trials = bench.trials_of("made.ranking:last_features", ["Yale"], [5], [0])
    (outcome,) = bench.run("made.ranking:last_features", trials, results=tmp_path)
    assert outcome.row["selected"] == [129, 128, 127, 126, 125]
    assert (tmp_path / "made.ranking.last_features.jsonl").exists()


def test_a_slow_fit_is_stopped_and_not_tried_on_larger_tables(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "ranking_of", lambda method: endless)
    monkeypatch.setattr(bench, "time_limit", lambda: time_limit(1))
    trials = [{"method": "lscae", "set": "Yale", "k": 5, "seed": seed} for seed in (0, 1)]
    rows = [outcome.row for outcome in bench.run("lscae", trials, results=tmp_path)]
    assert [row["skipped"] for row in rows] == [
        "the fit took more than 1 s",
        f"{limits.TIME_LIMIT} s were not enough for 40 × 130 (Yale)",
    ]
    assert bench.describe(rows[0]) == "lscae Yale k=5 seed=0: skipped: the fit took more than 1 s"


def test_only_tables_that_are_larger_both_ways_are_known_as_too_slow():
    rows = [{"trial": {"method": "udfs", "set": "Yale"}, "shape": [40, 130], "skipped": "x"}]
    assert known_as_too_slow(rows, "udfs", (40, 131))
    assert known_as_too_slow(rows, "udfs", (400, 129)) is None
    assert known_as_too_slow(rows, "ndfs", (400, 500)) is None


def test_the_alarm_is_off_after_the_block():
    with time_limit(1):
        pass
    time.sleep(1.1)
    with pytest.raises(TooSlowError, match="more than 1 s"), time_limit(1):
        time.sleep(2)


def test_missing_data_is_reported_and_is_no_failure(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("TAMIS_DATA", raising=False)
    sets.load.cache_clear()
    arguments = ["run", "--methods", "variance", "--sets", "Yale", "--k", "100", "--results", str(tmp_path)]
    assert main(arguments) == 0
    assert "skipped: Yale.mat is not there (no folder was named)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["--methods", "ndsf"], "There is no selector 'ndsf'"), (["--sets", "yale"], "There is no set 'yale'")],
)
def test_wrong_options_end_with_a_sentence(arguments, sentence, capsys):
    assert main(["run", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"error: {sentence}")
