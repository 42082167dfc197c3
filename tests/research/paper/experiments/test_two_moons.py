import pytest

from research.paper.experiments.two_moons import EXPERIMENT
from research.paper.spectral import FALLBACK, HINT, SPECTRALNET


def graph(nuisance):
    return EXPERIMENT.work({"kind": "graph", "nuisance": nuisance, "seed": 0, "n": 200}, None)


def test_nuisance_columns_connect_the_moons():
    none, some, many = graph(0), graph(3), graph(50)
    assert none["eigenvalue"] > some["eigenvalue"] > many["eigenvalue"]
    assert none["connectivity"] < some["connectivity"] < many["connectivity"]
    assert none["correlation"] > 0.95
    assert len(none["entries"]) == len(none["labels"]) == 200
    assert "entries" not in many


def test_pca_finds_the_moons_only_where_noise_is_small():
    row = EXPERIMENT.work({"kind": "pca", "nuisance": 20, "seed": 1, "n": 500}, None)
    assert row["moons_in_pca"] < 0.5
    assert row["moons_in_pca_unscaled"] > 0.8


@pytest.mark.parametrize("bad", ["eigenvalue", "connectivity"])
def test_the_verdict_says_when_things_go_the_other_way(bad):
    rows = [
        {
            "trial": {"kind": "graph", "nuisance": k, "seed": 0},
            "eigenvalue": 1 - k / 200,
            "connectivity": k,
            "correlation": 1 - k / 121,
        }
        for k in (0, 120)
    ]
    rows.append({"trial": {"kind": "pca"}, "moons_in_pca": 0.2, "moons_in_pca_unscaled": 0.9})
    assert EXPERIMENT.verdict(rows).startswith("In the directions of the paper")
    rows[1][bad] = rows[0][bad]
    text = EXPERIMENT.verdict(rows)
    assert text.startswith("Not all in the directions of the paper")
    assert text.endswith("has not been run yet.")


def test_a_clustering_by_the_fallback_is_said():
    rows = [
        {"trial": {"kind": "graph", "nuisance": k, "seed": 0}, "eigenvalue": 1, "connectivity": k, "correlation": 1}
        for k in (0, 120)
    ]
    rows.append({"trial": {"kind": "pca"}, "moons_in_pca": 0.2, "moons_in_pca_unscaled": 0.9})
    fit = {"trial": {"kind": "select"}, "solved": True, "accuracy": 1.0}
    assert EXPERIMENT.verdict([*rows, fit | {"clustered_by": SPECTRALNET}]).endswith("mean accuracy of 100.0 %.")
    assert EXPERIMENT.verdict([*rows, fit | {"clustered_by": FALLBACK}]).endswith(HINT)
