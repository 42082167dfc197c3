import numpy as np
import pytest
from scipy.sparse import csr_matrix

from tamis.io.sources import open_source
from tamis.structure import Structure, find_structure
from tamis.structure.candidates import choose_candidates, filler_message, leave_out_copies, rank_rest
from tamis.structure.directions import Directions
from tamis.structure.evidence import discoveries, group_pvalues


def structure_with(pvalues, fdr=0.1):
    pvalues, d = np.asarray(pvalues, float), len(pvalues)
    directions = Directions(np.empty(0, np.intp), np.empty((0, 0)), np.empty(0))
    zeros = np.zeros(d)
    return Structure(
        pvalues,
        discoveries(pvalues, fdr),
        zeros - 1,
        zeros,
        zeros.astype(int),
        zeros,
        zeros.astype(bool),
        zeros.astype(bool),
        np.argsort(pvalues, kind="stable"),
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
    assert "3 features have structure above chance; filler takes 2 of the 5 places" in filler_message(2, 5, 3)
    assert "No feature that may be selected carries structure above chance" in filler_message(5, 5, 0)


@pytest.fixture
def copied(rng):
    """Features 0 to 3 share a factor; 4 is a copy of 0, 5 a bent copy of 1, 6 a mirrored one, 7 another copy of 0."""
    X = rng.standard_normal((300, 8))
    X[:, :4] += 2 * X[:, :1]
    X[:, 4:] = np.stack([X[:, 0], np.exp(X[:, 1]), -X[:, 1], 3 * X[:, 0]], axis=1) + 0.01 * rng.standard_normal(
        (300, 4)
    )
    return X


def left_of(X, n_free, kept=()):
    """What is left of all features but the kept ones, and the features by evidence."""
    structure, kept = find_structure(X, random_state=0), np.array(kept, np.intp)
    candidates = choose_candidates(structure, np.setdiff1d(np.arange(X.shape[1]), kept), n_free)
    return leave_out_copies(X, structure, candidates, kept, n_free, 0).tolist(), structure.order.tolist()


COPIES = ({0, 4, 7}, {1, 5, 6}, {2}, {3})


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_of_near_copies_the_strongest_is_a_candidate(copied, rng, missing):
    copied[rng.random(copied.shape) < missing] = np.nan
    left, order = left_of(copied, 2)
    assert set(left) == {min(some, key=order.index) for some in COPIES}


def test_copies_of_kept_features_are_no_candidates(copied):
    left, _ = left_of(copied, 1, kept=[4, 2])
    assert not set(left) & (COPIES[0] | COPIES[2])
    assert len(set(left) & COPIES[1]) == 1


def test_copies_make_up_k(copied):
    left, order = left_of(copied, 6)
    distinct = {min(some, key=order.index) for some in COPIES}
    again = [j for j in order if j not in distinct][:2]
    assert set(left) == distinct | set(again)
    assert len(left_of(copied, 8)[0]) == 8


def test_a_sparse_table_and_one_on_disk_have_the_same_candidates(copied, tmp_path):
    np.save(tmp_path / "X.npy", copied)
    tables = [copied, csr_matrix(copied), open_source(tmp_path / "X.npy")]
    assert len({tuple(sorted(left_of(X, 3)[0])) for X in tables}) == 1


def test_of_identical_rare_flags_one_is_a_candidate(rng):
    on = rng.random(300) < 0.05
    X = np.array([on & (rng.random(300) < 0.8) for _ in range(4)]).T.repeat(3, axis=1).astype(float)
    X = np.c_[X, rng.standard_normal((300, 10))]
    structure = find_structure(X, random_state=0)
    assert not structure.n_copies[:12].any()
    left = leave_out_copies(X, structure, np.arange(12), np.arange(0), 4, 0)
    assert (np.sort(left) // 3).tolist() == [0, 1, 2, 3]
