import numpy as np
import pytest

from tamis.single_cell.alignment import align, find_programmes, rare_genes


@pytest.fixture
def values(rng):
    X = rng.standard_normal((60, 12)) * rng.uniform(0.5, 2, 12)
    return (X - X.mean(axis=0)).astype(np.float32)


def alignment(values, goal, genes):
    kernel = values[:, genes] @ values[:, genes].T
    return (kernel * (goal @ goal.T)).sum() / np.linalg.norm(kernel)


def naive(values, goal, kept, free, n_steps):
    chosen = list(kept)
    for _ in range(n_steps):
        others = [j for j in free if j not in chosen]
        chosen.append(max(others, key=lambda j: alignment(values, goal, [*chosen, j])))
    return chosen[len(kept) :]


@pytest.mark.parametrize("kept", [[], [7, 2]])
def test_each_step_takes_the_gene_with_the_largest_alignment(values, rng, kept):
    goal = rng.standard_normal((60, 3)).astype(np.float32)
    free = np.ones(12, bool)
    free[[0, *kept]] = False
    got = align(values, goal, np.array(kept, dtype=int), free, 4)
    assert got.tolist() == naive(values, goal, kept, np.flatnonzero(free), 4)


def test_penalties_and_groups(values):
    free = np.ones(12, bool)
    first = align(values, values[:, :2], np.arange(0), free, 2)
    penalty = np.zeros(12)
    penalty[first[0]] = 1.0
    assert align(values, values[:, :2], np.arange(0), free, 12, penalty=penalty)[0] != first[0]
    groups = np.full(12, -1)
    groups[first] = 0
    assert len(np.intersect1d(align(values, values[:, :2], np.arange(0), free, 11, groups=groups), first)) == 1
    with pytest.raises(ValueError, match="No further gene may be chosen"):
        align(values, values[:, :2], np.arange(0), free, 2, groups=np.zeros(12, int))


def test_a_rare_programme_is_found_and_gets_its_share(rng):
    X = rng.standard_normal((500, 30)) * 0.1
    X[:250, :10] += 3.0  # A common programme of ten genes.
    X[:8, 20:25] += 1.0  # Eight cells show five genes.
    X = (X - X.mean(axis=0)).astype(np.float32)
    detection = np.full(30, 0.5)
    detection[20:] = 0.02
    programmes = find_programmes(X, np.arange(30), detection, 0)
    assert programmes.rare.shape[1] == 1
    assert programmes.names[-1] == "rare 1"
    chosen = rare_genes(programmes, np.ones(30, bool), 20)
    assert len(chosen) == 2
    assert set(chosen) <= set(range(20, 25))
    assert not rare_genes(programmes, np.ones(30, bool), 9).size
