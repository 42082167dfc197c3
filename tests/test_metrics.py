from itertools import permutations

import numpy as np
import pytest

from tamis.metrics import clustering_accuracy, kmeans_accuracies


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
