import inspect
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import tamis
from tamis import CAE, LSCAE, ConcreteLaplacian, Recipe
from tamis.lscae.recipe import DEFAULT, PAPER, PRESETS, PUBLIC_CODE
from tamis.synthetic import blobs_with_copies

QUICK = Recipe(max_epochs=6, hidden_units=(8,))
NETWORK = replace(QUICK, decoder="network")
UNTESTED = replace(QUICK, structure_first=False)

CHANGES = {
    "terms": (QUICK, ("score",)),
    "structure_first": (QUICK, False),
    "fdr": (QUICK, 0.9),
    "shortlist": (QUICK, 1),
    "decoder": (QUICK, "network"),
    "hidden_units": (NETWORK, (3, 4)),
    "readout": (NETWORK, "trained"),
    "graph_on": (QUICK, "concrete"),
    "bandwidth": (QUICK, "nearest"),
    "diffusion_steps": (QUICK, 3),
    "self_loops": (QUICK, True),
    "redundancy_penalty": (replace(QUICK, max_epochs=40), 50.0),
    "temperature": (QUICK, (3.0, 0.5)),
    "annealing": (QUICK, "exponential"),
    "selector_lr": (QUICK, 0.5),
    "decoder_lr": (NETWORK, 0.1),
    "batch_size": (QUICK, 30),
    "max_epochs": (QUICK, 7),
    "n_steps": (replace(QUICK, max_epochs=None, n_steps=5), 8),
    "n_init": (QUICK, 2),
    "max_exchanged": (UNTESTED, 0),
    "evaluation_rows": (QUICK, 30),
    "evaluation_samples": (replace(QUICK, evaluation_rows=30), 1),
}
"""For every field, a recipe and another value that must make another fit of it."""

BAD = {
    "terms": [(), ("variance",), "score", 3],
    "structure_first": ["yes"],
    "fdr": [0, 1, "low"],
    "shortlist": [0, 1.5],
    "decoder": ["mlp", None],
    "hidden_units": [(0,), (1.5,), 8],
    "readout": ["fitted"],
    "graph_on": ["columns"],
    "bandwidth": ["median", ("mean", -1), ("median", 1), ("mean",), 0.0],
    "diffusion_steps": [0, "auto", 1.5],
    "self_loops": [1],
    "redundancy_penalty": [-1, float("inf"), "large"],
    "temperature": [(1.0,), (1.0, 0.0), 3],
    "annealing": ["cosine"],
    "selector_lr": [0, True],
    "decoder_lr": [-0.1],
    "batch_size": [2],
    "max_epochs": [0, 1.5],
    "n_steps": [0],
    "n_init": [0],
    "max_exchanged": [-1],
    "evaluation_rows": [2],
    "evaluation_samples": [0],
}
FIELDS = [field.name for field in fields(Recipe)]


@pytest.fixture(scope="module")
def X():
    return blobs_with_copies(30, seed=0, n_samples=90, n_informative=3, n_clusters=4, n_copies=1).X


def outcome(X, recipe):
    fitted = LSCAE(4, recipe=recipe, random_state=0).fit(X)
    weights = [value.ravel() for value in fitted.decoder_weights_.values()]
    parts = [fitted.restart_objectives_, fitted.selected_, fitted.selection_probs_.ravel(), *weights]
    return np.concatenate(parts)


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_changes_a_fit(name, X):
    recipe, value = CHANGES[name]
    before, after = outcome(X, recipe), outcome(X, replace(recipe, **{name: value}))
    assert not np.array_equal(before, after)


@pytest.mark.parametrize("name", FIELDS)
def test_a_bad_value_is_refused_in_one_sentence(name):
    for value in BAD[name]:
        with pytest.raises(ValueError, match=rf"^recipe: {name} takes [^.]*; got .*\.$") as caught:
            Recipe(**{name: value})
        assert repr(value) in str(caught.value)


def test_the_default_preset_is_the_default():
    assert PRESETS["default"] == Recipe() == DEFAULT


def test_the_paper_preset_is_the_paper():
    assert Recipe(
        terms=("reconstruction", "score"), structure_first=False, decoder="network", hidden_units=(128, 128),
        readout="trained", graph_on="concrete", bandwidth="nearest", diffusion_steps=1, self_loops=True,
        redundancy_penalty=100.0, temperature=(10.0, 0.01), annealing="linear",
        selector_lr=1.0, decoder_lr=0.01, batch_size=64, max_epochs=300, n_init=1,
    ) == PAPER == PRESETS["paper"]  # fmt: skip


def test_the_public_code_preset_is_the_public_code():
    assert replace(
        PAPER, graph_on="gates", diffusion_steps=2, redundancy_penalty=0.0, temperature=(100.0, 0.0001),
        annealing="exponential", selector_lr=0.1, decoder_lr=0.001, max_epochs=500,
    ) == PUBLIC_CODE == PRESETS["public-code"]  # fmt: skip


@pytest.mark.parametrize("selector", [LSCAE, CAE, ConcreteLaplacian])
def test_from_paper_takes_parameters_and_fields(selector):
    assert selector.from_paper(3, n_init=2).get_params() == selector(3, recipe="paper", n_init=2).get_params()
    changed = selector.from_paper(3, max_epochs=4, self_loops=False)
    assert (changed.recipe, changed.max_epochs) == (replace(selector._presets["paper"], self_loops=False), 4)
    with pytest.raises(TypeError, match="self_loop"):
        selector.from_paper(3, self_loop=False)


@pytest.mark.parametrize("selector", [LSCAE, CAE, ConcreteLaplacian])
@pytest.mark.parametrize("preset", ["paper", "public-code"])
def test_presets_are_fitted_with_changes(selector, preset, blobs):
    changed = selector(3, recipe=preset, max_epochs=4, random_state=0).set_params(recipe__self_loops=False)
    assert changed.recipe == replace(selector._presets[preset], self_loops=False)
    fitted = changed.fit(blobs.X)
    assert (len(fitted.history_), fitted.support_.sum()) == (4, 3)


def test_the_ablations_have_one_term():
    for selector, term in ((CAE, "reconstruction"), (ConcreteLaplacian, "score")):
        assert {recipe.terms for recipe in selector._presets.values()} == {(term,)}
        assert not selector._presets["default"].structure_first
        assert selector(2, recipe=Recipe(n_steps=9)).resolved_recipe() == Recipe(n_steps=9, terms=(term,))


@pytest.mark.parametrize("name", ["max_epochs", "batch_size", "n_init"])
def test_parameters_of_the_selector_overrule_the_recipe(name):
    assert getattr(LSCAE(2, recipe="paper", **{name: 7}).resolved_recipe(), name) == 7
    assert LSCAE(2, recipe="paper").resolved_recipe() == PAPER


def test_a_recipe_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        DEFAULT.self_loops = True


@pytest.mark.parametrize("given", [None, "default", "paper", QUICK], ids=str)
def test_set_params_makes_another_recipe(given):
    selector = LSCAE(2, recipe=given)
    before = selector.resolved_recipe()
    assert selector.set_params(recipe__self_loops=True, recipe__n_steps=9, n_init=3) is selector
    assert selector.recipe == replace(before, self_loops=True, n_steps=9)
    assert selector.n_init == 3
    assert PRESETS["default"] == Recipe()


def test_set_params_refuses_what_no_recipe_has():
    with pytest.raises(ValueError, match=r"Recipe has no field 'loops'; see help\(tamis\.Recipe\)"):
        LSCAE(2).set_params(recipe__loops=True)
    with pytest.raises(ValueError, match=r"recipe: n_steps takes a positive whole number; got 0\."):
        LSCAE(2).set_params(recipe__n_steps=0)
    with pytest.raises(ValueError, match=r"recipe takes one of \['default', .*\] or a Recipe; got 'printed'\."):
        LSCAE(2, recipe="printed").set_params(recipe__self_loops=True)
    with pytest.raises(ValueError, match="'recipe' parameter of LSCAE must be a str among"):
        LSCAE(1, recipe="printed").fit(np.eye(4))


def test_get_params_holds_the_fields():
    deep = LSCAE(2, recipe=QUICK).get_params(deep=True)
    assert {name: deep[f"recipe__{name}"] for name in FIELDS} == QUICK.get_params()
    assert not any("__" in name for name in LSCAE(2, recipe=QUICK).get_params(deep=False))


def test_clones_have_the_recipe():
    selector = clone(LSCAE(2, recipe=QUICK))
    assert selector.recipe == QUICK
    assert clone(selector).set_params(recipe__self_loops=True).recipe != selector.recipe == QUICK
    assert "Recipe(" in repr(selector)
    assert "LSCAE" in selector._repr_html_()


def test_fields_are_searched_in_a_pipeline(X):
    pipeline = make_pipeline(LSCAE(3, max_epochs=3, random_state=0), KMeans(3, n_init=1, random_state=0))
    grid = {"lscae__recipe__self_loops": [False, True], "lscae__n_features_to_select": [2, 3]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X)
    best = search.best_estimator_[0]
    assert best.recipe.self_loops == search.best_params_["lscae__recipe__self_loops"]
    assert best.support_.sum() == search.best_params_["lscae__n_features_to_select"]


def test_a_recipe_is_saved_and_loaded(X, tmp_path):
    fitted = LSCAE(3, recipe=QUICK, random_state=0).fit(X)
    again = tamis.load(fitted.save(tmp_path / "s.tamis"))
    assert again.recipe == QUICK
    panel = fitted.transform(X)
    np.testing.assert_array_equal(again.reconstruct(panel), fitted.reconstruct(panel))


def test_the_selector_has_few_parameters():
    assert len(inspect.signature(LSCAE).parameters) <= 16
    assert inspect.signature(CAE) == inspect.signature(ConcreteLaplacian) == inspect.signature(LSCAE)


def test_every_field_has_its_evidence():
    page = (Path(__file__).parents[2] / "docs" / "deviations.md").read_text()
    rows = page.split("## Every field and its evidence")[1].split("\n## ")[0].splitlines()
    for name in FIELDS:
        assert any(f"`{name}`" in row.split("|")[1] and "](" in row for row in rows if row.startswith("| `")), name
