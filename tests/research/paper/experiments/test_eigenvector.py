import numpy as np
import pytest

from research.paper.experiments.eigenvector import EXPERIMENT, breaking_point, growth


def test_the_breaking_point_lies_between_two_sizes():
    sizes = np.array([1.0, 10.0, 100.0])
    assert breaking_point(sizes, np.array([1.0, 0.8, 0.6])) == pytest.approx(10**1.5)
    assert breaking_point(sizes, np.array([1.0, 0.9, 0.8])) is None
    assert breaking_point(sizes, np.array([0.5, 0.9, 0.8])) is None


def test_growth_is_the_power_of_a_power_law():
    r = np.array([1.0, 2.0, 3.0])
    assert growth(r, 7 * r**4) == pytest.approx(4)


def test_more_columns_and_nearer_clusters_break_the_eigenvector():
    near, far = (EXPERIMENT.work({"r": r, "n": 20, "seed": 0}, None)["correlations"] for r in (1.0, 3.0))
    assert far[0] > 0.99
    assert min(far[-3:]) < 0.7
    assert np.mean(near) < np.mean(far) - 0.2
