"""Before training: which columns the units may choose from, and which ones are worth reconstructing."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from tamis.neural import ranks
from tamis.neural.batching import sample_batches
from tamis.neural.judge import ROWS, samples_of
from tamis.neural.objective import Objective
from tamis.neural.restarts import Problem
from tamis.neural.screening import Screening, screen, widely_carried
from tamis.neural.structure import structure_on, structure_weights

MOST_CANDIDATES = 256
"""More candidates than that, or than screening leaves at last, would take too long to train."""

CLEAR = 0.75
"""Structure is as clear on more candidates if it has this share of what it has on fewer."""

TARGETS = 2048
"""At most so many columns, drawn at random, are reconstructed during training."""


def prepare(
    problem: Problem,
    objective: Objective,
    screening: Screening | None,
    weighted: bool,
    generator: torch.Generator,
) -> Problem:
    """Give the problem with its targets drawn and, as asked, its candidates screened and its targets weighed."""
    problem = replace(problem, targets=draw_targets(problem.n_features, generator))
    if not weighted and screening is None:
        return problem
    batches = sample_batches(problem.rows, ROWS, generator, samples_of(problem.n_features))
    prepared = prepare_on(batches, problem, objective, screening, weighted, generator)
    candidates, weights = ranks.shared((prepared.candidates, prepared.weights))
    return replace(prepared, candidates=candidates, weights=weights)


def prepare_on(
    batches: list[Tensor],
    problem: Problem,
    objective: Objective,
    screening: Screening | None,
    weighted: bool,
    generator: torch.Generator,
) -> Problem:
    """Screen and weigh on some batches of rows."""
    everything = torch.arange(problem.n_features, device=generator.device)
    goal = everything if problem.targets is None else problem.targets
    candidates = everything if problem.candidates is None else problem.candidates.to(generator.device)
    kept = torch.as_tensor(list(problem.kept), dtype=torch.long, device=generator.device)
    rounds = [candidates]
    if screening is not None and problem.n_free:
        candidates = widely_carried(batches, candidates, problem.n_free)
        graph_decodes = replace(objective, recipe=replace(objective.recipe, decodes=True, on="gates"))
        rounds = screen(batches, candidates, kept, goal, graph_decodes, problem.n_free, screening, weighted)
    if not weighted:
        return replace(problem, candidates=rounds[-1])

    def structure(x: Tensor, left: Tensor) -> Tensor:
        return structure_on(x, goal, torch.cat([kept, left]), objective.recipe.graph, generator)

    candidates, found = widened(batches, rounds, structure)
    weights = torch.stack([structure_weights(each) for each in found]).mean(dim=0)
    return replace(problem, candidates=candidates, weights=weights)


def widened(
    batches: list[Tensor], rounds: list[Tensor], structure: Callable[[Tensor, Tensor], Tensor]
) -> tuple[Tensor, list[Tensor]]:
    """Take screening back to more candidates if structure is as clear there; give those left, and the structure.

    Structure is clear if some columns carry much of it, rather than many a little: ``Σ_j s_j²`` on the graph of the
    candidates. Nuisance columns blur it. Columns that tell something do not, and dropping these only takes away from
    the choice: what is left crowds where columns are most alike.
    """
    few = [left for left in rounds if len(left) <= max(MOST_CANDIDATES, len(rounds[-1]))]
    chosen, found = few[-1], [structure(x, few[-1]) for x in batches]
    if len(few) > 1:
        wider = [structure(x, few[0]) for x in batches]
        if clearness(wider) >= CLEAR * clearness(found):
            chosen, found = few[0], wider
    return chosen, found


def clearness(found: list[Tensor]) -> float:
    """Give ``Σ_j s_j²`` of the mean structure over the batches."""
    return float(torch.stack(found).mean(dim=0).square().sum())


def draw_targets(n_features: int, generator: torch.Generator) -> Tensor | None:
    """Draw the columns to reconstruct during training; None for all."""
    if n_features <= TARGETS:
        return None
    return torch.randperm(n_features, generator=generator, device=generator.device)[:TARGETS]
