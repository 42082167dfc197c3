import pytest
import torch

from tamis.lscae.objective.graph import kernel_variance, observed_distances, squared_distances, transitions
from tamis.lscae.recipe import Recipe


@pytest.fixture
def x():
    return torch.randn(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def gates():
    return torch.rand(4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def naive_distance(a, b):
    return sum((p - q) ** 2 for p, q in zip(a.tolist(), b.tolist(), strict=True))


def test_distances(x):
    expected = [[naive_distance(a, b) for b in x] for a in x]
    torch.testing.assert_close(squared_distances(x @ x.mT), torch.tensor(expected, dtype=torch.float64))


def test_distances_over_what_both_rows_have_are_scaled_up(x, gates):
    known = (torch.rand(6, 4, generator=torch.Generator().manual_seed(3)) < 0.7).double()
    assert (known @ known.mT > 0).all()
    points, observed = x * gates * known, gates.square() * known
    found = observed_distances(points @ points.mT, points, observed)
    for i in range(6):
        for j in range(6):
            both = [f for f in range(4) if known[i, f] and known[j, f]]
            distance = sum((points[i, f] - points[j, f]).item() ** 2 for f in both)
            scale = gates.square().sum() / sum(gates[f] ** 2 for f in both)
            assert found[i, j].item() == pytest.approx(distance * scale.item(), abs=1e-12)


def test_bandwidth_rules(x):
    distances = squared_distances(x @ x.mT)
    pairs = [[naive_distance(x[i], x[j]) for j in range(6) if j != i] for i in range(6)]
    nearest, mean = max(min(row) for row in pairs), sum(map(sum, pairs)) / 30
    for rule, expected in {
        "nearest": nearest, "mean": mean, ("nearest", 2): 2 * nearest, ("mean", 0.1): 0.1 * mean, 1.5: 2.25,
    }.items():  # fmt: skip
        assert kernel_variance(distances, rule).item() == pytest.approx(expected)


def test_several_selections_do_not_mix(x):
    distances = torch.stack([squared_distances(part @ part.mT) for part in (x[:, :2], x[:, 2:])])
    for one, together in zip(distances, transitions(distances, Recipe()), strict=True):
        torch.testing.assert_close(transitions(one, Recipe()), together)


@pytest.mark.parametrize("self_loops", [True, False])
def test_rows_of_the_walk_sum_to_one_even_for_equal_rows(self_loops):
    walk = transitions(torch.zeros(5, 5), Recipe(bandwidth="nearest", self_loops=self_loops))
    torch.testing.assert_close(walk.sum(dim=-1), torch.ones(5))
    assert (walk.diagonal() > 0).all() == self_loops


def test_far_away_rows_do_not_give_nan():
    x = torch.tensor([[0.0], [1e-4], [1e4]])
    assert transitions(squared_distances(x @ x.mT), Recipe(bandwidth=1e-3)).isfinite().all()
