from itertools import permutations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge

from tamis import metrics
from tamis.metrics import clustering_accuracy, kmeans_accuracies
from tamis.verdict import explained_shares, halves_of, structure_of


def test_accuracy_is_the_best_of_all_matchings(rng):
    labels, clusters = rng.integers(4, size=30), rng.integers(4, size=30)
    best = max(
        np.mean([matching[c] == y for y, c in zip(labels, clusters, strict=True)])
        for matching in permutations(range(4))
    )
    assert clustering_accuracy(labels, clusters) == pytest.approx(best)


def test_accuracy_ignores_the_names_of_clusters():
    assert clustering_accuracy(["a", "a", "b"], [7, 7, 1]) == 1
    assert clustering_accuracy([1, 1, 2, 2], [0, 1, 2, 3]) == 0.5


def test_kmeans_runs_are_repeatable_and_score_the_test_rows(rng):
    labels = np.repeat([0, 1], 20)
    X = rng.standard_normal((40, 2)) + 8 * labels[:, None]
    np.testing.assert_array_equal(kmeans_accuracies(X, labels, n_runs=3, random_state=0), [1, 1, 1])
    swapped = kmeans_accuracies(X, labels, n_runs=2, random_state=0, X_test=X[:20], labels_test=labels[:20])
    np.testing.assert_array_equal(swapped, [1, 1])


def standardised(X):
    return metrics.dense_sample(X).Z


def test_a_sample_is_standardised_bounded_and_repeatable(rng):
    X = rng.standard_normal((500, 4)) * [1, 10, 0, 100] + 5
    sample = metrics.dense_sample(X, max_rows=300)
    assert sample.Z.shape == (300, 4)
    np.testing.assert_allclose(sample.Z[:, [0, 1, 3]].std(axis=0), 1)
    assert (sample.Z[:, 2] == 0).all()
    again = metrics.dense_sample(csr_array(X), max_rows=300)
    np.testing.assert_array_equal(sample.rows, again.rows)
    np.testing.assert_allclose(sample.Z, again.Z)


@pytest.mark.parametrize("shape", [(60, 5), (20, 40)])
def test_reconstruction_agrees_with_scikit_learn(rng, shape):
    n, k = shape
    G, Y, G_new = rng.standard_normal((n, k)), rng.standard_normal((n, 3)), rng.standard_normal((7, k))
    Y += G[:, :3]
    guess = metrics._ridge(G, Y.copy(), G_new)
    candidates = [Ridge(alpha).fit(G, Y).predict(G_new) for alpha in n * np.logspace(-4, 2, 13)]
    assert min(np.abs(guess - other).max() for other in candidates) < 1e-6


def test_copies_are_reconstructed_and_noise_is_not(rng):
    X = rng.standard_normal((300, 3))
    X = np.hstack([X, X[:, :1] + 0.1 * rng.standard_normal((300, 1)), np.ones((300, 1))])
    errors = metrics.reconstruction_errors(standardised(X), [0])
    assert errors[0] == errors[4] == 0
    assert errors[3] < 0.05
    assert 0.9 < errors[1] < 1.1
    np.testing.assert_allclose(metrics.reconstruction_errors(standardised(X), [0], targets=[3, 1]), errors[[3, 1]])


def test_redundancy_is_the_mean_of_the_largest_correlations(rng):
    X = rng.standard_normal((1000, 3))
    Z = standardised(np.hstack([X, X[:, :1]]))
    assert metrics.redundancy(Z, [0, 3]) == pytest.approx(1)
    assert metrics.redundancy(Z, [0, 1]) < 0.1
    assert metrics.redundancy(Z, [0]) == 0


def test_smoothness_is_high_for_structure_and_low_for_noise(rng):
    from sklearn.datasets import make_moons

    moons = make_moons(300, noise=0.05, random_state=0)[0]
    Z = standardised(np.hstack([moons, rng.standard_normal((300, 8))]))
    assert metrics.smoothness(Z, [0, 1]) > 0.9
    assert metrics.smoothness(Z, range(2, 10)) < 0.7


def test_smoothness_agrees_with_the_selectors_score(rng):
    import torch

    from tamis.lscae.objective import View, score
    from tamis.lscae.problem import Batch
    from tamis.lscae.recipe import DEFAULT

    Z = standardised(rng.standard_normal((40, 3)))
    x = torch.from_numpy(Z)
    expected = score(View(Batch(x, x), DEFAULT, x @ x.mT)) / x.square().sum()
    assert metrics.smoothness(Z, [0, 1, 2]) == pytest.approx(expected.item())


def scores_of(sample, columns, labels=None):
    return metrics.score_lists(sample, [np.asarray(columns)], structure_of(sample.Z), labels)[0]


def test_lists_are_scored_on_rows_held_out_and_by_labels(blobs):
    sample = metrics.dense_sample(blobs.X)
    structure, lists = structure_of(sample.Z), [np.array([0, 1]), np.array([6, 7]), np.arange(10)]
    good, bad, every = metrics.score_lists(sample, lists, structure, blobs.labels)
    assert set(good) == {"explained", "smoothness", "redundancy", "accuracy"}
    assert good["accuracy"] > bad["accuracy"]
    assert bad["explained"] < good["explained"] < every["explained"]
    halves = halves_of(sample.Z, np.random.default_rng(0))
    assert good["explained"] == explained_shares(sample.Z, lists[:1], structure, halves)[0]


def test_random_lists_hold_no_constant_columns(rng):
    X = rng.standard_normal((20, 6))
    X[:, 3] = 0
    sample = metrics.dense_sample(X)
    for columns in metrics.random_columns(sample, np.arange(5), np.arange(6), 4):
        assert columns.tolist() == [0, 1, 2, 4, 5]


def test_random_lists_hold_as_many_features_of_the_file(rng):
    sample, owner = metrics.dense_sample(rng.standard_normal((20, 7))), np.array([0, 0, 0, 1, 2, 3, 4])
    lists = metrics.random_columns(sample, np.array([0, 1, 2, 3]), owner, 20)
    assert {len(np.unique(owner[columns])) for columns in lists} == {2}
    assert {len(columns) for columns in lists} == {2, 4}


def test_labels_that_differ_in_every_row_give_no_warnings(rng):
    sample = metrics.dense_sample(np.repeat(rng.normal(size=(10, 3)), 3, axis=0))
    assert 0 < scores_of(sample, [0, 1], np.arange(30))["accuracy"] < 1


@pytest.mark.parametrize("missing", ["", None])
def test_rows_without_a_label_do_not_count_for_accuracy(missing, rng):
    truth = np.repeat(["a", "b", "c"], 20)
    X = np.array([[0, 0], [9, 0], [5, 5]])[np.repeat([0, 1, 2], 20)] + 0.1 * rng.standard_normal((60, 2))
    labels = np.where(truth == "c", missing, truth.astype(object))
    assert scores_of(metrics.dense_sample(X), [0, 1], labels)["accuracy"] == 1
    assert "accuracy" not in scores_of(metrics.dense_sample(X), [0, 1], np.full(60, missing))
