import pytest

from research.paper.printed import METHODS, printed
from research.paper.ranks import mean_and_median_ranks


def test_the_highest_accuracy_has_rank_one_and_ties_share():
    mean, median = mean_and_median_ranks([[0.9, 0.5, 0.5], [0.9, 0.8, 0.7], [0.1, 0.2, 0.3]])
    assert mean == pytest.approx([5 / 3, 6.5 / 3, 6.5 / 3])
    assert median == [1, 2, 2.5]


def test_the_printed_table_is_complete_and_makes_its_authors_claims():
    results = printed()["results"]
    assert all(list(row) == list(METHODS) for row in results.values())
    assert set(results) == set(printed()["statistics"])
    assert sum(max(row, key=lambda label: row[label][0]) == "LS-CAE" for row in results.values()) == 7
    mean, median = mean_and_median_ranks([[row[label][0] for label in METHODS] for row in results.values()])
    assert mean[-1] == pytest.approx(1.3)
    assert median[-1] == 1
