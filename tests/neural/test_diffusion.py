import math

import pytest
import torch

from tamis.neural.diffusion import (
    Graph,
    chance_level,
    column_scores,
    diffuse,
    diffusion_score,
    expected_score,
    gated_gram,
    largest_nearest_neighbour,
    mean_squared_distance,
    shuffled,
    squared_distances,
    steps_that_tell_noise,
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


def test_column_scores_agree_with_loops(x, gates):
    walk = Graph(1.3).transitions(gated_gram(x, gates))
    for r in range(2):
        naive = naive_walk(x * gates[r], 1.3**2, False, 1)
        for f in range(4):
            column = x[:, f].tolist()
            smooth = sum(naive[i][j] * column[i] * column[j] for i in range(6) for j in range(6))
            expected = smooth / sum(value**2 for value in column)
            assert column_scores(x, walk)[r, f].item() == pytest.approx(expected, rel=1e-9)


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


@pytest.mark.parametrize("steps", [1, 4])
def test_chance_level_is_what_unrelated_columns_reach(steps):
    generator = torch.Generator().manual_seed(0)
    walk = diffuse(
        Graph("mean", 0.05).transitions(gated_gram(torch.randn(120, 3, generator=generator), torch.ones(1, 3))), steps
    )
    unrelated = torch.randn(120, 4000, generator=generator)
    unrelated = (unrelated - unrelated.mean(dim=0)) / unrelated.std(dim=0, correction=0)
    scores = column_scores(unrelated, walk)[0]
    one_deviation = chance_level(walk, 4000) - chance_level(walk, 2)
    one_deviation /= math.sqrt(2 * math.log(4000)) - math.sqrt(2 * math.log(2))
    mean = chance_level(walk, 2) - math.sqrt(2 * math.log(2)) * one_deviation
    assert scores.mean().item() == pytest.approx(mean.item(), abs=3 * scores.std().item() / 60)
    assert scores.std().item() == pytest.approx(one_deviation.item(), rel=0.1)
    assert (scores > chance_level(walk, 4000)[0]).sum() <= 8


@pytest.mark.parametrize("steps", [1, 4])
def test_expected_score_is_the_mean_over_all_orders_of_a_column(steps):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(60, 3, generator=generator, dtype=torch.float64)
    walk = diffuse(Graph("mean", 0.05, self_loops=True).transitions((x @ x.mT)[None]), steps)
    expected = (sum(walk[0, i, i].item() for i in range(60)) - 1) / 60
    assert expected_score(walk).tolist() == pytest.approx([expected])
    column = torch.randn(60, 1, generator=generator, dtype=torch.float64)
    orders = shuffled((column - column.mean()).expand(60, 4000), generator)
    scores = column_scores(orders, walk)[0]
    # Without replacement, other rows are not independent of one's own: tr Q − 1 over m − 1 rather than m.
    assert scores.mean().item() == pytest.approx(expected * 60 / 59, abs=4 * scores.std().item() / 4000**0.5)


def test_shuffled_columns_hold_the_same_values_in_orders_of_their_own(x):
    mixed = shuffled(x, torch.Generator().manual_seed(0))
    torch.testing.assert_close(mixed.sort(dim=0).values, x.sort(dim=0).values)
    same = torch.arange(50.0)[:, None].expand(50, 4)
    orders = shuffled(same, torch.Generator().manual_seed(0))
    assert len(torch.unique(orders, dim=1).T) == 4
    torch.testing.assert_close(orders, shuffled(same, torch.Generator().manual_seed(0)))


def test_a_lower_level_asks_for_a_longer_walk():
    x = torch.randn(200, 40, generator=torch.Generator().manual_seed(0))

    def steps(level):
        return steps_that_tell_noise(x, Graph("mean", 0.05), 5, torch.Generator().manual_seed(1), level=level)

    assert steps(1.0) == 1
    assert steps(0.15) > steps(0.5) > 1


def test_fewer_columns_need_longer_walks():
    x = torch.randn(200, 40, generator=torch.Generator().manual_seed(0))
    steps = [steps_that_tell_noise(x, Graph("mean", 0.05), k, torch.Generator().manual_seed(1)) for k in (2, 5, 40)]
    assert steps[0] > steps[1] > steps[2] == 1


def test_walks_are_not_lengthened_for_ever():
    x = torch.randn(30, 1)
    assert steps_that_tell_noise(x, Graph(1e-6), 1, torch.Generator().manual_seed(0)) <= 64
