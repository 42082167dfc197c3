import json
from dataclasses import replace

import numpy as np
import pytest

from research.methods import NESTED
from research.paper.fits import TO_THE_LETTER, clustering_scores, fit, is_seeded, make_selector
from tamis.lscae.recipe import PRESETS
from tamis.selectors import SELECTORS


@pytest.mark.parametrize("method", NESTED)
def test_nested_methods_rank_without_regard_to_k(blobs, method):
    large = fit(method, blobs.X, 6, 3, quick=True)[1]["selected"]
    small = fit(method, blobs.X, 3, 3, quick=True)[1]["selected"]
    assert small == large[:3]


def test_mcfs_does_depend_on_k():
    assert "mcfs" not in NESTED
    assert set(NESTED) < set(SELECTORS)


def test_a_row_keeps_settings_picks_and_time_in_json(blobs):
    selector, row = fit("lscae", blobs.X, 2, 0, quick=True)
    assert row["settings"]["max_epochs"] == 30
    assert row["selected"] == selector.selected_.tolist()
    assert row["objective"] == selector.objective_
    assert row["fit_seconds"] > 0
    json.dumps(row)


def test_the_paper_to_the_letter_has_its_settings():
    assert make_selector(TO_THE_LETTER, 2, 0).recipe == "paper"
    assert make_selector("lscae", 2, 0).recipe is None


def test_fields_of_the_recipe_are_set_and_kept_as_plain_values(blobs):
    selector, row = fit(TO_THE_LETTER, blobs.X, 2, 0, quick=True, bandwidth=("mean", 0.2))
    assert selector.recipe == replace(PRESETS["paper"], bandwidth=("mean", 0.2))
    assert {"bandwidth": ("mean", 0.2), "selector_lr": 1.0, "max_epochs": 30, "n_init": 1}.items() <= row[
        "settings"
    ].items()
    assert "recipe" not in row["settings"]


def test_seeds_go_to_those_that_take_them():
    assert make_selector("ndfs", 2, 7).get_params()["random_state"] == 7
    assert is_seeded("ndfs")
    assert is_seeded(TO_THE_LETTER)
    assert not is_seeded("laplacian-score")


def test_clusters_that_are_plain_are_found_from_both_starts(rng):
    labels = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 2)) + 20 * labels[:, None]
    scores = clustering_scores(X, labels, n_runs=4)
    assert scores == {
        "accuracy": 1.0, "accuracy_sd": 0.0, "accuracy_random_start": 1.0, "accuracy_random_start_sd": 0.0,
    }  # fmt: skip
