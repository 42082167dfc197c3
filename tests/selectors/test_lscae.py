import numpy as np
import pytest

from tamis import CAE, LSCAE, ConcreteLaplacian, Recipe
from tamis.features import UnusableFeaturesWarning
from tamis.synthetic import moons_with_copies


def test_defaults_find_the_moons_among_nuisance_and_copies():
    table = moons_with_copies(6, seed=100)
    assert table.is_solved_by(LSCAE(2, random_state=0).fit(table.X).selected_)


def test_a_network_that_decodes_finds_them_too():
    table = moons_with_copies(6, seed=100, n_samples=300)
    selector = LSCAE(2, recipe=Recipe(decoder="network"), random_state=0)
    assert table.is_solved_by(selector.fit(table.X).selected_)


@pytest.mark.parametrize(("n_rows", "n_features", "k"), [(300, 40, 3), (90, 3000, 40)], ids=["small", "wide"])
def test_one_and_two_threads_pick_the_same(n_rows, n_features, k):
    """Threads may split a long sum, so that its last bit differs; that must not decide what is picked."""
    X = np.random.default_rng(0).standard_normal((n_rows, n_features))
    X[:, : n_features // 2] += np.outer(np.repeat([-2.0, 2.0], n_rows // 2), np.ones(n_features // 2))
    fits = (LSCAE(k, n_jobs=n, max_epochs=8, random_state=0) for n in (1, 2))
    one, two = (fit.fit(X) for fit in fits)
    np.testing.assert_array_equal(one.selected_, two.selected_)


def test_a_group_may_hold_a_constant_feature(rng):
    X = np.hstack([rng.standard_normal((300, 1)) + 0.4 * rng.standard_normal((300, 3)), np.zeros((300, 1))])
    for order in ([0, 1, 2, 3], [3, 0, 1, 2]):
        groups = np.array(["a", "b", "c", "c"])[order]
        with pytest.warns(UnusableFeaturesWarning):
            selector = LSCAE(1, groups=groups, random_state=0).fit(X[:, order])
        assert np.isfinite(selector.structure_.directions.loadings).all()
        assert len(selector.selected_groups_) == 1


def test_terms_of_the_three_selectors(blobs, quick):
    def terms(selector):
        return set(selector.fit(blobs.X).history_.dtype.names) - {"epoch", "temperature", "peak_probability"}

    assert terms(LSCAE(2, **quick)) == {"objective", "reconstruction", "score", "redundancy"}
    assert terms(CAE(2, **quick)) == {"objective", "reconstruction", "redundancy"}
    assert terms(ConcreteLaplacian(2, **quick)) == {"objective", "score", "redundancy"}


def test_history_holds_J(blobs, quick):
    history = LSCAE(2, **quick).fit(blobs.X).history_
    expected = np.log(history["reconstruction"]) - np.log(np.maximum(history["score"], 1e-6))
    np.testing.assert_allclose(history["objective"], expected, rtol=1e-4)
    assert history["epoch"].tolist() == list(range(1, 13))
    assert history["temperature"][-1] == pytest.approx(0.01)


def test_features_of_single_rows_are_not_picked():
    """Words that one or two texts hold are constant in most batches; that must not pass for structure."""
    rng = np.random.default_rng(0)
    groups = rng.integers(3, size=1500)
    words = rng.poisson(np.where(np.arange(30) % 3 == groups[:, None], 1.0, 0.1))
    rare = np.zeros((1500, 400))
    for feature in rare.T:
        feature[rng.integers(1500, size=rng.integers(1, 3))] = 1.0
    selector = LSCAE(6, random_state=0).fit(np.hstack([rare, words]))
    assert (selector.selected_ >= 400).all()


@pytest.mark.parametrize("held_by", [1, 16])
def test_noise_that_few_rows_hold_does_not_own_the_graph(held_by):
    """Standardised, a value that one row in a hundred has is ten deviations large."""
    rng = np.random.default_rng(1)
    groups = rng.integers(3, size=600)
    words = rng.poisson(np.where(np.arange(30) % 3 == groups[:, None], 1.0, 0.1))
    rare = np.stack([rng.permutation(np.arange(600) < held_by) for _ in range(200)], axis=1)
    X = np.hstack([rare, words])
    assert (LSCAE(6, random_state=0).fit(X).selected_ >= 200).all()


def test_near_copies_are_not_selected_together_while_others_are_left():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 10)) @ rng.standard_normal((10, 40)) + 0.1 * rng.standard_normal((150, 40))
    X = np.hstack([X, X + 0.15 * X.std() * rng.standard_normal(X.shape)])
    chosen = LSCAE(30, random_state=0).fit(X).selected_
    correlations = np.abs(np.corrcoef(X[:, chosen].argsort(axis=0).argsort(axis=0).T)) - np.eye(30)
    assert correlations.max() < 0.975
