import numpy as np
import pytest

from research.ledger import Ledger
from research.planted import rare_columns, recovery, toy
from research.planted.bench import DOCS, RESULTS


@pytest.mark.parametrize("module", [recovery, rare_columns, toy])
def test_a_run_writes_rows_and_goes_on_where_it_was(module, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(module, "SEEDS", range(1))
    arguments = ["--results", str(tmp_path), "run", "--methods", "LaplacianScore"]
    assert module.BENCH.main(arguments) == 0
    rows = module.BENCH.ledger(tmp_path).rows()
    assert [row["trial"] for row in rows] == module.trials(["LaplacianScore"])
    assert len(capsys.readouterr().out.splitlines()) == len(rows)
    assert module.BENCH.main(arguments) == 0
    assert capsys.readouterr().out == ""


def test_recovery_counts_groups_and_nuisance():
    row = recovery.work({"method": "VarianceScore", "table": "moons + 10 uniform", "seed": 0}, None)
    assert (row["k"], row["groups"], row["nuisance"]) == (2, 2, 0)


def test_the_words_of_groups_come_after_the_rare_ones():
    X = rare_columns.texts(4, seed=0)
    assert X.shape == (1500, 430)
    assert set((X[:, :400] != 0).sum(axis=0)) == {4}
    assert (X[:, 400:] != 0).mean() > 0.2


@pytest.mark.parametrize(
    ("module", "name"), [(recovery, "recovery.md"), (rare_columns, "rare-columns.md"), (toy, "baselines.md")]
)
def test_the_page_is_made_from_the_rows(module, name, tmp_path):
    rows = module.BENCH.ledger(RESULTS).rows()
    page = tmp_path / name
    page.write_text((DOCS / name).read_text())
    assert module.write_page(rows, page).read_text() == (DOCS / name).read_text()
    assert module is toy or (tmp_path / "images" / page.stem).with_suffix(".png").exists()
    first = rows[0] | {"groups": 0, "informative": 0, "nuisance": 31415, "found": 0}
    changed = [first, *rows[1:]]
    assert module.write_page(changed, page).read_text() != (DOCS / name).read_text()


def test_a_method_without_rows_has_no_number():
    table = recovery.summary([])
    assert table.rows[0] == ["moons + copies, d = 3", *["–"] * len(recovery.METHODS)]


def test_rare_columns_without_rows_say_how_to_make_them(tmp_path, capsys):
    assert rare_columns.BENCH.main(["--results", str(tmp_path), "page"]) == 2
    assert "run `python -m research.planted.rare_columns run` first" in capsys.readouterr().err


def test_an_unknown_method_is_named(tmp_path, capsys):
    assert recovery.BENCH.main(["--results", str(tmp_path), "run", "--methods", "MCFS"]) == 2
    assert "--methods takes names among LSCAE, CAE, " in capsys.readouterr().err
    assert not Ledger(tmp_path / "recovery.jsonl").rows()


def test_the_toy_holds_five_features_that_spread_more_than_noise():
    X, informative = toy.toy(100, 20, 5)
    assert X.shape == (200, 20)
    assert set(np.argsort(X.var(axis=0))[-5:].tolist()) == informative
