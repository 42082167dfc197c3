"""What is said of values that cannot be computed with, and of scores that tell nothing."""

import warnings

import numpy as np
import pytest

from tamis.checks import TiedScoresWarning, check_range, warn_of_ties
from tamis.columns import summarise_columns


def listed(features):
    return ", ".join(f"feature {feature}" for feature in features)


def refuse(X, scale="standard"):
    with pytest.raises(ValueError, match="feature") as refusal:
        check_range(summarise_columns(np.array(X)), scale, listed)
    return str(refusal.value)


def test_values_too_large_or_too_close_to_be_scaled_are_named():
    assert refuse([[1.7e308, 1.0], [-1.7e308, 2.0]]).startswith("feature 0: values beyond 1e+307")
    assert refuse([[1.0, 0.0], [2.0, 1e-310]]).startswith("feature 1: values beyond 1e+307, or that differ by less")


def test_values_that_stay_unscaled_must_be_smaller():
    X = np.array([[1e300, 1.0], [2e300, 2.0]])
    check_range(summarise_columns(X), "standard", listed)
    assert refuse(X, None).startswith("feature 0: values beyond 1e+15")
    small = np.array([[1e-30, 1.0], [2e-30, 2.0]])
    check_range(summarise_columns(small), "standard", listed)
    assert refuse(small, "center").startswith("feature 0: values beyond 1e+15, or that differ by less than 1e-15")


def test_constant_features_may_have_any_value():
    check_range(summarise_columns(np.array([[1.7e308, 1.0], [1.7e308, 2.0]])), None, listed)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([1.0, -np.inf, -np.inf], "1 of the 2 features picked by score have no finite score"),
        ([2.0, 2.0, 2.0], "All 3 features to choose from have the same score"),
    ],
)
def test_scores_that_tell_nothing_are_reported(scores, said):
    with pytest.warns(TiedScoresWarning, match=said):
        warn_of_ties(np.array(scores), np.array([0, 1]), np.arange(3))


@pytest.mark.parametrize(
    ("scores", "picks"), [([3.0, 2.0, 1.0], [0, 1]), ([2.0, 2.0, 2.0], [0, 1, 2]), ([1.0, -np.inf], [0])]
)
def test_nothing_is_said_of_other_scores(scores, picks):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_ties(np.array(scores), np.array(picks), np.arange(len(scores)))
