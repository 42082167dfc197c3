import torch

from tamis.neural.diffusion import Graph, chance_level, column_scores, gated_gram
from tamis.neural.structure import StructureMemory


def batch(seed):
    """A batch in which columns 0 and 1 hold clusters and the other three are noise, and its walk."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(80, 5, generator=generator)
    x[:40, :2] += 6
    x = (x - x.mean(dim=0)) / x.std(dim=0)
    return x, Graph("mean", 0.05).transitions(gated_gram(x, torch.tensor([[1.0, 1, 0, 0, 0]])))


def test_the_memory_is_a_mean_of_what_exceeds_chance():
    memory = StructureMemory(1, 5)
    excesses = []
    for seed in range(3):
        x, walk = batch(seed)
        memory.observe(x, walk)
        excesses.append((column_scores(x, walk) - chance_level(walk, 5)).clamp_min(0))
    torch.testing.assert_close(memory.total / memory.count, torch.stack(excesses).mean(dim=0))


def test_columns_with_structure_weigh_more():
    memory = StructureMemory(1, 5)
    memory.observe(*batch(0))
    weights = memory.weights()[0]
    assert weights[:2].min() > 5 * weights[2:].max()
    torch.testing.assert_close(weights.mean(), torch.tensor(1.0))


def test_an_empty_memory_weighs_all_columns_alike():
    torch.testing.assert_close(StructureMemory(2, 3).weights(), torch.ones(2, 3))
