from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from tamis.structure.directions import principal_directions
from tamis.structure.pursuit import RIDGE
from tamis.structure.sample import standardised
from tamis.verdict import (
    NEIGHBOURS_ALIKE,
    NO_STRUCTURE,
    ROWS_REPEATED,
    SLOW,
    KeptRows,
    Verdict,
    explained_shares,
    judge,
    judge_table,
    structure_of,
)

NONE = np.empty(0, np.intp)
N, GROUPS = 300, 4


@pytest.fixture(scope="module")
def table():
    """Four groups of three noisy indicators, in features 0 to 11, and 28 features of noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 40))
    X[:, :12] = 0.6 * X[:, :12] + np.repeat(rng.standard_normal((N, GROUPS)), 3, axis=1)
    return X


@pytest.fixture(scope="module")
def structure(table):
    return structure_of(table)


def test_one_feature_of_each_group_is_trusted(table, structure):
    verdict = judge(KeptRows(table, NONE), np.array([0, 3, 6, 9]), structure)
    assert verdict.trusted
    assert verdict.headline == "This selection can be trusted"
    assert verdict.reasons[0].startswith("Every feature that was chosen depends on others, or has several modes, more")
    assert verdict.reasons[1].endswith("it is as good as or better than 20 of 20.")
    assert verdict.reasons[2] == "Every feature shows its structure in both halves of the rows."
    assert str(verdict) == f"{verdict.headline}: {' '.join(verdict.reasons)}"


def test_features_of_noise_are_not_trusted(table, structure):
    verdict = judge(KeptRows(table, NONE), np.array([20, 25, 30, 35]), structure)
    assert not verdict.trusted
    assert verdict.headline == "Do not trust this selection"
    assert verdict.reasons[0].startswith("4 of 4 features tell no more of the others than chance would. ")
    assert verdict.reasons[0].endswith(
        f"Ask for at most {structure.n_structured} features, as many as do, or collect more rows."
    )


def test_features_selected_elsewhere_are_judged_on_a_table(table):
    assert judge_table(table, np.array([0, 3, 6, 9])).trusted
    assert not judge_table(table, np.array([0, 3, 6, 30])).trusted


def test_a_list_as_good_as_random_ones_is_trusted(rng):
    X = rng.standard_normal((N, 1)) + 0.3 * rng.standard_normal((N, 6))
    verdict = judge_table(X, np.array([2]))
    assert verdict.trusted
    assert "as good as or better than" in verdict.reasons[1]


def test_a_list_that_explains_nothing_is_not_trusted(table, structure, monkeypatch):
    monkeypatch.setattr("tamis.verdict.explained_shares", lambda sample, lists, *_: [0.0] * len(lists))
    verdict = judge(KeptRows(table, NONE), np.array([0, 3, 6, 9]), structure)
    assert not verdict.trusted
    assert "as good as or better than 0 of 20" in verdict.reasons[0]


def test_filler_is_a_reason(table, structure):
    verdict = judge(KeptRows(table, NONE), np.array([0, 3, 6, 9, 30]), structure)
    assert not verdict.trusted
    assert verdict.reasons == [
        "1 of 5 features tells no more of the others than chance would. "
        f"Ask for at most {structure.n_structured} features, as many as do, or collect more rows."
    ]


def test_a_list_that_explains_no_more_than_random_ones_is_not_trusted(rng):
    X = rng.standard_normal((N, 16))
    X[:, :12] = 0.6 * X[:, :12] + np.repeat(rng.standard_normal((N, GROUPS)), 3, axis=1)
    verdict = judge(KeptRows(X, NONE), np.array([0, 1, 2]), structure_of(X))
    assert not verdict.trusted
    assert "random lists of its size" in verdict.reasons[0]
    assert verdict.reasons[0].endswith("Try another method or number of features.")


def test_noise_says_that_nothing_depends_on_anything(rng):
    X = rng.standard_normal((200, 10))
    assert judge(KeptRows(X, NONE), np.array([0, 1]), structure_of(X)) == Verdict(False, [NO_STRUCTURE])


def test_a_caution_is_added_where_neighbouring_rows_are_alike(rng):
    clusters = 3.0 * np.repeat(np.arange(3), 100)[:, None] + rng.standard_normal((300, 12))
    assert judge_table(clusters, np.arange(4)).reasons[-1] == NEIGHBOURS_ALIKE
    shuffled = clusters[rng.permutation(300)]
    assert NEIGHBOURS_ALIKE not in judge_table(shuffled, np.arange(4)).reasons


def test_features_that_drift_by_themselves_have_no_structure(rng):
    drift = np.cumsum(rng.standard_normal((300, 12)), axis=0)
    assert judge_table(drift, np.arange(4)) == Verdict(False, [NO_STRUCTURE, SLOW])


def test_no_caution_of_neighbours_is_needed_for_series_in_time(rng):
    drift = np.cumsum(rng.standard_normal((400, 3)), axis=0)
    X = np.repeat(drift, 3, axis=1) + 0.4 * np.cumsum(rng.standard_normal((400, 9)), axis=0)
    verdict = judge_table(X, np.array([0, 3, 6]))
    assert verdict.trusted
    assert NEIGHBOURS_ALIKE not in verdict.reasons


def test_the_verdict_tells_of_repeated_rows(rng):
    X = rng.standard_normal((100, 6))
    twice = X[rng.permutation(np.repeat(np.arange(100), 2))]
    assert judge_table(twice, np.arange(3)).reasons[-1] == ROWS_REPEATED
    assert "if its rows are independent" in Verdict(True, [ROWS_REPEATED]).headline
    for plain in (X, X.round(1), (np.vstack([X, X]) > 0).astype(float)):
        assert ROWS_REPEATED not in judge_table(plain, np.arange(3)).reasons
    rounded = np.column_stack([X[:, 0].round(), X])
    assert ROWS_REPEATED not in judge_table(rounded, np.array([0])).reasons


def test_trust_in_a_sorted_table_depends_on_its_rows(table, structure):
    order = np.argsort(table[:, 0])
    verdict = judge(KeptRows(table[order], NONE), np.array([0, 3, 6, 9]), structure)
    assert verdict.trusted
    assert verdict.headline == "This selection can be trusted if its rows are independent"


def test_what_was_asked_for_is_judged_where_it_is_all(table, structure):
    assert judge(KeptRows(table, np.array([30])), np.array([0, 3, 6, 9, 30]), structure).trusted
    kept = np.array([0, 3, 6, 9])
    assert judge(KeptRows(table, kept), kept, structure).trusted
    verdict = judge(KeptRows(table, np.append(kept, 30)), np.append(kept, 30), structure)
    assert not verdict.trusted
    assert verdict.reasons[0].startswith("1 of 5 features tells no more of the others")


def test_all_features_that_could_be_selected_are_trusted(rng):
    X = rng.standard_normal((N, 1)) + 0.5 * rng.standard_normal((N, 3))
    verdict = judge(KeptRows(X, NONE), np.arange(3), structure_of(X))
    assert verdict.trusted
    assert any("there is no other list to compare with" in reason for reason in verdict.reasons)


def test_features_whose_structure_is_not_in_both_halves_are_not_trusted(monkeypatch, table, structure):
    pvalues = np.where(np.arange(40) == 9, 0.5, 0.0)
    monkeypatch.setattr("tamis.verdict.structure_of", lambda *_: SimpleNamespace(pvalues=pvalues))
    verdict = judge(KeptRows(table, NONE), np.array([0, 3, 6, 9]), structure)
    assert verdict.reasons == [
        "3 of 4 features show their structure in both halves of the rows. Collect more rows, or ask for fewer features."
    ]


def test_missing_cells_and_empty_features_can_be_judged(table):
    X = np.column_stack([table, np.full(N, np.nan), np.ones(N)])
    X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    assert judge(KeptRows(X, NONE), np.array([0, 3, 6, 9]), structure_of(X)).trusted


def test_explained_shares_are_those_of_ridge_regressions(table, structure):
    halves = [np.arange(0, N, 2), np.arange(1, N, 2)]
    lists = [np.array([0, 3]), np.arange(40), np.array([30])]
    Z = standardised(table, [np.arange(N)])
    features = np.flatnonzero(structure.structured)
    errors, total = np.zeros(3), 0.0
    for known, held in (halves, halves[::-1]):
        rng = np.random.default_rng(0)
        counting = structure.counting(features)
        found = principal_directions(Z[known][:, features], features, *counting, rng)
        goal, unseen = found.scores(Z[known]), found.scores(Z[held])
        total += (unseen**2).sum()
        for number, some in enumerate(lists):
            model = Ridge(RIDGE * len(known), fit_intercept=False).fit(Z[known][:, some], goal)
            errors[number] += ((unseen - model.predict(Z[held][:, some])) ** 2).sum()
    shares = explained_shares(table, lists, structure, halves)
    np.testing.assert_allclose(shares, np.maximum(0, 1 - errors / total), atol=1e-9)


def test_lists_longer_than_the_rows_are_explained_by_the_same_regression(rng):
    X = rng.standard_normal((60, 100)) + 2 * rng.standard_normal((60, 1))
    structure, halves = structure_of(X), [np.arange(30), np.arange(30, 60)]
    Z = standardised(X, [np.arange(60)])
    features = np.flatnonzero(structure.structured)
    error, total = 0.0, 0.0
    for known, held in (halves, halves[::-1]):
        counting, rng = structure.counting(features), np.random.default_rng(0)
        found = principal_directions(Z[known][:, features], features, *counting, rng)
        goal, unseen = found.scores(Z[known]), found.scores(Z[held])
        model = Ridge(RIDGE * 30, fit_intercept=False).fit(Z[known], goal)
        predicted = model.predict(Z[held]).reshape(unseen.shape)
        error, total = error + ((unseen - predicted) ** 2).sum(), total + (unseen**2).sum()
    assert explained_shares(X, [np.arange(100)], structure, halves)[0] == pytest.approx(1 - error / total)


def test_cells_that_are_missing_together_are_no_evidence():
    X = np.random.default_rng(1).standard_normal((N, 10))
    X[:100, :5] = np.nan
    assert judge_table(X, np.array([0, 1])) == Verdict(False, [NO_STRUCTURE])


def test_levels_of_a_category_are_no_evidence_for_each_other(rng):
    levels = np.eye(3)[rng.integers(3, size=300)]
    X = np.hstack([levels, rng.standard_normal((300, 8))])
    groups = ["plan"] * 3 + [f"x{i}" for i in range(8)]
    assert judge_table(X, np.arange(3)).trusted
    assert judge_table(X, np.arange(3), groups).reasons == [NO_STRUCTURE]


def test_groups_are_counted_as_one_feature(rng):
    levels = np.eye(3)[rng.integers(3, size=300)]
    X = np.hstack(
        [levels, levels @ [[0.0], [3.0], [6.0]] + rng.standard_normal((300, 1)), rng.standard_normal((300, 6))]
    )
    groups = ["plan"] * 3 + [f"x{i}" for i in range(7)]
    assert judge_table(X, np.arange(4), groups).trusted
    # Beside a feature of noise, there are three, not five.
    with_noise = judge_table(X, np.arange(5), groups)
    assert with_noise.reasons[0].startswith("1 of 3 features tells no more")


def test_random_lists_hold_as_many_groups_and_what_was_asked_for(rng):
    levels = np.eye(10)[rng.integers(10, size=600)]
    X = np.hstack([levels, np.repeat(rng.standard_normal((600, 3)), 3, axis=1), rng.standard_normal((600, 6))])
    X[:, 10:19] += 0.5 * rng.standard_normal((600, 9))
    X[:, 10] += levels @ np.arange(10.0)
    owner = np.r_[np.zeros(10, np.intp), np.arange(1, 16)]
    selected = np.r_[np.arange(10), 10, 13, 16]
    structure = structure_of(X, owner)
    assert judge(KeptRows(X, NONE, owner), selected, structure).trusted
    assert judge(KeptRows(X, np.arange(10), owner), selected, structure).trusted
    alone = judge(KeptRows(X, np.arange(10), owner), np.r_[np.arange(10), 19, 20], structure)
    assert any("random lists of its size" in reason for reason in alone.reasons)


def test_nothing_is_explained_where_nothing_has_structure(rng):
    X = rng.standard_normal((200, 5))
    structure = structure_of(X)
    assert explained_shares(X, [np.arange(2)], structure, [np.arange(100), np.arange(100, 200)]) == [0.0]
