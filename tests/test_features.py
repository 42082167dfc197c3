"""What is taken for a table, and what is said of scores that tell nothing."""

import warnings

import numpy as np
import pytest

from tamis import StructurePursuit, find_structure
from tamis.features import TiedScoresWarning, warn_of_ties


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([1.0, -np.inf, -np.inf], "The score of 1 of the 2 features picked by score is not finite: which ones"),
        ([2.0, 2.0, 2.0], "All 3 features to choose from have the same score up to rounding: which ones were selected"),
        ([2.0, 2.0, 2.0 + 1e-13], "the same score up to rounding: which ones were selected tells nothing"),
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


def test_masked_cells_are_missing(blobs, rng):
    mask = rng.random(blobs.X.shape) < 0.05
    masked, gaps = np.ma.array(np.where(mask, -999, blobs.X), mask=mask), np.where(mask, np.nan, blobs.X)
    np.testing.assert_array_equal(*(find_structure(X, random_state=0).pvalues for X in (masked, gaps)))
    np.testing.assert_array_equal(*(StructurePursuit(3, random_state=0).fit(X).scores_ for X in (masked, gaps)))
