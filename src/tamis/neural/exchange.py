"""The last word on a hard selection: single features are exchanged as long as the objective falls."""

from collections.abc import Sequence

import torch
from torch import Tensor

from tamis.neural.analytic import applies, graph_gradient
from tamis.neural.linear import linear_shares
from tamis.neural.network import hard_codes
from tamis.neural.objective import Objective, Sample, View, reconstruction

MAX_UNITS = 32
"""Selections of more features are left alone: an exchange matters less there, and costs more."""

SHORTLIST = (4, 12)
"""Fewest and most features that are tried in a place, those whose gates the objective most wants open."""

TRIALS = 60
"""Features that are tried in all places together, as far as the shortlist allows; more did not lower J."""

SWEEPS = 3
MIN_GAIN = 1e-3
VALUES_AT_ONCE = 2**22


@torch.no_grad()
def objectives(samples: Sequence[Sample], selections: Tensor, objective: Objective) -> Tensor:
    """Compute J of several hard selections (n, k) whose objective needs no network, a mean over the samples: (n,)."""
    parts = selections.split(max(1, VALUES_AT_ONCE // len(samples[0].x) ** 2))
    each = [torch.cat([_objectives(sample, some, objective) for some in parts]) for sample in samples]
    return torch.stack(each).mean(dim=0)


def _objectives(sample: Sample, selections: Tensor, objective: Objective) -> Tensor:
    """Compute J on one sample, the mean of J with the graph and with a linear map as the decoder.

    The more features span a graph, the fewer rows are neighbours there, and the less it explains; a linear map knows
    nothing of curves.
    """
    view = View(sample.goal, objective.recipe, hard_codes(sample.x, selections))
    values = {name: term.value(view) for name, term in objective.terms.items()}
    by_graph = objective.combine(values).objective
    decoded = [name for name, term in objective.terms.items() if term.value is reconstruction]
    if not decoded:
        return by_graph
    linearly = values | dict.fromkeys(decoded, linear_shares(sample, selections))
    return (by_graph + objective.combine(linearly).objective) / 2


def exchange_features(
    samples: Sequence[Sample], selected: Tensor, n_kept: int, candidates: Tensor, objective: Objective
) -> tuple[Tensor, int]:
    """Exchange single features (the first ``n_kept`` excepted) for candidates while J falls.

    Return the features, and how many exchanges there were.
    """
    if len(selected) - n_kept > MAX_UNITS:
        return selected, 0
    best = float(objectives(samples, selected[None], objective)[0])
    exchanges = 0
    for _ in range(SWEEPS):
        before = exchanges
        for place in range(n_kept, len(selected)):
            trials = _with_another(samples, selected, place, candidates, objective)
            values = objectives(samples, trials, objective) if len(trials) else torch.empty(0)
            if len(values) and float(values.min()) < best - MIN_GAIN:
                best, selected, exchanges = float(values.min()), trials[values.argmin()], exchanges + 1
        if exchanges == before:
            break
    return selected, exchanges


def shortlist(n_places: int) -> int:
    """Return how many features are tried in each of so many places."""
    fewest, most = SHORTLIST
    return min(most, max(fewest, TRIALS // n_places))


def _with_another(
    samples: Sequence[Sample], selected: Tensor, place: int, candidates: Tensor, objective: Objective
) -> Tensor:
    """Return selections with the feature of one place replaced, by the slope of J without that feature."""
    others = candidates[~torch.isin(candidates, selected)]
    rest = torch.cat([selected[:place], selected[place + 1 :]])
    if len(rest):
        wanted = torch.stack([_slopes(sample, rest, others, objective) for sample in samples]).sum(dim=0)
        others = others[wanted.argsort()[: shortlist(len(selected))]]
    trials = selected.repeat(len(others), 1)
    trials[:, place] = others
    return trials


def _slopes(sample: Sample, selected: Tensor, others: Tensor, objective: Objective) -> Tensor:
    """Compute ``∂J/∂(g_j²) = x_jᵀ (∂J/∂K) x_j`` of the gates of other features.

    K is the Gram matrix of the selected ones.
    """
    chosen, rest = sample.x[:, selected], sample.x[:, others]
    gram = (chosen @ chosen.mT)[None]
    closed_form = applies(objective) and gram.device.type == "cpu"
    gradient = (_closed_form if closed_form else _autograd)(gram, sample.goal, objective)
    return (rest * (gradient @ rest)).sum(dim=0)


def _closed_form(gram: Tensor, goal: Tensor, objective: Objective) -> Tensor:
    return torch.from_numpy(graph_gradient(gram.numpy(), goal.numpy(), objective).by_gram[0])


def _autograd(gram: Tensor, goal: Tensor, objective: Objective) -> Tensor:
    view = View(goal, objective.recipe)
    view.gram = gram.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(objective(view).loss.sum(), view.gram)
    return gradient[0]
