import numpy as np
import pytest

from tamis.io.readers import read
from tamis.io.readers.table import Table
from tamis.report.analysis import analyse, best_members, components, nearest_chosen, owners, rows, turned


def test_nearest_chosen_is_the_most_correlated_other_one(rng):
    Z = rng.standard_normal((50, 6))
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    selected = np.array([4, 1, 2])
    nearest, correlation = nearest_chosen(Z, selected, np.arange(6))
    table = np.corrcoef(Z.T)
    for column in range(6):
        others = [c for c in selected if c != column]
        assert nearest[column] == max(others, key=lambda c: abs(table[column, c]))
        assert correlation[column] == pytest.approx(table[column, nearest[column]])


def test_a_lone_feature_has_no_nearest(rng):
    nearest, correlation = nearest_chosen(rng.standard_normal((9, 1)), np.array([0]), np.array([0]))
    assert (nearest[0], correlation[0]) == (-1, 0)


def test_the_best_of_every_feature_of_the_file_is_taken():
    assert best_members(np.array([0, 1, 1, 2, 1]), np.array([5, 3, 2, 9, 4])).tolist() == [0, 2, 3]


def test_views_are_turned_towards_each_other(rng):
    view = rng.standard_normal((30, 2))
    angle = 1.0
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ np.diag([1, -1])
    np.testing.assert_allclose(turned(view @ rotation, view), view)
    assert components(rng.standard_normal((5, 1)), 0)[:, 1].tolist() == [0] * 5


def test_every_other_feature_is_represented_once(analysis, selector):
    represented = analysis.represented()
    assert list(represented) == [*selector.selected_.tolist(), -1]
    listed = np.concatenate(list(represented.values()))
    assert sorted(listed) == sorted(analysis.others)
    assert all(abs(analysis.correlation[i]) <= analysis.min_correlation for i in represented[-1])


def test_copies_are_predicted_and_nuisance_is_not(analysis, blobs):
    copy = [i for i in analysis.others if blobs.groups[i] >= 0]
    nuisance = [i for i in analysis.others if blobs.groups[i] < 0]
    assert analysis.predicted[copy].min(initial=1) > 0.4
    assert analysis.predicted[nuisance].max() < 0.3
    assert set(nuisance) <= set(analysis.represented()[-1])


def test_sparse_data_give_the_same_analysis(selector, analysis, nasty_table):
    from scipy.sparse import csr_array

    again = analyse(selector, Table(csr_array(nasty_table.X), nasty_table.feature_names, None, nasty_table.y))
    np.testing.assert_allclose(again.predicted, analysis.predicted)
    assert again.scores == pytest.approx(analysis.scores)


@pytest.fixture
def mixed(tmp_path, rng):
    """A table with a category of three levels, on which a number depends, and which depends on it."""
    levels = rng.integers(0, 3, 200)
    lines = [f"{level + rng.normal() / 9:.3f},{'pqr'[level]},{rng.normal():.3f}" for level in levels]
    (tmp_path / "t.csv").write_text("\n".join(["size,kind,noise", *lines]))
    return read(tmp_path / "t.csv")


def test_a_category_is_one_feature(mixed):
    from tamis import VarianceScore

    assert owners(mixed).tolist() == [0, 1, 1, 1, 2]
    selector = VarianceScore(3, never=[0, 4]).fit(mixed.X)
    analysis = analyse(selector, mixed)
    assert analysis.names == ["size", "kind", "noise"]
    assert (analysis.k, analysis.chosen.tolist()) == (1, [1])
    found = {row.name: row for row in rows(analysis)}
    assert found["kind"].why.startswith("Stands for 1 other: size (")
    assert found["kind"].evidence == "depends on size; p < 0.001"
    assert found["size"].nearest == "kind"
    assert found["noise"].why == "Left out: it is like none of the chosen."
    assert found["noise"].evidence.startswith("no dependence above chance; p = ")


def test_levels_are_no_evidence_for_their_category_and_pay_once_for_their_number(tmp_path, rng):
    from tamis import StructurePursuit, VarianceScore

    lines = [f"{rng.normal():.3f},{'pqr'[rng.integers(3)]},{rng.normal():.3f}" for _ in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(["size,kind,noise", *lines]))
    table = read(tmp_path / "t.csv")
    found = analyse(VarianceScore(3, never=[0, 4]).fit(table.X), table)
    assert not found.structured.any()
    groups = owners(table)
    selector = StructurePursuit(1, groups=groups, random_state=0).fit(table.X)
    found = analyse(selector, table, selector.structure_)
    np.testing.assert_array_equal(found.pvalues, selector.structure_.pvalues[[0, 1, 4]])


def test_what_has_no_structure_is_filler_and_no_chosen_one_stands_for_it(rng):
    from tamis import VarianceScore

    X = np.hstack([rng.standard_normal((200, 1)) + 0.3 * rng.standard_normal((200, 3)), rng.standard_normal((200, 2))])
    X[:, 4] += 0.3 * X[:, 3]
    table = Table(X, np.array(["a", "b", "c", "noise", "near"]), None, None)
    found = analyse(VarianceScore(2, never=[1, 2, 4]).fit(X), table)
    structured = np.array([True, True, True, False, False])
    shown = {row.name: row.why for row in rows(found._replace(structured=structured))}
    assert shown["noise"] == "Filler: it tells no more of the others than chance would."
    assert shown["near"] == "Left out: it is like none of the chosen."
    assert shown["a"].startswith("Stands for 2 others: ")
