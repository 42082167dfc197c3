"""Whether a selection would be found again in other rows: the whole way to it, without units, on parts of the data."""

import torch
from torch import Tensor

from tamis.neural.batching import sample_batch
from tamis.neural.judge import ROWS
from tamis.neural.objective import Objective, Sample
from tamis.neural.polish import polish
from tamis.neural.preparation import prepare_on
from tamis.neural.readout import leave_one_out
from tamis.neural.restarts import Problem
from tamis.neural.screening import Screening, eliminate

RIVALS = 2
"""How many times a selection is looked for again."""

SHARE = 0.8
"""Share of the rows of a small table in which it is looked for."""


def found_again(
    columns: Tensor,
    problem: Problem,
    objective: Objective,
    screening: Screening | None,
    weighted: bool,
    generator: torch.Generator,
) -> Tensor:
    """Tell how well each of the hard columns (k,) is explained by what other rows would have selected: (free units,).

    The share of a column's variance that a linear readout of the rival columns explains in rows it was not fitted on,
    a mean over the rivals; near copies explain each other.
    """
    x = sample_batch(problem.rows, ROWS, generator)
    free = x[:, columns[len(problem.kept) :].to(x.device)]
    total = torch.zeros(free.shape[1], device=x.device)
    for _ in range(RIVALS):
        rival = _rival(_part(problem, x, generator), problem, objective, screening, weighted, generator)
        predicted = leave_one_out(x[None, :, rival], free)[0]
        total += 1 - (predicted - free).square().sum(dim=0) / free.square().sum(dim=0).clamp_min(1e-12)
    return (total / RIVALS).clamp(0, 1).cpu()


def _part(problem: Problem, x: Tensor, generator: torch.Generator) -> Tensor:
    """Give other rows or, where x holds them all, part of them."""
    if len(x) < problem.rows.n_rows:
        return sample_batch(problem.rows, ROWS, generator)
    size = max(3, int(SHARE * len(x)))
    return x[torch.randperm(len(x), generator=generator, device=generator.device)[:size]]


def _rival(
    x: Tensor,
    problem: Problem,
    objective: Objective,
    screening: Screening | None,
    weighted: bool,
    generator: torch.Generator,
) -> Tensor:
    """Select on some rows by screening, elimination and exchanges."""
    problem = prepare_on([x], problem, objective, screening, weighted, generator)
    assert problem.candidates is not None
    kept = torch.as_tensor(list(problem.kept), dtype=torch.long, device=x.device)
    samples = [Sample.of(x, problem.targets, problem.weights)]
    left = eliminate(samples, problem.candidates, kept, objective, problem.n_free, Screening())
    return polish(samples, torch.cat([kept, left]), len(kept), problem.candidates, objective)[0]
