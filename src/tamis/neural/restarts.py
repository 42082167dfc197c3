"""Several trainings of one problem from different random streams, and the best hard selection among them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tamis.neural.concrete import ConcreteLayer
from tamis.neural.decoder import Decoder
from tamis.neural.network import SelectorNetwork, distinct_columns
from tamis.neural.objective import Objective
from tamis.neural.training import (
    Callback,
    Epoch,
    RowSource,
    Settings,
    hard_objective,
    refit_decoder,
    steps_per_epoch,
    train,
)

REFIT_STEPS = 100
"""Optimiser steps of the decoder on the hard selection."""

GROUP_VALUES = 2**22
"""Restarts train together as long as their logits hold at most so many numbers."""


@dataclass(frozen=True)
class Problem:
    """What there is to choose: so many units, from these columns of d, showing the kept ones always."""

    rows: RowSource
    n_features: int
    n_units: int
    kept: Sequence[int] = ()
    candidates: Tensor | None = None

    @property
    def n_free(self) -> int:
        """Number of units that learn."""
        return self.n_units - len(self.kept)

    def layer(self, n_restarts: int) -> ConcreteLayer:
        """Make an untrained layer for this choice."""
        return ConcreteLayer(n_restarts, self.n_units, self.n_features, candidates=self.candidates, kept=self.kept)


@dataclass(frozen=True)
class Fit:
    """One restart's hard selection.

    Attributes
    ----------
    columns : Tensor (k,)
        The column of every unit, all distinct, kept ones first.
    collisions : int
        Units that did not get their favourite because it was taken.
    objective : float
        J of the hard selection, its decoder refitted.
    probabilities : Tensor (free units, candidates)
        Selection probabilities ``softmax(Λ)`` at the end of training.
    decoder : Decoder
        The refitted decoder, of one restart.
    history : list of dict
        One row an epoch.
    """

    columns: Tensor
    collisions: int
    objective: float
    probabilities: Tensor
    decoder: Decoder
    history: list[dict[str, float]]


class _Relay:
    """Pass epochs on to the callbacks, counted over all groups, and remember whether one asked to stop."""

    def __init__(self, callbacks: Sequence[Callback], n_groups: int):
        self.callbacks, self.n_groups = callbacks, n_groups
        self.done = 0
        self.stopped = False

    def __call__(self, epoch: Epoch) -> bool:
        self.done += 1
        overall = replace(epoch, number=self.done, total=self.n_groups * epoch.total)
        answers = [callback(overall) for callback in self.callbacks]
        self.stopped = any(answer is True for answer in answers)
        return self.stopped


def train_restarts(
    problem: Problem,
    objective: Objective,
    settings: Settings,
    hidden_units: Sequence[int],
    n_init: int,
    generator: torch.Generator | None = None,
    callbacks: Sequence[Callback] = (),
) -> tuple[Fit, list[float]]:
    """Train restarts, in groups as large as memory likes; give the one with the smallest J, and all values of J.

    Ties go to the earliest restart. A callback that returns True ends the training of its group, which is then
    finished as usual, and no further group is begun.
    """
    if not problem.n_free:
        n_init, settings = 1, replace(settings, epochs=0)
    sizes = group_sizes(n_init, problem)
    relay = _Relay(callbacks, len(sizes))
    best: Fit | None = None
    objectives: list[float] = []
    for size in sizes:
        network = SelectorNetwork(problem.layer(size), hidden_units, generator).to(_device(generator))
        history = train(network, objective, problem.rows, settings, generator, relay)
        group = _harden(network, objective, problem.rows, settings, generator)
        objectives += group.objectives.tolist()
        if best is None or group.objectives.min() < best.objective:
            best = group.best(network, history)
        if relay.stopped:
            break
    assert best is not None
    return best, objectives


def group_sizes(n_init: int, problem: Problem) -> list[int]:
    """Split the restarts into groups that train together."""
    choices = problem.n_features if problem.candidates is None else len(problem.candidates)
    at_once = max(1, GROUP_VALUES // max(1, problem.n_free * choices))
    return [min(at_once, n_init - start) for start in range(0, n_init, at_once)]


@dataclass(frozen=True)
class _Hardened:
    """Hard selections of a group: columns (restarts, k), collisions and J of each."""

    columns: Tensor
    collisions: Tensor
    objectives: Tensor

    def best(self, network: SelectorNetwork, history: list[Epoch]) -> Fit:
        index = int(self.objectives.argmin())
        return Fit(
            columns=self.columns[index],
            collisions=int(self.collisions[index]),
            objective=float(self.objectives[index]),
            probabilities=network.layer.probabilities()[index].detach().cpu(),
            decoder=network.decoder.restart(index),
            history=[_row(epoch, index) for epoch in history],
        )


def _harden(
    network: SelectorNetwork,
    objective: Objective,
    rows: RowSource,
    settings: Settings,
    generator: torch.Generator | None,
) -> _Hardened:
    columns, collisions = distinct_columns(network.layer)
    refit = replace(settings, epochs=-(-REFIT_STEPS // steps_per_epoch(rows.n_rows, settings.batch_size)))
    refit_decoder(network, columns, rows, refit, generator)
    objectives = hard_objective(network, objective, columns, rows, settings.batch_size, generator)
    return _Hardened(columns, collisions, objectives)


def _row(epoch: Epoch, index: int) -> dict[str, float]:
    return {
        "epoch": epoch.number,
        "temperature": epoch.temperature,
        "objective": float(epoch.objective[index]),
        **{name: float(values[index]) for name, values in epoch.terms.items()},
        "peak_probability": float(epoch.peak_probability[index]),
    }


def _device(generator: torch.Generator | None) -> torch.device:
    return torch.device("cpu") if generator is None else generator.device
