import numpy as np
import pytest

from research.quality.scores import SCORES, score_selection


@pytest.fixture(scope="module")
def table():
    """Three well separated groups in features 0 to 2, and 20 features of noise."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 23))
    X[:, :3] += 8 * np.eye(3)[y]
    return X, y


def test_informative_features_score_higher_than_noise_in_every_score(table):
    good, bad = (score_selection(*table, selected, seed=0) for selected in ([0, 1, 2], [20, 21, 22]))
    assert list(good) == list(SCORES)
    assert good["kmeans_accuracy"] > 0.9 > 0.6 > bad["kmeans_accuracy"]
    assert good["nmi"] > 0.9 > 0.3 > bad["nmi"]
    assert good["knn_accuracy"] > 0.95 > 0.6 > bad["knn_accuracy"]


def test_all_features_explain_all_variance_and_two_of_three_copies_explain_the_third(table):
    X, y = table
    assert score_selection(X, y, range(23), seed=0)["r2"] == 1
    copies = np.column_stack([X[:, :2], X[:, 0] + X[:, 1]])
    assert score_selection(copies, y, [0, 1], seed=0)["r2"] > 0.99


def test_scores_do_not_depend_on_the_scale_of_features(table):
    X, y = table
    scaled = X * np.logspace(-3, 3, 23) + 5
    assert score_selection(scaled, y, [0, 1, 5], seed=1) == pytest.approx(score_selection(X, y, [0, 1, 5], seed=1))


def test_the_seed_repeats_the_scores(table):
    assert score_selection(*table, [0, 9], seed=3) == score_selection(*table, [0, 9], seed=3)


def test_a_feature_given_twice_is_refused(table):
    with pytest.raises(ValueError, match=r"A selection holds distinct features; 2 were given, some of them twice\."):
        score_selection(*table, [4, 4], seed=0)
