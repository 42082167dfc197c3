"""The last word on a hard selection: single columns are exchanged as long as the objective falls."""

import torch
from torch import Tensor

from tamis.neural.diffusion import TINY
from tamis.neural.network import hard_codes
from tamis.neural.objective import Goal, Objective, View
from tamis.neural.screening import column_slopes, slopes
from tamis.neural.structure import NEAR_COPY

MOST_UNITS = 32
"""Selections of more columns are left alone: an exchange matters less there, and costs more."""

SHORTLIST = (4, 12)
"""Fewest and most columns that are tried in a place, those whose gates the objective most wants open."""

TRIALS = 60
"""Columns that are tried in all places together, as far as the shortlist allows; more did not lower J."""

SWEEPS = 3
LEAST_GAIN = 1e-3

COPY_COST = 10.0
"""What a near copy among the selected columns costs, more than any exchange can gain: copies tell nothing new."""

VALUES_AT_ONCE = 2**22


@torch.no_grad()
def objectives(x: Tensor, selections: Tensor, goal: Goal, objective: Objective) -> Tensor:
    """Give J of several hard selections (n, k) whose objective needs no network: (n,)."""
    at_once = max(1, VALUES_AT_ONCE // len(x) ** 2)
    views = (View(goal, objective.recipe, hard_codes(x, some)) for some in selections.split(at_once))
    return torch.cat([objective(view).objective for view in views])


@torch.no_grad()
def copies(x: Tensor, selections: Tensor) -> Tensor:
    """Count, for selections (n, k), the columns that are near copies of an earlier one: (n,)."""
    codes = hard_codes(x, selections)
    codes = codes - codes.mean(dim=1, keepdim=True)
    codes = codes / (codes.norm(dim=1, keepdim=True) + TINY)
    alike = (codes.mT @ codes).abs() >= NEAR_COPY
    return alike.triu(diagonal=1).any(dim=1).sum(dim=-1)


def polish(
    x: Tensor, columns: Tensor, n_kept: int, candidates: Tensor, goal: Goal, objective: Objective
) -> tuple[Tensor, int]:
    """Exchange single columns (the first ``n_kept`` excepted) for candidates while J falls, near copies first of all.

    Give the columns, and how many exchanges there were.
    """
    if len(columns) - n_kept > MOST_UNITS:
        return columns, 0
    best = float(_costs(x, columns[None], goal, objective)[0])
    exchanges = 0
    for _ in range(SWEEPS):
        before = exchanges
        for place in range(n_kept, len(columns)):
            trials = _with_another(x, columns, place, candidates, goal, objective)
            values = _costs(x, trials, goal, objective)
            if len(values) and float(values.min()) < best - LEAST_GAIN:
                best, columns, exchanges = float(values.min()), trials[values.argmin()], exchanges + 1
        if exchanges == before:
            break
    return columns, exchanges


def shortlist(n_places: int) -> int:
    """Give how many columns are tried in each of so many places."""
    fewest, most = SHORTLIST
    return min(most, max(fewest, TRIALS // n_places))


def _costs(x: Tensor, selections: Tensor, goal: Goal, objective: Objective) -> Tensor:
    values = objectives(x, selections, goal, objective)
    if not objective.reconstructs:
        return values  # an objective that does not ask what columns tell of others does not mind copies
    return values + COPY_COST * copies(x, selections)


def _with_another(
    x: Tensor, columns: Tensor, place: int, candidates: Tensor, goal: Goal, objective: Objective
) -> Tensor:
    """Give selections with the column of one place replaced, by the slope of J without that column."""
    others = candidates[~torch.isin(candidates, columns)]
    rest = torch.cat([columns[:place], columns[place + 1 :]])
    if len(rest):
        _, gradient = slopes(x[:, rest], goal, objective, progress=1.0)
        others = others[column_slopes(x[:, others], gradient).argsort()[: shortlist(len(columns))]]
    trials = columns.repeat(len(others), 1)
    trials[:, place] = others
    return trials
