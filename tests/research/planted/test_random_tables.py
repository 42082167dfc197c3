import numpy as np
import pytest

from research.ledger import Ledger
from research.planted import dirty, fits, kinds, noise, sizes
from research.planted.__main__ import main
from research.planted.kinds import COPIED_NUISANCE, PlantedTable, planted_table
from research.planted.rivals import RIVALS
from research.planted.seeds import half_of, seeds_of


@pytest.mark.parametrize("kind", fits.ALL_KINDS)
def test_a_kind_is_reproducible_and_has_informative_and_noise_features(kind, monkeypatch):
    monkeypatch.setattr(kinds, "MAX_CELLS", 30_000)
    table, again, other = (planted_table(kind, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(table.X, again.X)
    np.testing.assert_array_equal(table.groups, again.groups)
    assert not np.array_equal(table.X, other.X)
    assert np.isfinite(table.X).all()
    assert 1 <= table.k < table.X.shape[1]
    assert (table.groups < 0).sum() >= 3
    np.testing.assert_array_equal(table.groups < 0, table.structures < 0)


def test_halves_share_no_seed():
    assert seeds_of("choosing", 2) == [0, 1]
    assert seeds_of("confirming", 2) == [100, 101]
    assert seeds_of(None, 1) == [0, 100]
    assert seeds_of("choosing", 5, [7]) == [7]
    assert [half_of(seed) for seed in (0, 99, 100)] == ["choosing", "choosing", "confirming"]


@pytest.mark.parametrize("name", RIVALS)
def test_a_rival_finds_one_strong_factor_whatever_the_scales(name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 20))
    X[:, 5:9] += 3 * rng.standard_normal((300, 1))
    X[:, 0] = 0.1
    picks = RIVALS[name](X * np.exp(rng.uniform(-3, 3, 20)), 4, 0)
    assert set(picks.tolist()) == {5, 6, 7, 8}


def test_picks_are_compared_with_the_answer():
    groups = np.array([0, 0, 1, 2, -1, -1])
    table = PlantedTable("factor", np.zeros((3, 6)), groups, np.array([0, 0, 0, 1, -1, -1]))
    row = fits.compare_picks(table, np.array([0, 1, 4]))
    assert row["share_found"] == pytest.approx(1 / 3)
    assert (row["share_of_structures"], row["n_noise"], row["n_noise_while_left"], row["right"]) == (0.5, 1, 1, False)
    assert fits.compare_picks(table, np.array([1, 2, 3]))["right"]
    beyond = fits.compare_picks(table, np.array([0, 2, 3, 1, 4, 5]))
    assert (beyond["n_noise"], beyond["n_noise_while_left"]) == (2, 0)


def test_false_share_and_power_of_the_test():
    table = PlantedTable("factor", np.zeros((3, 4)), np.array([0, 1, -1, -1]), np.array([0, 0, -1, -1]))
    structured = np.array([True, False, True, False])
    found = fits.compare_structure(table, np.array([0, 2]), structured)
    assert (found["n_structured"], found["false_share"], found["power"]) == (2, 0.5, 0.5)
    assert found["n_noise_while_structured_left"] == 0
    assert fits.compare_structure(table, np.array([1, 2]), structured)["n_noise_while_structured_left"] == 1
    assert fits.compare_structure(table, np.array([0, 2]), np.zeros(4, bool))["false_share"] == 0


def test_a_run_writes_rows_and_goes_on_where_it_was(tmp_path, capsys):
    arguments = ["run", "--results", str(tmp_path), "--kinds", "counts", "--seeds", "0"]
    arguments += ["--methods", "structure-pursuit,correlation"]
    assert main(arguments) == 0
    (tested,) = Ledger(tmp_path / "fits" / "structure-pursuit.jsonl").rows()
    (rival,) = Ledger(tmp_path / "fits" / "correlation.jsonl").rows()
    assert tested["trial"] == {"method": "structure-pursuit", "kind": "counts", "seed": 0}
    assert tested["share_found"] == tested["power"] == rival["share_found"] == 1
    assert tested["trusted"] is True
    assert "trusted" not in rival
    capsys.readouterr()
    assert main(arguments) == 0
    assert capsys.readouterr().out == ""


def test_large_tables_are_left_out_for_slow_methods(monkeypatch):
    monkeypatch.setitem(fits.MAX_CELLS_OF, "variance", 10)
    row = fits.work({"method": "variance", "kind": "counts", "seed": 0}, None)
    assert row["skipped"] == "the table has more than 10 cells"
    assert "skipped" in fits.describe(row | {"trial": {"method": "variance"}})


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--methods", "lscea"], "--methods: there is no method 'lscea'. Did you mean 'lscae'?"),
        (["--kinds", "moon"], "--kinds: there is no kind 'moon'. Did you mean 'moons'?"),
    ],
)
def test_unknown_names_are_refused(option, message, tmp_path, capsys):
    assert main(["run", "--results", str(tmp_path), *option]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("law", [*noise.LAWS, "narrow"])
def test_noise_tables_have_the_shapes_that_are_said(law):
    X = noise.noise_table(law, 0)
    low, high = (3, 8) if law == "narrow" else (10, 300)
    assert 60 <= len(X) <= 1000
    assert low <= X.shape[1] <= high
    np.testing.assert_array_equal(X, noise.noise_table(law, 0))


def test_the_wide_noise_table_has_60_rows():
    assert noise.noise_table("wide", 0).shape == (60, 5000)


def test_noise_is_tested_and_judged():
    assert noise.work({"law": "normal", "seed": 1}, None)["n_structured"] == 0
    trial = noise.verdict_trials([0], ["variance"])[0]
    assert trial == {"method": "variance", "law": "normal", "seed": 0}
    assert noise.verdict_work(trial, None) == {"trusted": False}


def test_sizes_are_suggested_for_groups_and_not_for_noise():
    assert sizes.work({"groups": 3, "seed": 0}, None)["k"] == 3
    assert sizes.work({"groups": 0, "seed": 0}, None)["k"] is None
    trials = sizes.trials("confirming")
    assert len(trials) == 15 * sizes.N_SEEDS + sizes.N_SEEDS_NOISE
    assert all(trial["seed"] >= 100 for trial in trials)


def test_dirty_tables_are_the_clean_ones_with_gaps_or_categories(rng):
    trials = dirty.trials([0])
    assert {trial["dirt"] for trial in trials} == set(dirty.DIRTS)
    assert not [t for t in trials if t["dirt"] == dirty.CATEGORIES and t["kind"] in COPIED_NUISANCE]
    X = rng.standard_normal((40, 30))
    Y, owner = dirty.with_categories(X, rng)
    for j in range(30):
        block = Y[:, owner == j]
        assert np.array_equal(block[:, 0], X[:, j]) or (block.sum(axis=1) == 1).all()
    assert 1 < (np.bincount(owner) > 1).sum() < 15
    row = dirty.work({"kind": "factor", "seed": 0, "dirt": 20}, None)
    assert 0 <= row["share_found"] <= 1
