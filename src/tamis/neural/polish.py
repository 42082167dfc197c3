"""The last word on a hard selection: single columns are exchanged as long as the objective falls."""

from collections.abc import Sequence

import torch
from torch import Tensor

from tamis.neural import compiled
from tamis.neural.diffusion import TINY
from tamis.neural.linear import linear_shares
from tamis.neural.network import hard_codes
from tamis.neural.objective import Objective, Sample, View, reconstruction
from tamis.neural.screening import column_slopes, slopes
from tamis.neural.structure import NEAR_COPY

MOST_UNITS = 32
"""Selections of more columns are left alone: an exchange matters less there, and costs more."""

LINEAR_UP_TO = 32
"""Selections of up to so many columns are judged by a linear decoder beside the graph.

The more columns span a graph, the fewer rows are neighbours there, and the graph alone explains less than a linear map.
Many columns, though, learn the rows by heart.
"""

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
def objectives(samples: Sequence[Sample], selections: Tensor, objective: Objective) -> Tensor:
    """Give J of several hard selections (n, k) whose objective needs no network, a mean over the samples: (n,)."""
    parts = selections.split(max(1, VALUES_AT_ONCE // len(samples[0].x) ** 2))
    each = [torch.cat([_objectives(sample, some, objective) for some in parts]) for sample in samples]
    return torch.stack(each).mean(dim=0)


def _objectives(sample: Sample, selections: Tensor, objective: Objective) -> Tensor:
    """Give J on one sample; of few columns, the mean of J with the graph and with a linear map as the decoder."""
    values = _values(sample, selections, objective)
    by_graph = objective.combine(values).objective
    decoded = [name for name, term in objective.terms.items() if term.value is reconstruction]
    if not decoded or selections.shape[1] > LINEAR_UP_TO:
        return by_graph
    linearly = values | dict.fromkeys(decoded, linear_shares(sample, selections))
    return (by_graph + objective.combine(linearly).objective) / 2


def _values(sample: Sample, selections: Tensor, objective: Objective) -> dict[str, Tensor]:
    if compiled.judges(sample, objective):
        return compiled.hard_values(sample, selections, objective)
    view = View(sample.goal, objective.recipe, hard_codes(sample.x, selections))
    return {name: term.value(view) for name, term in objective.terms.items()}


@torch.no_grad()
def copies(x: Tensor, selections: Tensor) -> Tensor:
    """Count, for selections (n, k), the columns that are near copies of an earlier one: (n,)."""
    codes = hard_codes(x, selections)
    codes = codes - codes.mean(dim=1, keepdim=True)
    codes = codes / (codes.norm(dim=1, keepdim=True) + TINY)
    alike = (codes.mT @ codes).abs() >= NEAR_COPY
    return alike.triu(diagonal=1).any(dim=1).sum(dim=-1)


def polish(
    samples: Sequence[Sample], columns: Tensor, n_kept: int, candidates: Tensor, objective: Objective
) -> tuple[Tensor, int]:
    """Exchange single columns (the first ``n_kept`` excepted) for candidates while J falls, near copies first of all.

    Give the columns, and how many exchanges there were.
    """
    if len(columns) - n_kept > MOST_UNITS:
        return columns, 0
    best = float(_costs(samples, columns[None], objective)[0])
    exchanges = 0
    for _ in range(SWEEPS):
        before = exchanges
        for place in range(n_kept, len(columns)):
            trials = _with_another(samples, columns, place, candidates, objective)
            values = _costs(samples, trials, objective)
            if len(values) and float(values.min()) < best - LEAST_GAIN:
                best, columns, exchanges = float(values.min()), trials[values.argmin()], exchanges + 1
        if exchanges == before:
            break
    return columns, exchanges


def shortlist(n_places: int) -> int:
    """Give how many columns are tried in each of so many places."""
    fewest, most = SHORTLIST
    return min(most, max(fewest, TRIALS // n_places))


def _costs(samples: Sequence[Sample], selections: Tensor, objective: Objective) -> Tensor:
    values = objectives(samples, selections, objective)
    if not objective.reconstructs:
        return values  # an objective that does not ask what columns tell of others does not mind copies
    return values + COPY_COST * copies(samples[0].x, selections)


def _with_another(
    samples: Sequence[Sample], columns: Tensor, place: int, candidates: Tensor, objective: Objective
) -> Tensor:
    """Give selections with the column of one place replaced, by the slope of J without that column."""
    others = candidates[~torch.isin(candidates, columns)]
    rest = torch.cat([columns[:place], columns[place + 1 :]])
    if len(rest):
        wanted = sum(_slopes_of(others, rest, sample, objective) for sample in samples)
        assert isinstance(wanted, Tensor)
        others = others[wanted.argsort()[: shortlist(len(columns))]]
    trials = columns.repeat(len(others), 1)
    trials[:, place] = others
    return trials


def _slopes_of(others: Tensor, columns: Tensor, sample: Sample, objective: Objective) -> Tensor:
    _, gradient = slopes(sample.x[:, columns], sample.goal, objective, progress=1.0)
    return column_slopes(sample.x[:, others], gradient)
