"""Before training: which columns the units may choose from, and which ones are worth reconstructing."""

from dataclasses import replace

import torch
from torch import Tensor

from tamis.neural import ranks
from tamis.neural.batching import sample_batches
from tamis.neural.judge import ROWS, samples_of
from tamis.neural.objective import Objective
from tamis.neural.restarts import Problem
from tamis.neural.screening import Screening, screen, widely_carried
from tamis.neural.structure import structure_weights

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
    if screening is not None and problem.n_free:
        candidates = widely_carried(batches, candidates, problem.n_free)
        graph_decodes = replace(objective, recipe=replace(objective.recipe, decodes=True, on="gates"))
        candidates = screen(batches, candidates, kept, goal, graph_decodes, problem.n_free, screening, weighted)
    weights = None
    if weighted:
        reference = torch.cat([kept, candidates])
        graph = objective.recipe.graph
        each = [structure_weights(x, goal, reference, graph, generator) for x in batches]
        weights = torch.stack(each).mean(dim=0)
    return replace(problem, candidates=candidates, weights=weights)


def draw_targets(n_features: int, generator: torch.Generator) -> Tensor | None:
    """Draw the columns to reconstruct during training; None for all."""
    if n_features <= TARGETS:
        return None
    return torch.randperm(n_features, generator=generator, device=generator.device)[:TARGETS]
