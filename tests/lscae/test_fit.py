from dataclasses import replace

import numpy as np
import pytest
import torch

from tamis.columns import summarise_columns
from tamis.lscae import fit as module
from tamis.lscae.decoder import load_decoder
from tamis.lscae.fit import draw_in, draw_targets, fit_decoder, train_restarts
from tamis.lscae.problem import Batch
from tamis.lscae.recipe import DEFAULT
from tamis.lscae.refine import draw_samples, objectives
from tamis.lscae.rows import Scaling
from tamis.structure.sample import standardised

CAE = replace(DEFAULT, terms=("reconstruction",), decoder="network", hidden_units=(5,), batch_size=20, max_epochs=6,
              redundancy_penalty=0.0, n_init=3)  # fmt: skip
GRAPH = replace(DEFAULT, batch_size=20, max_epochs=6, n_init=3)


@pytest.fixture
def x():
    return torch.randn(30, 4, generator=torch.Generator().manual_seed(0))


def run(problem, recipe, callback=lambda epoch: None):
    return train_restarts(problem, recipe, draw_samples(problem, recipe), [callback])


@pytest.mark.parametrize("recipe", [CAE, GRAPH], ids=["network", "graph"])
def test_the_smallest_objective_wins(problem_of, x, recipe):
    best, values = run(problem_of(x, 2), recipe)
    assert len(values) == 3
    assert best.objective == min(values)
    assert len(set(best.chosen.tolist())) == 2
    assert [row["epoch"] for row in best.history] == [1, 2, 3, 4, 5, 6]


def test_a_callback_that_returns_true_ends_everything(problem_of, x):
    best, values = run(problem_of(x, 2), CAE, lambda epoch: epoch.number == 8)
    assert len(values) == 2
    assert len(best.chosen) == 2


@pytest.mark.parametrize("recipe", [CAE, GRAPH], ids=["network", "graph"])
def test_nothing_to_learn(problem_of, x, recipe):
    best, values = run(problem_of(x, 0, kept=[3, 1], candidates=[0, 2]), recipe)
    assert best.chosen.tolist() == [3, 1]
    assert len(values) == 1
    assert best.history == []


def test_where_the_graph_decodes_the_best_pair_is_found(problem_of, x):
    best, _ = run(problem_of(x, 2), GRAPH)
    pairs, centered = torch.combinations(torch.arange(4)), x - x.mean(dim=0)
    values = objectives([Batch(centered, centered)], pairs, GRAPH)
    assert sorted(best.chosen.tolist()) == pairs[values.argmin()].tolist()
    assert best.objective == pytest.approx(values.min().item(), abs=1e-5)


def test_of_many_features_some_are_reconstructed_in_training_and_all_in_the_end(problem_of, x, monkeypatch):
    monkeypatch.setattr(module, "MAX_TARGETS", 3)
    targets = draw_targets(4, 0, torch.device("cpu"))
    assert len(set(targets.features.tolist())) == 3
    best, _ = run(replace(problem_of(x, 2), targets=targets), CAE)
    scaling = Scaling(np.arange(4), np.zeros(4), np.ones(4))
    weights = fit_decoder(x.numpy(), scaling, CAE, best, best.chosen)
    assert load_decoder(weights)(torch.zeros(1, 2)).shape == (1, 4)


@pytest.mark.parametrize("scale", ["standard", "center", None])
def test_features_that_vary_are_scaled(rng, scale):
    X = np.insert(rng.normal(3, 2, size=(50, 2)), 1, 7.0, axis=1)
    found = Scaling(*summarise_columns(X).scaling(scale))
    assert found.features.tolist() == [0, 2]
    scaled = found.apply(X).numpy()
    np.testing.assert_array_equal(found.apply(X[:, found.features]).numpy(), scaled)
    np.testing.assert_allclose(scaled.mean(axis=0), X[:, [0, 2]].mean(axis=0) * (scale is None), atol=1e-5)
    np.testing.assert_allclose(scaled.std(axis=0), 1 if scale == "standard" else X[:, [0, 2]].std(axis=0), rtol=1e-5)


@pytest.mark.parametrize("scale", ["standard", "center", None])
def test_far_cells_are_drawn_in_as_for_the_directions(rng, scale):
    X = np.insert(np.exp(2 * rng.standard_normal((60, 3))), 1, 7.0, axis=1)
    X[3, 2] = np.nan
    found, units = draw_in(X, Scaling(*summarise_columns(X).scaling(scale)), scale == "standard", 0)
    scaled = found.apply(X).numpy() * units
    expected = standardised(X[:, found.features], [np.arange(60)])
    np.testing.assert_allclose(np.nan_to_num(scaled - np.nanmean(scaled, axis=0)), expected, atol=1e-4)
    if scale == "standard":
        np.testing.assert_array_equal(units, 1)


def test_a_feature_that_is_missing_in_all_rows_drawn_is_scaled_as_before(rng, monkeypatch):
    X = rng.standard_normal((50, 3))
    X[10:, 1] = np.nan
    monkeypatch.setattr(module, "sample_rows", lambda X, _: (X[10:], np.arange(10, 50)))
    before = Scaling(*summarise_columns(X).scaling("standard"))
    found, _ = draw_in(X, before, True, 0)
    np.testing.assert_allclose(found.apply(X)[:, 1], before.apply(X)[:, 1])


def test_training_that_diverged_says_so(problem_of, x, monkeypatch):
    monkeypatch.setattr("tamis.lscae.network.evaluate", lambda view: {"score": view.gram.sum() * torch.nan})
    with pytest.raises(FloatingPointError, match="Training ended in numbers that are not finite"):
        run(problem_of(x, 2), GRAPH)
