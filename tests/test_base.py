import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.exceptions import NotFittedError

from tamis import StructurePursuit, base
from tamis.base import FeatureSelector, Selection
from tamis.features import UnusableFeaturesWarning
from tamis.verdict import judge


@pytest.fixture
def factors(rng):
    """Two factors that three features each show, and ten features of noise."""
    shown = np.repeat(rng.standard_normal((300, 2)), 3, axis=1)
    return np.c_[shown + 0.4 * rng.standard_normal((300, 6)), rng.standard_normal((300, 10))]


class ByMean(FeatureSelector):
    """Score a column by its mean: the least that a selector needs."""

    def _select(self, X, task):
        return Selection(task.statistics.mean)


@pytest.fixture
def frame():
    return pd.DataFrame({"a": [0, 1, 2], "b": [5.0, 6.0, 9.0], "c": [7.0, 8.0, 7.0], "d": [1.0, 1.0, 2.0]})


def fit(X, k=None, **parameters):
    return ByMean(k, **parameters).fit(X)


def test_best_scores_are_selected(frame):
    selector = fit(frame, 2)
    assert selector.selected_.tolist() == [2, 1]
    assert selector.support_.tolist() == [False, True, True, False]
    assert selector.ranking_.tolist() == [4, 2, 1, 3]
    assert selector.get_feature_names_out().tolist() == ["b", "c"]
    np.testing.assert_array_equal(selector.transform(frame), frame[["b", "c"]])


def test_none_selects_half(frame):
    assert fit(frame).support_.sum() == 2
    assert fit(frame[["a"]]).support_.sum() == 1


def test_ties_go_to_the_earlier_column():
    X = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    assert fit(X, 2).selected_.tolist() == [0, 1]


def test_nan_scores_rank_last(frame):
    class Undecided(ByMean):
        def _select(self, X, task):
            return Selection(np.array([1.0, np.nan, 2.0, np.nan]))

    selector = Undecided(2).fit(frame)
    assert selector.selected_.tolist() == [2, 0]
    assert not np.isnan(selector.scores_).any()
    assert sorted(selector.ranking_) == [1, 2, 3, 4]


@pytest.mark.parametrize("must_keep", [["a"], [0]])
@pytest.mark.parametrize("never", [["c"], np.array([2])])
def test_kept_and_banned_columns(frame, must_keep, never):
    selector = fit(frame, 2, must_keep=must_keep, never=never)
    assert selector.selected_.tolist() == [0, 1]
    assert selector.ranking_[2] == 4


@pytest.mark.parametrize(
    "convert", [pl.from_pandas, csr_matrix, csc_matrix, np.asarray, lambda X: X.astype(np.float32)]
)
def test_kinds_of_input(frame, convert):
    assert fit(convert(frame), 2).selected_.tolist() == [2, 1]


def test_polars_names_are_kept(frame):
    selector = fit(pl.from_pandas(frame), 2, must_keep=["d"]).set_output(transform="polars")
    assert selector.transform(pl.from_pandas(frame)).columns == ["c", "d"]


def test_the_callers_table_is_not_changed(frame):
    before = frame.copy(deep=True)
    fit(frame, 2)
    pd.testing.assert_frame_equal(frame, before)


def test_constant_columns_are_left_out_with_a_warning():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "flat": [9.0, 9.0, 9.0], "b": [0.0, 0.0, 1.0]})
    with pytest.warns(UnusableFeaturesWarning, match=r"Features with one value only.*feature 'flat'.*must_keep"):
        selector = fit(X, 2)
    assert selector.selected_.tolist() == [0, 2]


def test_a_constant_column_can_be_kept_by_name():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "flat": [9.0, 9.0, 9.0]})
    assert fit(X, 1, must_keep=["flat"]).selected_.tolist() == [1]


GOOD = pd.DataFrame({"a": [0.0, 1, 2], "b": [5.0, 6.0, 9.0], "c": [7.0, 8.0, 7.0]})

BAD_INPUT = {
    "nan": (
        GOOD.assign(b=[1, np.nan, np.inf]),
        {},
        r"X holds NaN and inf, the first in row 1: feature 'b'\. Replace inf by NaN.*\. Fill the gaps",
    ),
    "text": (
        GOOD.assign(b=["x", "y", "z"]),
        {},
        r"feature 'b' of X cannot be read as numbers.*Drop these features",
    ),
    "inf": (
        GOOD.assign(b=[1, 2, np.inf]),
        {},
        r"X holds inf, the first in row 2: feature 'b'\. Replace inf.*X\)\) or drop",
    ),
    "gaps": (GOOD.assign(b=[1, np.nan, 2]), {}, r"X holds NaN, the first in row 1: feature 'b'\. Fill the gaps"),
    "two rows": (GOOD[:2], {}, r"needs at least 3; X has n_samples = 2\. Pass more rows, or transpose"),
    "too many": (
        GOOD,
        {"k": 4},
        r"n_features_to_select=4, but only 3 of the 3 features can be selected.*Ask for at most 3",
    ),
    "too many after never": (GOOD, {"k": 3, "never": ["a"]}, r"only 2 of the 3 features.*\(1 in never"),
    "zero": (GOOD, {"k": 0}, r"'n_features_to_select' parameter of ByMean must be an int in the range \[1, inf\)"),
    "fraction": (GOOD, {"k": 0.5}, r"'n_features_to_select' parameter of ByMean must be an int"),
    "kept too many": (
        GOOD,
        {"k": 1, "must_keep": ["a", "b"]},
        r"must_keep holds 2 features, more than n_features_to_select=1",
    ),
    "kept and banned": (GOOD, {"must_keep": ["a"], "never": [0]}, r"must_keep and never both hold feature 'a'"),
    "unknown name": (
        GOOD.rename(columns={"a": "alpha"}),
        {"never": ["alhpa"]},
        r"never names 'alhpa', which is not a feature of X\. Did you mean 'alpha'\?",
    ),
    "unknown position": (GOOD, {"must_keep": [3]}, r"must_keep holds the position 3, but X has the features 0 to 2"),
    "negative position": (GOOD, {"must_keep": [-1]}, r"must_keep holds the position -1"),
    "name without names": (GOOD.to_numpy(), {"never": ["a"]}, r"never names 'a', but X has no feature names"),
    "all constant": (
        np.ones((4, 3)),
        {},
        r"Each of the 3 features of X holds one value only.*Check how X was read",
    ),
    "one constant": (np.ones((4, 1)), {}, r"^The feature of X holds one value only, so nothing"),
    "all of one banned": (GOOD[["a"]], {"never": [0]}, r"never lists all 1 usable feature of X"),
    "too many of one": (GOOD[["a"]], {"k": 2}, r"only 1 of the 1 feature can be selected"),
    "all banned": (GOOD, {"never": [0, 1, 2]}, r"never lists all 3 usable features"),
    "repeated names": (
        GOOD.rename(columns={"b": "a"}),
        {},
        r"Feature names of X must differ, but X has feature 'a' more than once",
    ),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_gets_a_sentence(case):
    X, parameters, sentence = BAD_INPUT[case]
    with pytest.raises(ValueError, match=sentence):
        fit(X, **parameters)


def test_globs_name_features_and_groups(grouped):
    genes = grouped.set_axis(["MT-1", "MT-2", "a[1]", "a1", "b"], axis=1)
    assert fit(genes, 2, never=["MT-*"]).selected_.tolist() == [3, 2]
    assert sorted(fit(genes, 3, must_keep=["MT-?", "b"]).selected_) == [0, 1, 4]
    assert fit(genes, 1, must_keep=["a[1]"]).selected_.tolist() == [2]
    kept = ByMean(1, groups={"whole": ["b", "a1"]}, must_keep=["who*"]).fit(genes)
    assert kept.selected_groups_ == ["whole"]
    with pytest.raises(ValueError, match=r"never names 'HLA-\*', which is not a feature of X"):
        fit(genes, 1, never=["HLA-*"])


def test_entries_of_the_wrong_type_are_named(frame):
    with pytest.raises(TypeError, match=r"must_keep takes feature names or positions \(int\); got 1\.5 \(float\)"):
        fit(frame, must_keep=[1.5])
    with pytest.raises(ValueError, match="'never' parameter of ByMean must be an array-like"):
        fit(frame, never=3)


def test_text_in_an_array_is_found_by_position():
    with pytest.raises(ValueError, match=r"feature 1 of X cannot be read as numbers"):
        fit(np.array([[1, "x"], [2, "y"], [3, "z"]], dtype=object))


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (pd.Categorical(["u", "v", "u"]), "could not convert string to float: 'u'"),
        (pd.date_range("2020", periods=3), "dates and times are no numbers"),
        (pd.period_range("2020", periods=3), "float() argument must be a string or a real number, not 'Period'"),
    ],
)
def test_what_is_no_number_is_named_in_a_sentence(column, why):
    sentence = (
        f"feature 'd' of X cannot be read as numbers ({why}). Drop these features or encode them as numbers first."
    )
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(sentence)}$"):
        fit(GOOD.assign(d=column))


def test_dates_of_polars_are_named():
    days = pl.Series("day", pd.date_range("2020", periods=3).to_pydatetime().tolist())
    with pytest.raises(
        TypeError, match=r"^feature 'day' of X cannot be read as numbers \(dates and times are no numbers"
    ):
        fit(pl.DataFrame({"a": [1.0, 2, 3], "b": [3.0, 1, 2]}).with_columns(days))


def test_numbers_beside_text_are_not_blamed():
    numbers = GOOD.assign(n=pd.array([1, 2, None], dtype="Int64"))
    # Old pandas meets the missing cell first.
    with pytest.raises((ValueError, TypeError), match=r"^feature 's' of X cannot be read as numbers"):
        fit(numbers.assign(s=["u", "v", "w"]))


def test_categories_that_are_numbers_are_read(frame):
    assert fit(frame.assign(c=pd.Categorical([7, 8, 7])), 2).selected_.tolist() == [2, 1]


def test_long_lists_of_columns_are_cut():
    X = np.full((3, 9), np.nan)
    with pytest.raises(ValueError, match=r"feature 4 and 4 more"):
        fit(X)


def test_transform_wants_a_fit_and_the_same_columns(frame):
    with pytest.raises(ValueError, match="not fitted yet"):
        ByMean().transform(frame)
    selector = fit(frame, 2)
    with pytest.raises(ValueError, match="Feature names unseen at fit time"):
        selector.transform(frame.rename(columns={"b": "z"}))
    with pytest.raises(ValueError, match="X has 2 features, but ByMean is expecting 4"):
        fit(frame.to_numpy(), 2).transform(frame.to_numpy()[:, :2])


@pytest.mark.parametrize("convert", [np.asarray, csr_matrix, pd.DataFrame])
def test_auto_selects_as_many_as_are_suggested(factors, convert):
    assert fit(convert(factors), "auto").support_.sum() == 2


def test_auto_makes_room_for_kept_columns_and_keeps_to_what_is_left(factors):
    found = fit(factors, "auto", must_keep=[7, 8, 9]).selected_.tolist()
    assert found[:3] == [7, 8, 9]
    assert len(found) == 5  # none of these tells of a factor
    assert fit(factors, "auto", must_keep=[0, 3]).selected_.tolist() == [0, 3]
    assert fit(factors, "auto", never=range(1, 16)).selected_.tolist() == [0]
    with pytest.raises(ValueError, match=r"never lists all 16 usable"):
        fit(factors, "auto", never=range(16))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_features_that_are_missing_in_most_rows_cannot_be_selected(factors, rng):
    from tamis import StructurePursuit

    factors[rng.random(factors.shape) < 0.8] = np.nan
    with pytest.raises(ValueError, match="Every feature of X is missing in most rows"):
        StructurePursuit(2).fit(factors)


def test_auto_is_the_only_word(factors):
    with pytest.raises(ValueError, match="'n_features_to_select' parameter of ByMean must be"):
        fit(factors, "all")


def test_the_verdict_is_computed_once_when_it_is_asked_for(factors, monkeypatch):
    asked = []
    monkeypatch.setattr(base, "judge", lambda *arguments: asked.append(arguments) or judge(*arguments))
    selector = fit(factors, 2, never=range(1, 3))
    assert asked == []
    first = selector.verdict_
    assert selector.verdict_ is first
    assert len(asked) == 1
    assert selector.fit(factors[:, :6]).verdict_ is not first


def test_a_verdict_knows_good_lists_from_bad_ones(factors):
    assert fit(factors, 2, must_keep=[0], never=[1, 2, *range(4, 16)]).verdict_.trusted
    bad = fit(factors, 3, never=range(6)).verdict_
    assert not bad.trusted
    assert "3 of 3 features tell no more of the others" in bad.reasons[0]


@pytest.mark.parametrize("unit", [1e-150, 1e-20, 1e20, 1e120])
def test_a_verdict_does_not_depend_on_units(factors, unit):
    choice = {"never": [1, 2, *range(4, 16)]}
    assert fit(unit * factors, 2, **choice).verdict_ == fit(factors, 2, **choice).verdict_


def test_a_verdict_wants_a_fit():
    for attribute in ("verdict_", "filler_"):
        with pytest.raises(NotFittedError):
            getattr(ByMean(), attribute)


def test_filler_is_unknown_where_structure_was_not_tested(factors):
    selector = fit(factors, 3)
    assert selector.filler_.tolist() == [False] * 16


def test_features_missing_in_most_rows_are_left_out_with_a_warning():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0], "gaps": [np.nan, 2.0, np.nan, np.nan], "b": [0.0, np.nan, 1.0, 4.0]})

    class Tolerant(ByMean):
        _allows_missing = True

    with pytest.warns(UnusableFeaturesWarning, match="missing in most rows are never selected: feature 'gaps'"):
        selector = Tolerant(2).fit(X)
    assert sorted(selector.selected_) == [0, 2]
    with pytest.raises(ValueError, match=r"X holds inf: feature 'a'\. Replace inf by NaN"):
        Tolerant(2).fit(X.assign(a=[3, 1, 2, np.inf]))
    with pytest.raises(ValueError, match="X holds inf, the first in row 3: feature 'a'"):
        Tolerant(1).fit(X[["a"]].assign(a=[3, 1, 2, np.inf]))
    with pytest.raises(ValueError, match="Each of the 3 features of X holds at most one value, so nothing"):
        Tolerant(2).fit(X * np.nan)


@pytest.fixture
def grouped():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.standard_normal((20, 5)) + np.array([3, 1, 2, 9, 0]), columns=list("vwxyz"))


def test_a_group_has_the_mean_score_of_its_features_and_is_chosen_as_a_whole(grouped):
    selector = ByMean(2, groups=["one", "two", "one", "two", "three"]).fit(grouped)
    assert selector.selected_groups_ == ["two", "one"]
    assert selector.get_feature_names_out().tolist() == ["v", "w", "x", "y"]
    assert sorted(selector.ranking_) == [1, 2, 3, 4, 5]
    assert (selector.ranking_[selector.selected_] == [1, 2, 3, 4]).all()
    means = grouped.to_numpy().mean(axis=0)
    np.testing.assert_allclose(selector.scores_, means[[0, 1, 0, 1, 4]] / 2 + means[[2, 3, 2, 3, 4]] / 2)


def test_groups_by_mapping_leave_other_features_on_their_own(grouped):
    selector = ByMean(2, groups={"low": ["w", "z"]}, must_keep=["low"], never=["y"]).fit(grouped)
    assert selector.selected_groups_ == ["low", "v"]
    assert ByMean(1, groups={"low": [1, 4]}, must_keep=["z"]).fit(grouped).selected_groups_ == ["low"]
    assert ByMean(groups={"low": [1, 4]}).fit(grouped).selected_groups_ == ["y", "v"]


def test_without_groups_selected_groups_are_features(grouped):
    assert ByMean(2).fit(grouped).selected_groups_ == ["y", "v"]
    assert ByMean(2).fit(grouped.to_numpy()).selected_groups_ == [3, 0]


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        (["a", "b"], "groups takes a label for each of the 5 features of X; got the shape (2,)"),
        ({"a": ["v", "w"], "b": ["w"]}, "groups holds feature 'w' in more than one group."),
        ({"a": ["vv"]}, "groups names 'vv', which is not a feature of X. Did you mean 'v'?"),
        ([None, "a", "a", "b", "b"], "groups has no value for 1 of the 5 features of X"),
        ({"a": [7]}, "groups holds the position 7, but X has the features 0 to 4."),
    ],
)
def test_bad_groups_get_a_sentence(groups, sentence, grouped):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        ByMean(1, groups=groups).fit(grouped)


def test_numbers_name_groups_where_groups_are_numbered(grouped):
    assert ByMean(1, groups=[0, 0, 1, 1, 2], must_keep=[1]).fit(grouped).selected_groups_ == [1]
    with pytest.raises(ValueError, match="must_keep holds 4, which is not the number of a group"):
        ByMean(1, groups=[0, 0, 1, 1, 2], must_keep=[4]).fit(grouped)


def test_the_structure_of_a_frame_has_its_names(blobs):
    frame = pd.DataFrame(blobs.X, columns=blobs.names)
    assert set(StructurePursuit(2).fit(frame).structure_.to_frame().index) == set(blobs.names)
