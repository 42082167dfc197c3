import numpy as np
import pytest
from scipy.sparse import csr_matrix

from tamis import StructurePursuit, open_source
from tamis.structure.pursuit import RIDGE, Pursuit, pursue
from tamis.synthetic import moons_with_copies


def test_scores_are_shares_that_fall(blobs):
    found = StructurePursuit(4, random_state=0).fit(blobs.X)
    gains = found.scores_[found.selected_]
    assert (gains > 0).all()
    assert gains.sum() <= 1
    assert gains[0] == gains.max()
    assert (np.delete(found.scores_, found.selected_) < 0).all()


def test_moons_are_found_among_nuisance_and_copies():
    table = moons_with_copies(6, seed=100)
    assert table.is_solved_by(StructurePursuit(2, random_state=0).fit(table.X).selected_)


def test_a_kept_feature_leaves_its_copies_nothing_to_explain(blobs):
    group = blobs.groups
    (first,) = StructurePursuit(1, random_state=0).fit(blobs.X).selected_
    found = StructurePursuit(2, must_keep=[first], random_state=0).fit(blobs.X)
    assert found.selected_[0] == first
    assert group[found.selected_[1]] != group[first]


def test_a_constant_feature_can_be_kept(blobs):
    X = np.c_[blobs.X, np.ones(len(blobs.X))]
    found = StructurePursuit(3, must_keep=[10], random_state=0).fit(X)
    assert found.selected_[0] == 10
    assert set(blobs.groups[found.selected_[1:]]) == {0, 1}


def test_tables_on_disk_and_sparse_ones_give_the_same(blobs, tmp_path):
    expected = StructurePursuit(3, random_state=0).fit(blobs.X)
    np.save(tmp_path / "blobs.npy", blobs.X)
    for X in (open_source(tmp_path / "blobs.npy"), csr_matrix(blobs.X)):
        np.testing.assert_array_equal(StructurePursuit(3, random_state=0).fit(X).selected_, expected.selected_)


def test_the_seed_draws_the_rows(rng):
    X = rng.standard_normal((12_000, 6))
    X[:, 3:] += X[:, :3]
    scores = [StructurePursuit(3, random_state=seed).fit(X).scores_ for seed in (0, 0, 1)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


@pytest.mark.parametrize("kept", [[], [4]], ids=["free", "kept"])
def test_pursuit_agrees_with_regressions_from_scratch(rng, kept):
    """A feature regressed out of everything by ridge regression, one after the other."""
    Z, goal = rng.standard_normal((50, 7)), rng.standard_normal((50, 2))
    goal[:, 0] += Z[:, 2] + 0.5 * Z[:, 4]
    candidates = np.array([0, 2, 3, 5, 6])
    order, gains = pursue(Pursuit(Z, goal, candidates, np.array(kept, dtype=int)), 3)
    left, features, penalty = goal.copy(), Z.copy(), RIDGE * 50
    expected, shares = [], []
    for step in range(len(kept) + 3):
        gain = [
            sum(float(features[:, j] @ left[:, c]) ** 2 for c in range(2)) / (features[:, j] @ features[:, j] + penalty)
            for j in range(7)
        ]
        free = [j for j in candidates if j not in expected]
        best = kept[step] if step < len(kept) else max(free, key=lambda j: gain[j])
        x = features[:, best].copy()
        left -= np.outer(x, x @ left) / (x @ x + penalty)
        features -= np.outer(x, x @ features) / (x @ x + penalty)
        if step >= len(kept):
            expected.append(best)
            shares.append(gain[best] / (goal**2).sum())
    assert order.tolist() == expected
    np.testing.assert_allclose(gains, shares)
