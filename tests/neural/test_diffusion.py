import math

import pytest
import torch

from tamis.neural.diffusion import (
    Graph,
    diffuse,
    diffusion_score,
    gated_gram,
    largest_nearest_neighbour,
    mean_squared_distance,
    squared_distances,
)


@pytest.fixture
def x():
    return torch.randn(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def gates():
    return torch.rand(2, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def naive_distance(a, b):
    return sum((p - q) ** 2 for p, q in zip(a.tolist(), b.tolist(), strict=True))


def naive_walk(points, variance, self_loops, steps):
    n = len(points)
    kernel = [
        [
            0.0 if i == j and not self_loops else math.exp(-naive_distance(points[i], points[j]) / (2 * variance))
            for j in range(n)
        ]
        for i in range(n)
    ]
    step = [[value / sum(row) for value in row] for row in kernel]
    walk = step
    for _ in range(steps - 1):
        walk = [[sum(walk[i][m] * step[m][j] for m in range(n)) for j in range(n)] for i in range(n)]
    return walk


def test_gram_and_distances(x, gates):
    points = x * gates[:, None]
    gram = gated_gram(x, gates)
    torch.testing.assert_close(gram, points @ points.mT)
    for r in range(2):
        for i in range(6):
            for j in range(6):
                expected = naive_distance(points[r, i], points[r, j])
                assert squared_distances(gram)[r, i, j].item() == pytest.approx(expected, abs=1e-12)


def test_bandwidth_rules(x):
    distances = squared_distances((x @ x.mT)[None])
    pairs = [[naive_distance(x[i], x[j]) for j in range(6) if j != i] for i in range(6)]
    assert largest_nearest_neighbour(distances).item() == pytest.approx(max(min(row) for row in pairs))
    assert mean_squared_distance(distances).item() == pytest.approx(sum(map(sum, pairs)) / 30)


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("normalize", [True, False])
def test_score_agrees_with_loops(x, gates, self_loops, steps, normalize):
    gram = gated_gram(x, gates)
    walk = diffuse(Graph(1.3, self_loops=self_loops).transitions(gram), steps)
    scores = diffusion_score(gram, walk, normalize)
    for r in range(2):
        points = x * gates[r]
        naive = naive_walk(points, 1.3**2, self_loops, steps)
        trace = sum(
            naive[i][j] * points[i, f].item() * points[j, f].item()
            for f in range(4)
            for i in range(6)
            for j in range(6)
        )
        energy = points.square().sum().item() if normalize else 1.0
        assert scores[r].item() == pytest.approx(trace / energy, rel=1e-9)


@pytest.mark.parametrize("graph", [Graph(1.3), Graph("mean", 0.5), Graph("nearest", 2.0, self_loops=True)])
@pytest.mark.parametrize("steps", [1, 4])
def test_gradient_of_the_score(x, gates, graph, steps):
    def score(gates):
        gram = gated_gram(x, gates)
        return diffusion_score(gram, diffuse(graph.transitions(gram), steps), normalize=True)

    assert torch.autograd.gradcheck(score, gates.clone().requires_grad_())


def test_rows_of_the_walk_sum_to_one_even_for_equal_rows():
    gram = gated_gram(torch.ones(5, 3), torch.ones(1, 3))
    for self_loops in (True, False):
        walk = Graph("nearest", 1.0, self_loops).transitions(gram)
        torch.testing.assert_close(walk.sum(dim=-1), torch.ones(1, 5))
        assert (walk.diagonal(dim1=-2, dim2=-1) > 0).all() == self_loops


def test_far_away_rows_do_not_give_nan():
    x = torch.tensor([[0.0], [1e-4], [1e4]])
    assert Graph(1e-3).transitions(gated_gram(x, torch.ones(1, 1))).isfinite().all()
