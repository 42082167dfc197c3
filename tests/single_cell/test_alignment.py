import numpy as np
import pytest

from tamis.single_cell.alignment import align, find_programmes, leading_directions, serve

PLAIN = np.arange(12), np.ones(12)
"""Groups of one gene, and equal weights."""


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
    got = align(values, goal, np.array(kept, dtype=int), free, 4, *PLAIN)
    assert got.tolist() == naive(values, goal, kept, np.flatnonzero(free), 4)


def test_weights_and_groups(values):
    free, none, (groups, weights) = np.ones(12, bool), np.arange(0), (part.copy() for part in PLAIN)
    first = align(values, values[:, :2], none, free, 2, groups, weights)
    weights[first[0]] = 0.0
    assert align(values, values[:, :2], none, free, 12, groups, weights)[0] != first[0]
    groups[first] = 100
    assert len(np.intersect1d(align(values, values[:, :2], none, free, 11, groups, weights), first)) == 1


def test_a_programme_of_few_cells_is_found_and_served(rng):
    X = rng.standard_normal((500, 30)) * 0.1
    X[:250, :10] += 3.0  # A common programme of ten genes.
    X[:8, 20:25] += 1.0  # Eight cells show five genes.
    X = (X - X.mean(axis=0)).astype(np.float32)
    programmes = find_programmes(X, np.arange(30), 0)
    assert programmes.directions.shape[1] == 2
    np.testing.assert_allclose(programmes.directions.T @ programmes.directions, np.eye(2), atol=1e-5)
    followed = programmes.followed_by(X)
    assert followed[[*range(10), *range(20, 25)]].all()
    assert followed.sum() <= 16
    none, free, alike = np.arange(0), np.ones(30, bool), np.ones(30)
    first, second = serve(programmes, none, free, 20, alike)
    assert first in range(10)
    assert second in range(20, 25)
    assert len(serve(programmes, none, free, 1, alike)) == 1
    assert serve(programmes, np.array([0, 1]), free, 1, alike)[0] in range(20, 25)
    assert first not in serve(programmes, none, np.arange(30) != first, 20, alike)
    assert first not in serve(programmes, none, free, 20, np.where(np.arange(30) == first, 0.01, 1.0))


def test_noise_has_one_programme_at_least_and_directions_count_by_a_power(rng):
    X = rng.standard_normal((200, 40)).astype(np.float32)
    assert find_programmes(X, np.arange(40), 0).directions.shape[1] >= 1
    goal = leading_directions(X, 0)
    singular = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(goal, axis=0), singular[: goal.shape[1]] ** 0.75, rtol=0.02)
