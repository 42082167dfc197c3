"""Which columns carry structure: those smoother on a graph than columns that have nothing to do with each other."""

import torch
from torch import Tensor

from tamis.neural.diffusion import (
    TINY,
    Graph,
    chance_level,
    column_scores,
    diffuse,
    expected_score,
    steps_that_tell_noise,
)

DRAWS = 3
"""Shuffled copies of a table that tell how smooth columns are by chance."""

NEAR_COPY = 0.9
"""Columns with at least this absolute correlation count as copies of each other."""

COLUMNS_AT_ONCE = 512
"""So many columns are compared with all others at a time, which bounds the memory of wide tables."""

POWER = 0.5
"""Weights are this power of what is above chance.

What is above chance is about the share of a column that can be reconstructed, and this share enters the error once
already: weights in proportion to it count it twice, and the selection gathers where columns are most alike. A smaller
power lets through what is above chance by chance.
"""

NOISE_LEVEL = 0.15
"""Score of independent columns that the walk of the weights must go below."""


def excess(columns: Tensor, walk: Tensor) -> Tensor:
    """Give by how much the smoothness of each column exceeds chance, ``(f_jᵀ Q f_j / f_jᵀ f_j − chance level)₊``."""
    return (column_scores(columns, walk) - chance_level(walk, columns.shape[1])).clamp_min(0)


def as_weights(above_chance: Tensor) -> Tensor:
    """Give weights proportional to what is above chance, with mean 1; equal ones where no column stands out."""
    above_chance = above_chance + TINY
    return above_chance / above_chance.mean(dim=-1, keepdim=True)


def structure_weights(structure: Tensor) -> Tensor:
    """Weigh columns by the structure they carry: its :data:`POWER`, with mean 1."""
    return as_weights(structure**POWER)


@torch.no_grad()
def structure_on(
    x: Tensor, goal: Tensor, reference: Tensor, graph: Graph, generator: torch.Generator | None = None
) -> Tensor:
    """Give the structure that columns carry on the graph of some reference columns: (targets,).

    A reference column is smooth on a graph that it and its near copies span themselves, so chance is what it scores
    when the reference columns are shuffled, near copies alike; for other columns it is the score of an independent
    one. The walk is the shortest on which columns that are all shuffled hardly look smooth. Structure is what is
    above chance.

    Parameters
    ----------
    x : Tensor (rows, d)
        A batch.
    goal : Tensor of int (targets,)
        The columns in question.
    reference : Tensor of int
        The columns that span the graph.
    graph : Graph
        Kernel and bandwidth.
    generator : torch.Generator, optional
        Source of the shuffles.
    """
    spanning = x[:, reference]
    steps = steps_that_tell_noise(spanning, graph, len(reference), generator, level=NOISE_LEVEL)
    walk = diffuse(graph.transitions((spanning @ spanning.mT)[None]), steps)
    expected = expected_score(walk).expand(x.shape[1]).clone()
    expected[reference] = _self_support(spanning, graph, steps, generator)
    margin = (chance_level(walk, len(goal)) - expected_score(walk).unsqueeze(-1))[0]
    return (column_scores(x[:, goal], walk)[0] - expected[goal] - margin).clamp_min(0)


def _self_support(columns: Tensor, graph: Graph, steps: int, generator: torch.Generator | None) -> Tensor:
    groups = first_copies(columns)
    totals = torch.zeros_like(columns[0])
    for _ in range(DRAWS):
        order = torch.rand(columns.shape, generator=generator, device=columns.device).argsort(dim=0)
        mixed = columns.gather(0, order[:, groups])
        walk = diffuse(graph.transitions((mixed @ mixed.mT)[None]), steps)
        totals += column_scores(mixed, walk)[0]
    return totals / DRAWS


def first_copies(columns: Tensor) -> Tensor:
    """Give for each column the first one that it is a near copy of, which may be itself."""
    scaled = columns - columns.mean(dim=0)
    scaled = scaled / (scaled.norm(dim=0) + TINY)
    own = torch.arange(columns.shape[1], device=columns.device)
    return torch.cat([_first_alike(scaled, some) for some in own.split(COLUMNS_AT_ONCE)])


def _first_alike(scaled: Tensor, own: Tensor) -> Tensor:
    alike = (scaled[:, own].mT @ scaled).abs() >= NEAR_COPY
    alike[torch.arange(len(own)), own] = True
    return alike.to(torch.uint8).argmax(dim=1)
