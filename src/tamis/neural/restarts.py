"""Several trainings of one problem from different random streams, and the best hard selection among them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tamis.neural.concrete import ConcreteLayer
from tamis.neural.decoder import Decoder
from tamis.neural.diffusion import TINY
from tamis.neural.judge import Improvement, Judge
from tamis.neural.network import SelectorNetwork, choose_in_turn, distinct_columns
from tamis.neural.objective import Objective
from tamis.neural.training import Callback, Epoch, RowSource, Settings, refit_decoder, train

GROUP_VALUES = 2**20
"""Restarts train together as long as their logits hold at most so many numbers."""

NEAR_COPY = 0.9
"""Columns with at least this absolute correlation count as copies of each other."""

@dataclass(frozen=True)
class Problem:
    """What there is to choose, by which network.

    Attributes
    ----------
    rows : RowSource
        The data.
    n_features, n_units : int
        Number of columns d and of units k, the kept columns included.
    kept, candidates : sequence of int and Tensor of int, optional
        Columns that are always shown, and those to choose from.
    targets, weights : Tensor, optional
        Columns to reconstruct during training, all by default, and how much each of them matters.
    indirect_size, hidden_units, solved_readout
        See :class:`ConcreteLayer` and :class:`SelectorNetwork`.
    """

    rows: RowSource
    n_features: int
    n_units: int
    kept: Sequence[int] = ()
    candidates: Tensor | None = None
    targets: Tensor | None = None
    weights: Tensor | None = None
    indirect_size: int | None = None
    hidden_units: Sequence[int] = (128, 128)
    solved_readout: bool = True

    @property
    def n_free(self) -> int:
        """Number of units that learn."""
        return self.n_units - len(self.kept)

    def network(self, n_restarts: int, generator: torch.Generator | None) -> SelectorNetwork:
        """Make an untrained network for this choice."""
        layer = self.layer(n_restarts, generator)
        network = SelectorNetwork(
            layer, self.hidden_units, self.targets, self.weights, self.solved_readout, generator
        )
        return network.to(_device(generator))

    def layer(self, n_restarts: int, generator: torch.Generator | None) -> ConcreteLayer:
        """Make an untrained layer for this choice."""
        return ConcreteLayer(
            n_restarts,
            self.n_units,
            self.n_features,
            candidates=self.candidates,
            kept=self.kept,
            indirect_size=self.indirect_size,
            generator=generator,
        )


@dataclass(frozen=True)
class Fit:
    """A hard selection and the trained units behind it.

    Attributes
    ----------
    columns : Tensor (k,)
        The column of every unit, all distinct, kept ones first.
    collisions : int
        Units that did not get their favourite because it was taken.
    objective : float
        J of the hard selection, its decoder refitted.
    improvement : Improvement
        What became of the units' own choice.
    probabilities, candidates : Tensor (free units, candidates) and (candidates,)
        Selection probabilities ``softmax(Λ)`` at the end of training, and the columns they are about.
    settled : Tensor (free units,)
        Probability that each free unit gives to its favourite and to near copies of it.
    decoder : Decoder
        The refitted decoder to all columns, of one restart.
    history : list of dict
        One row an epoch.
    """

    columns: Tensor
    collisions: int
    objective: float
    improvement: Improvement
    probabilities: Tensor
    candidates: Tensor
    settled: Tensor
    decoder: Decoder
    history: list[dict[str, float]]


@dataclass(frozen=True)
class _Trained:
    """The best restart so far: its network and place in it, hard columns, collisions, J and history."""

    network: SelectorNetwork
    index: int
    columns: Tensor
    collisions: int
    objective: float
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
    judge = Judge(problem.rows, objective, settings.batch_size, problem.targets, problem.weights, generator)
    best: _Trained | None = None
    values: list[float] = []
    for size in sizes:
        network = problem.network(size, generator)
        history = train(network, objective, problem.rows, settings, generator, relay)
        columns, collisions = distinct_columns(network.layer)
        found = judge.objectives(network, columns)
        values += found.tolist()
        if best is None or found.min() < best.objective:
            index = int(found.argmin())
            rows = [_row(epoch, index) for epoch in history]
            best = _Trained(network, index, columns[index], int(collisions[index]), float(found[index]), rows)
        if relay.stopped:
            break
    assert best is not None
    return _finished(best, problem, judge), values


def _finished(best: _Trained, problem: Problem, judge: Judge) -> Fit:
    """Improve the hard selection of the best restart, give its columns to the units, and refit the decoder."""
    layer = best.network.layer
    probabilities = layer.probabilities()[best.index].detach()
    columns, value, improvement = judge.improve(best.columns, best.objective, layer.candidates, layer.kept)
    columns = _given_to_units(columns, probabilities.cpu(), layer.candidates.cpu(), len(layer.kept))
    return Fit(
        columns=columns,
        collisions=best.collisions,
        objective=value,
        improvement=improvement,
        probabilities=probabilities.cpu(),
        candidates=layer.candidates.cpu(),
        settled=settled_mass(judge.x, best.columns, probabilities, layer.candidates).cpu(),
        decoder=refit_decoder(best.network, columns, problem.rows, judge.batch_size, best.index),
        history=best.history,
    )


def _given_to_units(columns: Tensor, probabilities: Tensor, candidates: Tensor, n_kept: int) -> Tensor:
    """Order the columns that are not kept by the unit that wants each of them most."""
    free = columns[n_kept:].sort().values
    wanted = probabilities[:, torch.searchsorted(candidates, free)]
    return torch.cat([columns[:n_kept], free[choose_in_turn(wanted)]])


def group_sizes(n_init: int, problem: Problem) -> list[int]:
    """Split the restarts into groups that train together."""
    at_once = most_restarts(problem, n_init)
    return [min(at_once, n_init - start) for start in range(0, n_init, at_once)]


def most_restarts(problem: Problem, limit: int) -> int:
    """Give how many restarts, up to a limit, can train together."""
    choices = problem.n_features if problem.candidates is None else len(problem.candidates)
    return min(limit, max(1, GROUP_VALUES // max(1, problem.n_free * choices)))


def settled_mass(x: Tensor, columns: Tensor, probabilities: Tensor, candidates: Tensor) -> Tensor:
    """Give the probability that each free unit puts on its column or on a near copy, ``|corr| ≥ 0.9`` in the batch.

    A unit that wavers between copies of one column has made up its mind.
    """
    free = columns[len(columns) - len(probabilities) :].to(x.device)
    scaled = x - x.mean(dim=0)
    scaled = scaled / (scaled.norm(dim=0) + TINY)
    alike = (scaled[:, free].mT @ scaled[:, candidates]).abs() >= NEAR_COPY
    alike |= candidates == free[:, None]
    return (probabilities * alike).sum(dim=-1)


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
