import numpy as np
import pytest

from tamis.report.analysis import analyse, components, nearest_chosen, turned


def test_nearest_chosen_is_the_most_correlated_other_one(rng):
    Z = rng.standard_normal((50, 6))
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    selected = np.array([4, 1, 2])
    nearest, correlation = nearest_chosen(Z, selected)
    table = np.corrcoef(Z.T)
    for column in range(6):
        others = [c for c in selected if c != column]
        assert nearest[column] == max(others, key=lambda c: abs(table[column, c]))
        assert correlation[column] == pytest.approx(table[column, nearest[column]])


def test_a_lone_feature_has_no_nearest(rng):
    nearest, correlation = nearest_chosen(rng.standard_normal((9, 1)), np.array([0]))
    assert (nearest[0], correlation[0]) == (-1, 0)


def test_views_are_turned_towards_each_other(rng):
    view = rng.standard_normal((30, 2))
    angle = 1.0
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ np.diag([1, -1])
    np.testing.assert_allclose(turned(view @ rotation, view), view)
    assert components(rng.standard_normal((5, 1)), 0)[:, 1].tolist() == [0] * 5


def test_every_other_feature_is_represented_once(analysis, selector):
    represented = analysis.represented()
    assert list(represented) == selector.selected_.tolist()
    listed = np.concatenate(list(represented.values()))
    assert sorted(listed) == sorted(analysis.others)


def test_copies_are_predicted_and_nuisance_is_not(analysis, blobs):
    copy = [i for i in analysis.others if blobs.groups[i] >= 0]
    nuisance = [i for i in analysis.others if blobs.groups[i] < 0]
    assert analysis.errors[copy].max(initial=0) < 0.6
    assert analysis.errors[nuisance].min() > 0.7


def test_sparse_data_give_the_same_analysis(selector, analysis, nasty_table):
    from scipy.sparse import csr_array

    again = analyse(selector, csr_array(nasty_table.X), nasty_table.y)
    np.testing.assert_allclose(again.errors, analysis.errors)
    assert again.scores == pytest.approx(analysis.scores)
