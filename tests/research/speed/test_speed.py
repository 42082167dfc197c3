import json
import shutil

import numpy as np
import pytest

from research.ledger import Ledger
from research.speed import __main__ as command
from research.speed import atlas, baselines, growth, guard, out_of_core, processes, startup
from research.speed.__main__ import MEASURES, RESULTS, main
from research.speed.measure import DOCS

VERSIONS = {"python": "3.11", "torch": "2", "cores": "2", "machine": "x"}


@pytest.fixture
def docs(tmp_path):
    """Copies of the pages, beside a copy of the README."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("performance.md", "out-of-core.md", "baselines.md"):
        shutil.copy(DOCS / name, folder)
    shutil.copy(DOCS.parent / "README.md", tmp_path)
    return folder


def test_the_pages_are_those_of_the_kept_rows(docs, capsys):
    assert main(["page", "--docs", str(docs)]) == 0
    assert "peer: " in capsys.readouterr().out
    for name in ("performance.md", "out-of-core.md", "baselines.md"):
        assert (docs / name).read_text() == (DOCS / name).read_text()
    assert (docs.parent / "README.md").read_text() == (DOCS.parent / "README.md").read_text()
    assert (docs / "images" / "growth.svg").exists()


def test_another_row_makes_another_page(docs, tmp_path):
    rows = Ledger(RESULTS / "memory.jsonl").rows()
    ledger = Ledger(tmp_path / "rows" / "memory.jsonl")
    for row in rows:
        ledger.append(row | {"above": 31.415})
    assert main(["page", "memory", "--results", str(ledger.path.parent), "--docs", str(docs)]) == 0
    assert (docs / "performance.md").read_text().count("| 31.41 |") == len(rows)


@pytest.mark.parametrize("name", MEASURES)
def test_every_measurement_has_distinct_trials(name, monkeypatch):
    monkeypatch.delenv("TAMIS_DATA", raising=False)
    trials = MEASURES[name].trials()
    assert len({tuple(trial.items()) for trial in trials}) == len(trials) > 0


def test_a_run_measures_what_is_missing_and_anew_measures_it_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(growth, "SIZES", {"d": [(60, 12, 2)]})
    arguments = ["run", "growth", "--results", str(tmp_path)]
    assert main(arguments) == 0
    assert "d 60 12 2: {'cpu_seconds': " in capsys.readouterr().out
    assert main(arguments) == 0
    assert capsys.readouterr().out == ""
    assert main([*arguments, "--anew"]) == 0
    assert capsys.readouterr().out.startswith("d 60 12 2: ")
    assert len(Ledger(tmp_path / "growth.jsonl").rows()) == 1


def test_an_unknown_measurement_is_named(capsys):
    assert main(["run", "peers"]) == 2
    assert "There is no measurement 'peers'; known: peer, alternatives, " in capsys.readouterr().err


def test_the_guard_fails_where_a_ratio_is_much_worse(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(guard, "KEPT", tmp_path / "guard.json")
    monkeypatch.setattr(guard, "TABLES", {"small": (60, 12, 2)})
    assert main(["guard", "--write"]) == 0
    monkeypatch.setattr(guard, "ratios", lambda: {name: 2 * ratio for name, ratio in json.loads(kept).items()})
    kept = (tmp_path / "guard.json").read_text()
    capsys.readouterr()
    assert main(["guard"]) == 1
    assert capsys.readouterr().out.count("TOO SLOW") == len(guard.METHODS)


def test_the_guard_keeps_the_largest_ratio_that_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "KEPT", tmp_path / "guard.json")
    for measured in (2.0, 3.0, 1.0):
        monkeypatch.setattr(guard, "ratios", lambda: {"lscae": measured})  # noqa: B023
        assert main(["guard", "--write"]) == 0
    assert json.loads((tmp_path / "guard.json").read_text()) == {"lscae": 3.0}


def test_list_says_what_each_measures(capsys):
    assert main(["list"]) == 0
    assert "killed: killed fits against undisturbed ones" in capsys.readouterr().out
    assert command.MEASURES["startup"] is startup.MEASURE


def test_the_atlas_has_markers_that_are_on_in_their_type_only(tmp_path):
    anndata = pytest.importorskip("anndata")
    groups = atlas.write(tmp_path / "atlas.h5ad", 600, 1000)
    table = anndata.read_h5ad(tmp_path / "atlas.h5ad")
    assert table.shape == (600, 1000)
    np.testing.assert_array_equal(table.var["group"], groups)
    on = table.X[:, groups == 3].toarray() > 0
    of_type = (table.obs["type"] == 3).to_numpy()
    assert on[of_type].mean() > 0.7
    assert on[~of_type].mean() < 0.02


def test_times_of_atlases_are_written_relative_to_the_smallest(docs):
    trial = {"k": 50, "features": 2000}
    rows = [
        {"trial": trial | {"what": "epoch", "rows": 1000}, "epoch_seconds": 2.0, "versions": VERSIONS},
        {"trial": trial | {"what": "epoch", "rows": 4000}, "epoch_seconds": 6.0, "versions": VERSIONS},
    ]
    assert out_of_core.write(rows, docs) == []
    found = {"groups_found": 19, "groups": 20, "nuisance": 2, "peak_gib": 1.5}
    out_of_core.write([*rows, {"trial": trial | {"what": "select", "rows": 4000}, **found}], docs)
    text = (docs / "out-of-core.md").read_text()
    assert "| 4,000 | 3.00 × | 0.75 × |" in text
    assert "on 4,000 × 2,000 found 19 of 20 planted groups and 2 nuisance features, with a peak of 1.50 GiB" in text


def test_two_processes_are_compared_with_one(docs):
    speed = [
        {"trial": {"what": "speed", "processes": n}, "shape": [60, 12], "epoch": 4.0 / n, "cpu": 3.0 / n}
        for n in (1, 2)
    ]
    found = [
        {"trial": {"what": "J", "case": "two moons", "processes": n, "seed": s}, "k": 2, "batch": 256, "J": -1.0 - n}
        for n in (1, 2)
        for s in range(2)
    ]
    assert processes.write(found, docs) == []
    processes.write(speed + found, docs)
    text = (docs / "out-of-core.md").read_text()
    assert "| 2 | 2.00 × | 2.00 × |" in text
    assert "| two moons | 2 | 256 | -2.0000 ± 0.0000 | -3.0000 ± 0.0000 | -50.0 % |" in text


def test_a_job_that_takes_too_long_is_stopped():
    import time

    assert baselines.run_limited(lambda X: None, None, 1)
    assert not baselines.run_limited(lambda X: time.sleep(5), None, 1)


def test_own_jobs_fit_the_table_of_the_comparison(monkeypatch):
    monkeypatch.delenv("TAMIS_DATA", raising=False)
    monkeypatch.setattr(baselines, "SHAPE", (40, 60))
    X, name = baselines._table()
    assert name == "noise"
    assert set(baselines.own_jobs()) == set(baselines.METHODS)
    for job in baselines.own_jobs().values():
        job(X)


def test_commands_are_timed_as_new_processes_beside_an_import(docs, monkeypatch):
    monkeypatch.setattr(startup, "N_STARTS", 1)
    rows = [{"trial": trial} | startup.work(trial, None) for trial in startup.trials()]
    assert all(0 < row["import_clock"] < 60 for row in rows)
    startup.write([rows[0] | {"clock": 3.0, "cpu": 6.0, "import_clock": 2.0, "import_cpu": 3.0}, rows[1]], docs)
    line = "| `tamis --help` | `import typer, rich` | 1.50 × | 2.00 × |"
    assert line in (docs / "performance.md").read_text()
