import numpy as np
import pytest

from tamis.structure.candidates import STRICT_FDR, candidate_features, filler_message
from tamis.structure.directions import Directions
from tamis.structure.evidence import discoveries
from tamis.structure.find import Structure


def known(pvalues, fdr=0.1):
    pvalues = np.asarray(pvalues, float)
    d = len(pvalues)
    found = discoveries(pvalues, fdr)
    names = np.array([f"x{j}" for j in range(d)], dtype=object)
    return Structure(pvalues, found, np.full(d, -1), np.zeros(d), np.zeros(d, int), Directions.none(), fdr, 100, names)


@pytest.fixture
def structure():
    return known([0.9, 1e-6, 0.05, 1e-4, 1e-5, 1.0, 0.02])


def test_candidates_are_the_features_that_pass_the_strict_level(structure):
    assert candidate_features(structure, np.arange(7), 2).tolist() == [1, 4, 3]
    assert np.flatnonzero(discoveries(structure.pvalues, STRICT_FDR)).tolist() == [1, 3, 4]


def test_the_strongest_others_make_up_k(structure):
    assert candidate_features(structure, np.arange(7), 6).tolist() == [1, 4, 3, 6, 2, 0]


def test_features_that_are_not_allowed_are_no_candidates(structure):
    assert candidate_features(structure, np.array([0, 2, 3, 4]), 3).tolist() == [4, 3, 2]


def test_a_level_below_the_strict_one_counts():
    assert candidate_features(known([1e-3, 1e-9, 0.5], fdr=1e-6), np.arange(3), 1).tolist() == [1]


def test_no_candidates_are_needed_for_nothing():
    assert candidate_features(known([0.5, 0.9]), np.arange(2), 0).tolist() == []


def test_filler_is_counted_and_a_smaller_number_named():
    assert filler_message(2, 5, 3) == (
        "Only 3 features carry structure above chance; 2 of the 5 selected ones are filler (see filler_). Select at "
        "most 3 features, or collect more rows."
    )


def test_a_selection_without_structure_is_told_to_be_one():
    message = filler_message(5, 5, 0)
    assert message.startswith("No feature carries structure above chance; the 5 selected ones are the least unlikely.")
    assert message.endswith("Check that the right features and enough rows were read.")
