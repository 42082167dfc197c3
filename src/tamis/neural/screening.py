"""Screening: backward elimination of columns by the slope of the objective, before any unit is trained.

At the beginning of training all units see all columns alike, and what k · d logits learn then is one number a column:
whether it helps to open its gate. Screening computes that number itself, without noise, and drops the worst columns.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tamis.neural.analytic import applies, graph_gradient
from tamis.neural.objective import Goal, Objective, Sample, View
from tamis.neural.structure import as_weights, excess
from tamis.neural.taming import effective_rows


@dataclass(frozen=True)
class Screening:
    """Drop this share of the columns in each round, until so many are left for each unit."""

    drop: float = 0.2
    per_unit: int = 8

    def left(self, n_columns: int, at_last: int) -> int:
        """Give how many columns are left after a round."""
        return min(n_columns - 1, max(at_last, int(n_columns * (1 - self.drop))))


FEWEST_ROWS = 3
"""Variance that sits in fewer rows of a sample tells of these rows rather than of groups."""


def widely_carried(batches: list[Tensor], candidates: Tensor, n_units: int) -> Tensor:
    """Leave out candidates that are constant but for a few rows, as long as enough are left for the units.

    They are neutral in the batches without those rows, and would outlive columns that do harm there: on digits, the
    edge of the image filled half of the places.
    """
    if len(candidates) <= n_units:
        return candidates
    carried = torch.stack([effective_rows(x[:, candidates]) for x in batches]).mean(dim=0)
    wide = carried >= FEWEST_ROWS
    wide[carried.topk(n_units).indices] = True
    return candidates[wide]


def slopes(columns: Tensor, goal: Goal, objective: Objective, progress: float) -> tuple[Tensor, Tensor]:
    """Give ``∂J/∂(g_j²) = x_jᵀ (∂J/∂K) x_j`` at open gates for columns (rows, n) and what differentiates others.

    K is the Gram matrix of the columns; the derivative by it, (rows, rows), gives the slope of closed gates too.
    """
    gram = (columns @ columns.mT)[None]
    written_out = applies(objective, progress) and columns.device.type == "cpu"
    gradient = (_written_out if written_out else _recorded)(gram, goal, objective, progress)
    return column_slopes(columns, gradient), gradient


def _written_out(gram: Tensor, goal: Goal, objective: Objective, progress: float) -> Tensor:
    return torch.from_numpy(graph_gradient(gram.numpy(), goal, objective, progress).by_gram[0])


def _recorded(gram: Tensor, goal: Goal, objective: Objective, progress: float) -> Tensor:
    view = View(goal, objective.recipe, progress=progress)
    view.gram = gram.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(objective(view).loss.sum(), view.gram)
    return gradient[0]


def column_slopes(columns: Tensor, gradient: Tensor) -> Tensor:
    """Give ``x_jᵀ (∂J/∂K) x_j`` for every column."""
    return (columns * (gradient @ columns)).sum(dim=0)


def screen(
    batches: list[Tensor],
    candidates: Tensor,
    kept: Tensor,
    targets: Tensor,
    objective: Objective,
    n_units: int,
    screening: Screening,
    weighted: bool,
) -> list[Tensor]:
    """Drop candidates until ``per_unit`` are left for each unit; give those left before and after each round.

    The weights of the terms follow the number of columns that are left, as if the last round left k. The
    reconstruction weights are those of the current graph.
    """
    at_first, wanted, rounds = len(candidates), screening.per_unit * n_units, [candidates]
    while len(candidates) > wanted:
        progress = math.log(at_first / len(candidates)) / math.log(max(2.0, at_first / n_units))
        total = torch.zeros(len(candidates), device=candidates.device)
        for x in batches:
            open_columns, columns = x[:, torch.cat([kept, candidates])], x[:, targets]
            goal = _current_goal(columns, open_columns, objective, progress) if weighted else Goal(columns)
            total += slopes(open_columns, goal, objective, progress)[0][len(kept) :]
        candidates = _best(candidates, total, screening.left(len(candidates), wanted))
        rounds.append(candidates)
    return rounds


def eliminate(
    samples: Sequence[Sample],
    candidates: Tensor,
    kept: Tensor,
    objective: Objective,
    n_units: int,
    screening: Screening,
) -> Tensor:
    """Go on dropping candidates, now with the weights of the end of training, until one is left for each unit."""
    while len(candidates) > n_units:
        total = torch.zeros(len(candidates), device=candidates.device)
        for x, goal in samples:
            slope, _ = slopes(x[:, torch.cat([kept, candidates])], goal, objective, progress=1.0)
            total += slope[len(kept) :]
        candidates = _best(candidates, total, screening.left(len(candidates), n_units))
    return candidates


@torch.no_grad()
def _current_goal(columns: Tensor, open_columns: Tensor, objective: Objective, progress: float) -> Goal:
    gates = open_columns.new_ones(1, open_columns.shape[1])
    view = View(Goal(columns), objective.recipe, shown=open_columns, gates=gates, progress=progress)
    return Goal(columns, as_weights(excess(columns, view.walk))[0])


def _best(candidates: Tensor, slope: Tensor, n_left: int) -> Tensor:
    return candidates[slope.topk(n_left, largest=False).indices.sort().values]
