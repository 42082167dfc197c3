import math

import pytest
import torch

from tamis.neural import structure
from tamis.neural.diffusion import (
    Graph,
    chance_level,
    column_scores,
    diffuse,
    expected_score,
    gated_gram,
    steps_that_tell_noise,
)
from tamis.neural.structure import DRAWS, NOISE_LEVEL, as_weights, excess, first_copies, structure_on, structure_weights

GRAPH = Graph("mean", 0.05)
PLANTED = [0, 1, 2, 3]


def batch(seed=0, n_noise=16, n_rows=120):
    """A batch in which the first four columns hold clusters, the others are noise, and the last copies one of it."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n_rows, 4 + n_noise, generator=generator, dtype=torch.float64)
    x[: n_rows // 2, :4] += 4
    x[:, -1] = 0.1 * x[:, -1] - x[:, -2]
    return (x - x.mean(dim=0)) / x.std(dim=0, correction=0)


def generator(seed=1):
    return torch.Generator().manual_seed(seed)


def test_excess_is_what_exceeds_chance():
    x = batch()
    walk = GRAPH.transitions(gated_gram(x, torch.ones(1, 20, dtype=torch.float64)))
    found, scores, chance = excess(x, walk), column_scores(x, walk), chance_level(walk, 20)
    for j in range(20):
        assert found[0, j].item() == pytest.approx(max(0.0, (scores[0, j] - chance[0, 0]).item()))


def test_weights_have_mean_one_and_are_equal_where_nothing_stands_out():
    weights = as_weights(torch.tensor([3.0, 0.0, 1.0, 0.0]))
    torch.testing.assert_close(weights, torch.tensor([3.0, 0, 1, 0]))
    torch.testing.assert_close(as_weights(torch.zeros(3)), torch.ones(3))


def shuffled_with_copies(columns, source):
    """Shuffle every column, in the order of the first one that it copies."""
    orders = torch.rand(columns.shape, generator=source).argsort(dim=0)
    mixed = []
    for j in range(columns.shape[1]):
        correlations = torch.corrcoef(columns.T)[j].abs()
        first = next(i for i in range(columns.shape[1]) if correlations[i] >= 0.9)
        mixed.append(columns[orders[:, first], j])
    return torch.stack(mixed, dim=1)


@pytest.mark.parametrize("at_once", [2, 512])
def test_the_first_of_near_copies(at_once, monkeypatch):
    monkeypatch.setattr(structure, "COLUMNS_AT_ONCE", at_once)
    base = torch.randn(100, 3, generator=generator())
    x = torch.stack([base[:, 0], base[:, 1], 3 - 2 * base[:, 0], torch.ones(100), base[:, 1] + 0.1 * base[:, 2]], dim=1)
    assert first_copies(x).tolist() == [0, 1, 0, 3, 1]


def naive_structure(x, goal, reference, source):
    """The definition, column by column."""
    spanning = x[:, reference]
    steps = steps_that_tell_noise(spanning, GRAPH, len(reference), source, level=NOISE_LEVEL)

    def walk_on(columns):
        return diffuse(GRAPH.transitions((columns @ columns.T)[None]), steps)[0]

    def score(column, walk):
        return float(column @ walk @ column / (column @ column))

    walk = walk_on(spanning)
    independent = float(expected_score(walk[None])[0])
    margin = float(chance_level(walk[None], len(goal))[0, 0]) - independent
    copies = [shuffled_with_copies(spanning, source) for _ in range(DRAWS)]
    above = []
    for j in goal:
        chance = independent
        if j in reference:
            place = reference.index(j)
            chance = sum(score(copy[:, place], walk_on(copy)) for copy in copies) / DRAWS
        above.append(max(0.0, score(x[:, j], walk) - chance - margin))
    return above


@pytest.mark.parametrize("goal", [list(range(20)), [19, 2, 7, 0]], ids=["all", "some"])
@pytest.mark.parametrize("reference", [list(range(20)), [0, 2, 5, 18, 19]], ids=["all", "some"])
def test_structure_agrees_with_loops(goal, reference):
    x = batch()
    found = structure_on(x, torch.tensor(goal), torch.tensor(reference), GRAPH, generator())
    assert found.tolist() == pytest.approx(naive_structure(x, goal, reference, generator()), abs=1e-8)


def test_weights_are_the_root_of_structure():
    found = structure_weights(torch.tensor([0.09, 0.0, 0.04, 0.01]))
    assert found.tolist() == pytest.approx([math.sqrt(s) / 0.15 for s in (0.09, 0.0, 0.04, 0.01)], abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reference", [list(range(20)), [0, 1, 18, 19], [4, 5, 0, 1]], ids=["all", "copies", "noise"])
def test_independent_columns_hardly_weigh(seed, reference):
    x = batch(seed, n_rows=400)
    weights = structure_weights(structure_on(x, torch.arange(20), torch.tensor(reference), GRAPH, generator()))
    assert weights[PLANTED].min() > 3.5
    assert weights[4:].max() < 0.3 * weights[PLANTED].min()
    assert weights[4:].mean() < 0.1 * weights[PLANTED].mean()
    assert weights.mean().item() == pytest.approx(1)


def test_a_column_that_spans_the_graph_is_not_smooth_for_that_reason():
    """Noise scores high on a graph of two columns that it spans; that is what shuffled columns reach too."""
    x, reference = batch(), torch.tensor([4, 5])
    walk = GRAPH.transitions((x[:, reference] @ x[:, reference].mT)[None])
    assert column_scores(x[:, reference], walk).min() > 0.5
    weights = structure_weights(structure_on(x, torch.arange(20), torch.tensor([0, 1, 4, 5]), GRAPH, generator()))
    assert weights[reference].max() < 0.1 * weights[PLANTED].min()


def test_the_generator_decides_the_shuffles():
    x, everything = batch(), torch.arange(20)
    first, second, other = (structure_on(x, everything, everything, GRAPH, generator(s)) for s in (1, 1, 2))
    torch.testing.assert_close(first, second, rtol=0, atol=0)
    assert not torch.equal(first, other)
    state = torch.get_rng_state()
    structure_on(x, everything, everything, GRAPH, generator())
    assert torch.equal(torch.get_rng_state(), state)
