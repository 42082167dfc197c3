import random

import numpy as np
import pytest

from tamis.single_cell import scores


def test_neighbour_overlap_against_loops(rng):
    X = rng.standard_normal((60, 5))
    near, other = scores.nearest(X), scores.nearest(X + 0.3 * rng.standard_normal(X.shape))
    assert near.shape == (60, 29)
    assert not (near == np.arange(60)[:, None]).any()
    shares = {k: np.mean([len(set(a[: k - 1]) & set(b[: k - 1])) / (k - 1) for a, b in zip(near, other, strict=True)])
              for k in scores.NEIGHBOURS}  # fmt: skip
    expected = np.mean([np.interp(k, list(shares), list(shares.values())) for k in range(5, 31)])
    assert scores.neighbour_overlap(near, other) == pytest.approx(expected)
    assert scores.neighbour_overlap(near, near) == 1


def test_correlations_against_loops(rng):
    X = rng.standard_normal((80, 6))
    X[:, 1] = X[:, 0] + 0.2 * rng.standard_normal(80)
    pairs = [abs(np.corrcoef(X[:, i], X[:, j])[0, 1]) for i in range(6) for j in range(i)]
    found = scores.correlations(X)
    assert found["correlation"] == pytest.approx(1 - np.mean(pairs))
    assert found["correlation_share"] == pytest.approx(4 / 6)


def test_clusters_agree_with_themselves_and_leave_the_generator_alone(rng):
    pytest.importorskip("igraph")
    X = rng.standard_normal((150, 4)) + 8 * rng.integers(0, 3, (150, 1))
    state = random.getstate()
    found = scores.partitions(X, 0)
    assert random.getstate() == state
    assert min(found) <= 5
    assert set(scores.partition_similarity(found, found).values()) == {1.0}
    other = scores.partition_similarity(found, scores.partitions(rng.standard_normal((150, 4)), 0))
    assert other["nmi_5_20"] < 0.6


def test_types_rare_types_and_confusion(rng):
    types = np.array(["a"] * 60 + ["b"] * 36 + ["c"] * 4)
    X = np.column_stack([types == "a", types == "b", types == "c"]) + 0.05 * rng.standard_normal((100, 3))
    found, confusion = scores.classification(X, types)
    assert found["f1"] > 0.95
    assert confusion.loc["a", "a"] == 1
    blind, confused = scores.classification(X[:, [0]], types)
    assert blind["f1_rare"] == 0
    assert confused.loc["c", "b"] == 1
    assert blind["f1"] < found["f1"]


def test_batch_mixing(rng):
    X, batch = rng.standard_normal((200, 5)), np.arange(200) % 2
    assert scores.batch_mixing(X, batch) > 0.9
    assert scores.batch_mixing(X + 50 * batch[:, None], batch) == 0


def test_excess_variance_is_that_beyond_genes_of_a_like_mean(rng):
    X = rng.poisson(np.linspace(0.5, 30, 200), (400, 200)).astype(float)
    X[:, [5, 150]] *= rng.choice([0.3, 1.7], (400, 2))
    assert set(np.argsort(-scores.excess_variance(X))[:2]) == {5, 150}
