import numpy as np

from tamis.structure import Structure
from tamis.structure.candidates import choose_candidates, filler_message, rank_rest
from tamis.structure.directions import Directions
from tamis.structure.evidence import discoveries, group_pvalues


def structure_with(pvalues, fdr=0.1):
    pvalues, d = np.asarray(pvalues, float), len(pvalues)
    directions = Directions(np.empty(0, np.intp), np.empty((0, 0)))
    zeros = np.zeros(d)
    return Structure(
        pvalues,
        discoveries(pvalues, fdr),
        zeros - 1,
        zeros,
        zeros.astype(int),
        zeros,
        directions,
        fdr,
        100,
        np.arange(d),
    )


def candidates_of(pvalues, k, allowed=None, fdr=0.1, kept=0):
    """The candidates among features with these p-values, by position."""
    allowed = np.arange(len(pvalues)) if allowed is None else allowed
    return choose_candidates(structure_with(pvalues, fdr), allowed, k - kept).tolist()


EVIDENCE = [0.9, 1e-6, 0.05, 1e-4, 1e-5, 1.0, 0.02]


def test_candidates_are_the_features_that_pass_the_strict_level():
    assert candidates_of(EVIDENCE, 2) == [1, 4, 3]
    assert candidates_of([1e-3, 1e-9, 0.5], 1, fdr=1e-6) == [1]


def test_the_strongest_others_make_up_k():
    assert candidates_of(EVIDENCE, 6) == [1, 4, 3, 6, 2, 0]
    assert candidates_of([0.5, 0.9, 0.4], 1, kept=1) == [2]


def test_features_that_are_not_allowed_are_no_candidates():
    assert candidates_of(EVIDENCE, 2, allowed=np.array([0, 2, 3, 4])) == [4, 3]


OWNER = np.array([0, 0, 1, 1, 2])


def test_groups_are_candidates_as_a_whole():
    evidence = group_pvalues(np.array([0.5, 1e-6, 0.3, 0.4, 0.9]), OWNER)
    np.testing.assert_allclose(evidence, [2e-6, 2e-6, 0.6, 0.6, 0.9])
    assert choose_candidates(structure_with(evidence), np.arange(3), 1, OWNER).tolist() == [0]
    assert choose_candidates(structure_with(evidence), np.arange(3), 2, OWNER).tolist() == [0, 1]
    assert choose_candidates(structure_with(evidence), np.array([1, 2]), 1, OWNER).tolist() == [1]


def test_features_without_a_score_are_ranked_by_their_evidence():
    ranked = rank_rest(np.array([0.0, 0.5, 0.0]), structure_with([0.2, 0.9, 0.1]), None)
    assert ranked[1] == 0.5
    assert 0 > ranked[2] > ranked[0]
    ranked = rank_rest(np.zeros(3), structure_with([0.2, 0.1, 0.3, 0.3, 0.05]), OWNER)
    assert np.argsort(-ranked).tolist() == [2, 0, 1]


def test_a_group_without_evidence_at_all_has_none():
    np.testing.assert_array_equal(group_pvalues(np.array([1.0, 1.0, 0.2]), np.array([0, 0, 1])), [1, 1, 0.2])


def test_filler_is_told_in_a_sentence():
    assert "Only 3 features carry structure above chance; 2 of the 5" in filler_message(2, 5, 3)
    assert "No feature carries structure above chance" in filler_message(5, 5, 0)
