"""The method from top to bottom: scale, find structure, state the problem, train, refine, fit the decoder.

Validation comes before (:class:`tamis.base.FeatureSelector`), the verdict after, when it is asked for
(:mod:`tamis.verdict`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import ceil
from typing import Any

import numpy as np
import torch
from joblib import parallel_config
from numpy.typing import NDArray
from scipy.sparse import issparse
from torch import Tensor

from tamis.base import Task
from tamis.features import Features
from tamis.io.sources import TableSource
from tamis.lscae import parallel
from tamis.lscae.checkpoint import Checkpointer
from tamis.lscae.decoder import batch_moments, fit_readout, load_decoder, sparse_moments
from tamis.lscae.network import features_of
from tamis.lscae.problem import TARGETS, Batch, Problem, Targets, Trained
from tamis.lscae.recipe import Recipe
from tamis.lscae.refine import draw_samples, expected_shares, refine
from tamis.lscae.rows import DiskRows, MemoryRows, Rows, Scaling, fits_in_buffer
from tamis.lscae.training import Callback, train
from tamis.structure import Structure, find_structure
from tamis.structure.candidates import choose_candidates, directions_of, leave_out_copies, pursuit_of
from tamis.structure.directions import Directions
from tamis.structure.pursuit import shortlist
from tamis.structure.sample import dense_features, sample_rows, tail_bounds

MAX_TARGETS = 2048
"""At most so many features, drawn at random, are reconstructed during training where all are the goal."""

DECODER_VALUES, DECODER_ROWS = 2**25, 2**17
"""Values of a batch, and rows that each process reads, for the final decoder; more would not change a linear map."""


@dataclass(frozen=True)
class Result:
    """What a fit gives; features are numbered as in the table.

    Attributes
    ----------
    trained : Trained
        The best restart.
    objectives : list of float
        J of every restart's refined selection.
    structure : Structure or None
        Which features carry structure, if that was tested.
    scaling : Scaling
        Which features were used, and how they were scaled.
    shares : Tensor (units,)
        Share of its feature that each unit expects to show.
    decoder, features : dict of Tensor, and Tensor of int
        Weights of the decoder from the selected features to all, and the features that it is given.
    """

    trained: Trained
    objectives: list[float]
    structure: Structure | None
    scaling: Scaling
    shares: Tensor
    decoder: dict[str, Tensor]
    features: Tensor


def fit(
    X: Any,
    task: Task,
    recipe: Recipe,
    *,
    scale: str | None,
    device: torch.device,
    n_threads: int,
    seed: int,
    callbacks: Sequence[Callback],
    checkpointer: Checkpointer | None = None,
) -> Result:
    """Select features of a checked table by a recipe."""
    scaling = Scaling(*task.statistics.scaling(scale))
    structure, directions, candidates = None, None, task.candidates
    if recipe.structure_first:
        structure, directions, candidates = examine_features(X, task, recipe, n_threads, seed)
    if parallel.rank_and_size()[1] > 1:  # all go on from what the first process found
        structure, directions, candidates, seed = parallel.broadcast((structure, directions, candidates, seed))
    problem = state_problem(X, task, recipe, directions, candidates, scaling, device, seed, scale == "standard")
    samples = draw_samples(problem, recipe)
    best, values = train_restarts(problem, recipe, samples, callbacks, checkpointer)
    shares = expected_shares(samples[0].x, best.chosen, best.probabilities, best.candidates, problem.members)
    shares = parallel.mean(shares) if problem.shared else shares
    if problem.members is None:
        best = replace(best, chosen=problem.features[best.chosen], candidates=problem.features[best.candidates])
        features = best.chosen
    else:
        features = problem.features[features_of(best.chosen, problem.members.cpu())]
    decoder = fit_decoder(X, scaling, recipe, best, features)
    return Result(best, values, structure, scaling, shares, decoder, features)


def open_rows(X: Any, scaling: Scaling, recipe: Recipe, device: torch.device, once: bool = False) -> Rows:
    """Return the rows of a table, in memory if what is used of them is small; not kept if they are used once."""
    used, share = scaling.features, parallel.rank_and_size()
    if isinstance(X, TableSource) and (fits_in_buffer(X, len(used)) or X.shape[0] <= recipe.batch_size):
        X, scaling = X[:, used], scaling._replace(features=np.arange(len(used)))
    if isinstance(X, TableSource):
        return DiskRows(X, scaling, device, share)
    return MemoryRows(X, scaling, device, share, once)


def examine_features(
    X: Any, task: Task, recipe: Recipe, n_threads: int, seed: int
) -> tuple[Structure, Directions, NDArray[np.intp]]:
    """Return which features carry structure, the directions to explain, and the features to choose from.

    The directions are those of the structured features or, without any, of the candidates. Of many candidates, those
    stay that a pursuit would take, and of near copies one.
    """
    n_units = task.k - len(task.must_keep)
    with parallel_config("threading", n_jobs=n_threads):
        structure = find_structure(X, fdr=recipe.fdr, groups=task.owner, random_state=seed)
        candidates = choose_candidates(structure, task.candidates, n_units, task.owner)
        directions = structure.directions
        if not structure.structured.any():
            shown = candidates if task.groups is None else task.groups.members(candidates)
            directions = directions_of(X, structure, shown[~task.statistics.constant[shown]])
        if len(candidates) > recipe.shortlist * n_units > 0:
            stated = pursuit_of(X, directions, candidates, task.must_keep, task.owner, seed)
            candidates = shortlist(stated, n_units, recipe.shortlist)
        if task.groups is None:
            candidates = leave_out_copies(X, structure, candidates, task.must_keep, n_units, seed)
    return structure, directions, candidates


def state_problem(
    X: Any,
    task: Task,
    recipe: Recipe,
    directions: Directions | None,
    candidates: NDArray[np.intp],
    scaling: Scaling,
    device: torch.device,
    seed: int,
    standard: bool,
) -> Problem:
    """Return what is to be chosen, from what, to explain what; only features that matter to it are in its rows.

    Without directions, all features are to be explained. Features are z-scored again, if that is the standard scale,
    when far cells have been drawn in.
    """
    kept, targets, used = task.must_keep, Targets(), scaling.features
    if directions is not None:
        items = np.concatenate([candidates, kept])
        shown = np.isin(used, items if task.groups is None else task.groups.members(items))
        # Beside the features that are shown, those of the directions are read, and nothing else.
        matter = shown | np.isin(used, directions.features)
        read = used[matter]
        scaling, units = draw_in(X, Scaling(read, scaling.center[matter], scaling.spread[matter]), standard, seed)
        positions = np.searchsorted(read, directions.features)
        loadings = np.zeros((len(read), directions.loadings.shape[1]), np.float32)
        gains = directions.gains if task.k > len(directions.gains) else 1.0
        loadings[positions] = directions.loadings * np.sqrt(gains) * units[positions, None]
        scaling = scaling._replace(shown=np.flatnonzero(shown[matter]), loadings=torch.from_numpy(loadings))
        used, targets = used[shown], Targets(n_directions=loadings.shape[1])
    elif len(used) > MAX_TARGETS:
        targets = draw_targets(len(used), seed, device)
    members, n_units = None, task.k - len(kept)
    if task.groups is None:
        kept, candidates = (np.searchsorted(used, np.intersect1d(items, used)) for items in (kept, candidates))
    else:
        members = members_of(task.groups, used).to(device)
    rows, shared = open_rows(X, scaling, recipe, device), parallel.rank_and_size()[1] > 1
    free, fixed = (torch.from_numpy(items).to(device) for items in (np.sort(candidates), kept))
    return Problem(rows, torch.from_numpy(used), n_units, fixed, free, targets, seed, members, shared)


def draw_in(X: Any, scaling: Scaling, standard: bool, seed: int) -> tuple[Scaling, NDArray[np.float64]]:
    """Return a scaling that draws in far cells, and what turns its features into those that directions are of."""
    sample, _ = sample_rows(X, np.random.default_rng(seed))
    scaled = (dense_features(sample, scaling.features) - scaling.center) / scaling.spread
    low, high = tail_bounds(scaled)
    observed, drawn_in = ~np.isnan(scaled), np.nan_to_num(np.clip(scaled, low, high), nan=0.0)
    counts = np.maximum(observed.sum(axis=0), 1)
    mean = drawn_in.sum(axis=0) / counts
    std = np.sqrt((np.where(observed, drawn_in - mean, 0.0) ** 2).sum(axis=0) / counts)
    std[std == 0] = 1.0
    center, spread, units = scaling.center, scaling.spread, 1 / std
    low, high = center + low * spread, center + high * spread
    if standard:
        center, spread, units = center + mean * spread, std * spread, np.ones(len(std))
    return scaling._replace(center=center, spread=spread, low=low, high=high), units


def members_of(groups: Features, used: NDArray[np.intp]) -> Tensor:
    """Return the positions among the used features of the members of each group, filled up with -1."""
    owner = groups.owner[used]
    found = [np.flatnonzero(owner == group) for group in range(groups.n_items)]
    members = np.full((groups.n_items, max(map(len, found))), -1)
    for row, positions in zip(members, found, strict=True):
        row[: len(positions)] = positions
    return torch.from_numpy(members)


def draw_targets(n_features: int, seed: int, device: torch.device) -> Targets:
    """Return some of very many features as the goal."""
    chosen = np.random.default_rng((seed, TARGETS, 0, 0)).permutation(n_features)[:MAX_TARGETS]
    return Targets(torch.from_numpy(chosen).to(device))


def train_restarts(
    problem: Problem,
    recipe: Recipe,
    samples: list[Batch],
    callbacks: Sequence[Callback],
    checkpointer: Checkpointer | None = None,
) -> tuple[Trained, list[float]]:
    """Return the restart whose refined selection has the smallest J, and J of all; ties go to the earliest.

    A callback that returns True ends the training of its restart, which is then refined as usual; no further one is
    begun.
    """
    found = [] if checkpointer is None else [Trained(**state) for state in checkpointer.load()]
    stopped = False
    while len(found) < (recipe.n_init if problem.n_units else 1) and not stopped:
        network, history, stopped = train(problem, recipe, len(found), callbacks, checkpointer)
        found.append(refine(problem, recipe, network, history, samples))
        if checkpointer is not None and not stopped:
            checkpointer.finished = [vars(trained) for trained in found]
            checkpointer.save()
    return min(found, key=lambda trained: trained.objective), [trained.objective for trained in found]


def fit_decoder(X: Any, scaling: Scaling, recipe: Recipe, trained: Trained, features: Tensor) -> dict[str, Tensor]:
    """Return the weights of a decoder from some features to all that vary, its last layer fitted to the rows.

    Where no network was trained, that layer is all.
    """
    n_features, inputs = len(scaling.features), np.searchsorted(scaling.features, features.numpy())
    decoder = load_decoder(trained.decoder) if trained.decoder else None
    if decoder is None and issparse(X) and not np.isnan(X.data).any():
        part, n_parts = parallel.rank_and_size()
        moments = sparse_moments(X[part::n_parts], scaling, inputs)
    else:
        rows = open_rows(X, scaling, recipe, torch.device("cpu"), once=True)
        size = max(1, min(recipe.batch_size, DECODER_VALUES // n_features))
        batches = islice(rows.batches(ceil(rows.n_rows / size), np.random.default_rng(0)), ceil(DECODER_ROWS / size))
        moments = batch_moments(decoder, batches, torch.from_numpy(inputs), n_features)
    readout, last = fit_readout(moments).float(), 0 if decoder is None else len(decoder.weights) - 1
    return trained.decoder | {f"weights.{last}": readout[:-1], f"biases.{last}": readout[-1]}
