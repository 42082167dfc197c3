"""What is taken for a table, and what is said of scores that tell nothing."""

import warnings

import numpy as np
import pandas as pd
import pytest

from tamis import StructurePursuit, choose_k, find_structure
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


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda frame: frame["b"], "Expected a 2-dimensional container"),
        (lambda frame: frame.iloc[:, :0], r"^X has no features\. Check how X was read\.$"),
        (lambda frame: frame.assign(b=frame["b"] + 1j), r"^feature 'b' of X cannot be read as numbers \("),
        (lambda frame: frame.assign(c=["x", *frame["c"][1:]]), "^feature 'c' of X cannot be read as numbers "),
    ],
)
def test_what_is_no_table_of_numbers_is_told_by_its_name(change, sentence, rng):
    frame = pd.DataFrame(rng.standard_normal((30, 3)), columns=list("abc"))
    for use in (StructurePursuit(2).fit, find_structure):
        with pytest.raises((ValueError, TypeError), match=sentence) as caught:
            use(change(frame))
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("use", [find_structure, choose_k])
def test_infinite_cells_are_told_by_their_feature(use, rng):
    X = rng.standard_normal((30, 3))
    X[3, 1] = np.inf
    for table, name in ((X, "1"), (pd.DataFrame(X, columns=list("abc")), "'b'")):
        with pytest.raises(ValueError, match=rf"feature {name} of X cannot be read as numbers \(it holds inf\)"):
            use(table)


@pytest.mark.parametrize("missing", [None, pd.NA, np.nan])
def test_missing_objects_are_missing_cells(missing, rng):
    plain = pd.DataFrame(rng.standard_normal((30, 3)), columns=list("abc"))
    plain.loc[4, "b"] = np.nan
    objects = plain.astype({"b": object})
    objects.loc[4, "b"] = missing
    one, other = (StructurePursuit(2, random_state=0).fit(frame) for frame in (plain, objects))
    assert other.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(one.scores_, other.scores_)
