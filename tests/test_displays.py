import matplotlib.pyplot as plt
import numpy as np
import pandas
import pytest
from sklearn.exceptions import NotFittedError

import tamis
from tamis.synthetic import blobs_with_copies


@pytest.fixture(scope="module")
def table():
    return blobs_with_copies(6, seed=0, n_samples=150, n_informative=2, n_clusters=3, n_copies=1).X


@pytest.fixture(scope="module")
def selector(table):
    return tamis.StructurePursuit(2).fit(table)


@pytest.fixture(autouse=True)
def _close_figures():
    plt.switch_backend("agg")
    yield
    plt.close("all")


def test_a_structure_shows_every_feature_by_its_evidence(table):
    structure = tamis.find_structure(table, random_state=0)
    display = tamis.StructureDisplay(structure).plot()
    structured, chance = (part.get_offsets() for part in display.ax_.collections)
    assert len(structured) == structure.n_structured
    assert len(structured) + len(chance) == table.shape[1]
    assert (np.diff(np.vstack([structured, chance])[:, 1]) <= 0).all()


def test_the_selected_features_are_circled_where_their_evidence_is(table, selector):
    display = tamis.StructureDisplay.from_estimator(selector, table)
    places = np.argsort(selector.structure_.order)[selector.selected_] + 1
    assert set(display.ax_.collections[2].get_offsets()[:, 0]) == set(places)


def test_a_method_that_tests_no_structure_is_shown_that_of_the_table(table):
    display = tamis.StructureDisplay.from_estimator(tamis.VarianceScore(2).fit(table), table)
    assert display.structure.n_structured > 0


def test_levels_of_a_group_are_no_evidence_for_each_other(rng):
    X = np.hstack([np.eye(3)[rng.integers(3, size=300)], rng.standard_normal((300, 5))])
    selector = tamis.VarianceScore(1, groups=[0, 0, 0, 1, 2, 3, 4, 5]).fit(X)
    assert tamis.StructureDisplay.from_estimator(selector, X).structure.n_structured == 0


def test_the_curve_of_choose_k_is_a_share_of_the_directions(table):
    curve = tamis.choose_k(table)
    display = tamis.CurveDisplay.from_curve(curve)
    np.testing.assert_allclose(display.explained, curve.explained / curve.n_directions)
    assert f"k = {curve.k}" in [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_curve_of_a_selector_ends_with_all_it_selected(table, selector):
    display = tamis.CurveDisplay.from_estimator(selector, table)
    assert list(display.sizes) == [1, 2]
    assert 0 < display.explained[0] < display.explained[1] <= 1


def test_a_selection_has_a_bar_for_each_feature_with_its_score(table, selector):
    display = tamis.SelectionDisplay.from_estimator(selector)
    assert [bar.get_width() for bar in display.ax_.patches] == pytest.approx(selector.scores_[selector.selected_])
    assert display.names == [f"x{j}" for j in selector.selected_]
    assert len(tamis.SelectionDisplay.from_estimator(selector, max_features=1).names) == 1


def test_dollars_in_names_are_no_formula(table):
    frame = pandas.DataFrame(table).rename(columns=lambda place: f"$\\price{place} in US$")
    display = tamis.SelectionDisplay.from_estimator(tamis.VarianceScore(2).fit(frame))
    display.figure_.canvas.draw()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == display.names


def test_filler_is_marked(rng):
    X = rng.standard_normal((100, 6))
    X[:, 1] += 3 * X[:, 0]
    with pytest.warns(tamis.structure.candidates.FillerWarning):
        selector = tamis.StructurePursuit(4).fit(X)
    display = tamis.SelectionDisplay.from_estimator(selector)
    assert display.filler.sum() == 2
    assert display.ax_.get_legend() is not None


@pytest.mark.parametrize("of", [tamis.StructureDisplay, tamis.CurveDisplay])
def test_a_selector_must_be_fitted(of, table):
    with pytest.raises(NotFittedError):
        of.from_estimator(tamis.StructurePursuit(2), table)
    with pytest.raises(NotFittedError):
        tamis.SelectionDisplay.from_estimator(tamis.StructurePursuit(2))


def test_given_axes_are_used(selector):
    figure, ax = plt.subplots()
    display = tamis.SelectionDisplay.from_estimator(selector, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
