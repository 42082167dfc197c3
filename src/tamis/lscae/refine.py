"""Hard selections: their J on samples of the rows, and exchanges of single features as long as J falls."""

from collections.abc import Sequence
from itertools import islice
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from tamis.lscae import parallel
from tamis.lscae.decoder import Decoder
from tamis.lscae.network import Network, features_of, give_to_units
from tamis.lscae.objective import RIDGE, View, evaluate, linear_residuals, loss, objective
from tamis.lscae.problem import EVALUATION, TINY, Batch, Problem, Trained
from tamis.lscae.recipe import Recipe

MAX_VALUES = 2**26
"""Of wide tables there are as many samples as have no more values than that."""

VALUES_AT_ONCE = 2**22
"""Numbers in the graphs of selections that are evaluated together."""

MIN_TRIED, MAX_TRIED = 4, 12
"""Fewest and most features that are tried in a place, those with the most negative ``∂J/∂(g²)`` of their gates."""

TRIED = 60
"""Features that are tried in all places together, as far as these allow; more did not lower J."""

SWEEPS, MIN_GAIN = 3, 1e-3
"""Times that all places are gone through, at most, and by how much J must fall for an exchange."""

MAX_UNEXPLAINED = 0.9
"""A direction of which a larger share is not explained has no feature."""


class Choice(NamedTuple):
    """What a selection is made of, and what it is judged by.

    Attributes
    ----------
    samples : sequence of Batch
        Rows on which selections are compared.
    candidates : Tensor of int
        Features, or groups, to choose from.
    n_kept : int
        So many at the beginning of a selection are always in it.
    recipe : Recipe
        What J is.
    members : Tensor of int (groups, width), optional
        Features of each group, filled up with -1, if groups are selected.
    """

    samples: Sequence[Batch]
    candidates: Tensor
    n_kept: int
    recipe: Recipe
    members: Tensor | None = None


def draw_samples(problem: Problem, recipe: Recipe) -> list[Batch]:
    """Return the samples on which hard selections are compared, without common rows.

    Of one sample alone, exchanges learn by heart what is not true of other rows.
    """
    size = recipe.batch_size if recipe.uses_network else recipe.evaluation_rows
    count = max(1, min(recipe.evaluation_samples, MAX_VALUES // (size * len(problem.features))))
    rng = np.random.default_rng((problem.seed, EVALUATION, 0, 0))
    drawn = islice(problem.rows.batches(ceil(problem.rows.n_rows / size), rng), count)
    return [problem.targets.batch(x, center=not recipe.uses_codes) for x in drawn]


def refine(
    problem: Problem, recipe: Recipe, network: Network, history: list[dict[str, Any]], samples: list[Batch]
) -> Trained:
    """Return the hard selection of a trained network, improved by exchanges of single features."""
    members, kept, candidates = problem.members, problem.kept, problem.candidates.cpu()
    probabilities = torch.softmax(network.logits, dim=-1).detach().cpu()
    if probabilities.isnan().any():
        raise FloatingPointError(
            "Training ended in numbers that are not finite, so that nothing can be selected. Lower selector_lr of the "
            "recipe, or look for extreme values in X."
        )
    chosen = torch.cat([kept, give_to_units(candidates, probabilities, candidates).to(kept.device)])
    choice = Choice(samples, problem.candidates, len(kept), recipe, members)
    chosen = represent_directions(choice, exchange_features(choice, chosen)).cpu()
    # Exchanges may have brought in features that another unit than the one at their place had settled on.
    chosen = torch.cat([chosen[: len(kept)], give_to_units(chosen[len(kept) :], probabilities, candidates)])
    chosen = parallel.broadcast(chosen) if problem.shared else chosen
    value = objectives(samples, chosen[None], recipe, network.decoder, members).cpu()
    value = parallel.mean(value) if problem.shared else value
    decoder = {} if network.decoder is None else network.decoder.state_dict()
    weights = {name: tensor.detach().cpu() for name, tensor in decoder.items()}
    return Trained(chosen, float(value[0]), probabilities, candidates, weights, history)


@torch.no_grad()
def objectives(
    samples: Sequence[Batch],
    selections: Tensor,
    recipe: Recipe,
    decoder: Decoder | None = None,
    members: Tensor | None = None,
) -> Tensor:
    """Compute J of hard selections (n, k) of features, or of groups with members, a mean over the samples: (n,).

    Without a decoder, the graph and a linear map decode.
    """
    if decoder is not None:
        return torch.stack([_network_objectives(sample, selections, recipe, decoder) for sample in samples]).mean(dim=0)
    found = []
    for sample in samples:
        for some in selections.split(max(1, VALUES_AT_ONCE // len(samples[0].x) ** 2)):
            codes, observed = hard_codes(sample.x, some, members), None
            if sample.known is not None:
                observed = (codes, hard_codes(sample.known, some, members))
            view = View(sample, recipe, codes @ codes.mT, observed, linear=(codes, selections.shape[1]))
            found.append(objective(evaluate(view)))
    return torch.cat(found).view(len(samples), -1).mean(dim=0)


def _network_objectives(sample: Batch, selections: Tensor, recipe: Recipe, decoder: Decoder) -> Tensor:
    """Compute J, the last layer of the decoder refitted, so that few rows cannot be learnt by heart."""
    values = []
    for codes in hard_codes(sample.x, selections):
        decoded = decoder.decode(codes, sample.goal, solved=True)
        values.append(objective(evaluate(View(sample, recipe, codes @ codes.mT, decoded=decoded))))
    return torch.stack(values)


def hard_codes(x: Tensor, selections: Tensor, members: Tensor | None = None) -> Tensor:
    """Return the selected features of a batch: (n, rows, k); of groups, as many as the largest has of each, or 0."""
    if members is None:
        return x[:, selections].movedim(0, 1)
    # The last feature, which -1 means, is one of zeros.
    padded = torch.cat([x, x.new_zeros(len(x), 1)], dim=1)
    return padded[:, members[selections].flatten(1)].movedim(0, 1)


def expected_shares(
    x: Tensor, chosen: Tensor, probabilities: Tensor, candidates: Tensor, members: Tensor | None = None
) -> Tensor:
    """Compute ``Σ_j π_ij corr(j, c_i)²``: how much of its feature c_i each unit expects to show.

    It is 1 for a unit that is sure of its feature or of a copy of it. The units have the last of the chosen ones. Of
    two groups, the largest correlation of their features counts.
    """
    own, n_units = chosen[len(chosen) - len(probabilities) :], len(probabilities)
    scaled = x - x.mean(dim=0)
    scaled = scaled / (scaled.norm(dim=0) + TINY)
    left, right = (hard_codes(scaled, items[None].to(x.device), members)[0] for items in (own, candidates))
    width = 1 if members is None else members.shape[1]
    squares = (left.mT @ right).square().view(n_units, width, len(candidates), width).amax(dim=(1, 3))
    squares = torch.maximum(squares.clamp_max(1.0).cpu(), (candidates == own[:, None]).to(x.dtype))
    return (probabilities * squares).sum(dim=-1)


def exchange_features(choice: Choice, selected: Tensor) -> Tensor:
    """Exchange single features or groups, the kept ones excepted, for candidates while J falls.

    In each place, those candidates are tried whose gates, without the feature of that place, have the most negative
    ``∂J/∂(g²)``; a single feature is exchanged for any of few candidates.
    Only where J needs nothing that has to be trained, and for not more than ``recipe.max_exchanged`` features: an
    exchange matters less among many, and costs more.
    """
    samples, candidates, n_kept, recipe, members = choice
    if recipe.uses_codes or not 0 < len(selected) - n_kept <= recipe.max_exchanged:
        return selected
    best = float(objectives(samples, selected[None], recipe, members=members)[0])
    n_tried = min(MAX_TRIED, max(MIN_TRIED, TRIED // len(selected)))
    for _ in range(SWEEPS):
        before = best
        for place in range(n_kept, len(selected)):
            others = candidates[~torch.isin(candidates, selected)]
            if not len(others):
                return selected
            rest = torch.cat([selected[:place], selected[place + 1 :]])
            if not len(rest) and len(others) > TRIED:
                return selected
            if len(rest):
                slopes = torch.stack([_slopes(sample, rest, others, recipe, members) for sample in samples]).sum(dim=0)
                others = others[slopes.argsort()[:n_tried]]
            trials = selected.repeat(len(others), 1)
            trials[:, place] = others
            values = objectives(samples, trials, recipe, members=members)
            if float(values.min()) < best - MIN_GAIN:
                best, selected = float(values.min()), trials[values.argmin()]
        if best == before:
            break
    return selected


def _slopes(sample: Batch, selected: Tensor, others: Tensor, recipe: Recipe, members: Tensor | None = None) -> Tensor:
    """Compute ``∂J/∂(g_j²) = x_jᵀ (∂J/∂K) x_j`` of the gates of other features, or the sum over those of a group.

    K is the Gram matrix of the selected ones. Missing cells are taken for means here, where features are only proposed.
    """
    codes = sample.x[:, selected if members is None else features_of(selected, members)]
    gram = (codes @ codes.mT).requires_grad_()
    (gradient,) = torch.autograd.grad(loss(evaluate(View(sample, recipe, gram)), recipe), gram)
    rest = hard_codes(sample.x, others[None], members)[0]
    slopes = (rest * (gradient @ rest)).sum(dim=0)
    return slopes if members is None else slopes.view(len(others), members.shape[1]).sum(dim=1)


@torch.no_grad()
def represent_directions(choice: Choice, selected: Tensor) -> Tensor:
    """Exchange features, the kept ones excepted, until no combination of directions is left out.

    The score rewards features that agree with each other, so that of many directions some may end without a feature.
    With R the residuals of the directions, each of variance 1, the combination v of largest variance in R is
    left out most. While most of it is not explained, the candidate j that shows most of it, ``(x_jᵀ R v)² / ‖x_j‖²``,
    takes the place of the feature that is missed least, if that lowers the share of the goal that is not explained
    linearly. Only where directions are the goal, and J needs nothing that has to be trained.
    """
    samples, candidates, n_kept, recipe, members = choice
    about_directions = recipe.structure_first and "reconstruction" in recipe.terms and not recipe.uses_codes
    if not about_directions or len(selected) == n_kept:
        return selected
    spread = torch.cat([sample.goal for sample in samples]).square().mean(dim=0).sqrt()
    goals = [sample.goal / (spread + TINY) for sample in samples]
    # Each can have a feature, before those that count more have two.
    if len(selected) >= len(spread):
        samples = [sample._replace(goal=goal) for sample, goal in zip(samples, goals, strict=True)]
        choice = choice._replace(samples=samples)
    for _ in range(len(selected) - n_kept):
        codes = [hard_codes(sample.x, selected[None], members) for sample in samples]
        rest = torch.cat([linear_residuals(code, goal)[0] for code, goal in zip(codes, goals, strict=True)])
        values, vectors = torch.linalg.eigh(rest.mT @ rest / len(rest))
        others = candidates[~torch.isin(candidates, selected)]
        if values[-1] < MAX_UNEXPLAINED or not len(others):
            break
        x = torch.cat([hard_codes(sample.x, others[None], members)[0] for sample in samples])
        shown = (x.mT @ (rest @ vectors[:, -1])).square() / (x.square().sum(dim=0) + TINY)
        shown = shown.view(len(others), -1).amax(dim=1)
        trial = torch.cat([selected, others[shown.argmax()][None]])
        place = n_kept + int(_losses(choice, trial)[n_kept:-1].argmin())
        trial = torch.cat([trial[:place], trial[-1:], trial[place + 1 : -1]])
        if linear_shares(samples, trial[None], members) >= linear_shares(samples, selected[None], members):
            break
        selected = trial
    return selected


def _losses(choice: Choice, selected: Tensor) -> Tensor:
    """Compute by how much the error of a linear map grows without each feature, ``‖w_j‖² / b_jj``: (k,).

    B is ``(CᵀC + λI)⁻¹`` of the selected features C, and ``W = B Cᵀ F`` the map to the goal F.
    """
    codes = torch.cat([hard_codes(sample.x, selected[None], choice.members)[0] for sample in choice.samples])
    goal, square = torch.cat([sample.goal for sample in choice.samples]), codes.mT @ codes
    identity = torch.eye(len(square), dtype=square.dtype, device=square.device)
    inverse = torch.linalg.inv(square + (RIDGE * square.diagonal().mean() + TINY) * identity)
    losses: Tensor = (inverse @ (codes.mT @ goal)).square().sum(dim=1) / inverse.diagonal()
    return losses.view(len(selected), -1).sum(dim=1)


def linear_shares(samples: Sequence[Batch], selections: Tensor, members: Tensor | None = None) -> Tensor:
    """Compute the share of the goal that hard selections (n, k) do not explain linearly, a mean over samples: (n,)."""
    codes = (hard_codes(sample.x, selections, members) for sample in samples)
    residuals = (linear_residuals(code, sample.goal) for code, sample in zip(codes, samples, strict=True))
    shares = [sample.error_share(rest) for sample, rest in zip(samples, residuals, strict=True)]
    return torch.stack(shares).mean(dim=0)
