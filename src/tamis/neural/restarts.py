"""Several trainings of one problem from different random streams, and the best hard selection among them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from tamis.neural import ranks
from tamis.neural.batching import RowSource
from tamis.neural.checkpoint import Keeper, state_of
from tamis.neural.concrete import ConcreteLayer
from tamis.neural.decoder import Decoder
from tamis.neural.diffusion import TINY
from tamis.neural.judge import Judge
from tamis.neural.network import SelectorNetwork, choose_in_turn, distinct_columns
from tamis.neural.objective import ALL_FEATURES, Objective, Targets
from tamis.neural.training import Callback, Epoch, Settings, refit_decoder, train

GROUP_VALUES = 2**20
"""Restarts train together as long as their logits hold at most so many numbers."""

NEAR_COPY = 0.9
"""Features with at least this absolute correlation count as copies of each other where units waver between them."""


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
    targets : Targets
        What is reconstructed during training.
    indirect_size, hidden_units, solved_readout
        See :class:`ConcreteLayer` and :class:`SelectorNetwork`.
    """

    rows: RowSource
    n_features: int
    n_units: int
    kept: Sequence[int] = ()
    candidates: Tensor | None = None
    targets: Targets = ALL_FEATURES
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
        network = SelectorNetwork(layer, self.hidden_units, self.targets, self.solved_readout, generator)
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
    exchanges : int
        Features that were exchanged after training.
    probabilities, candidates : Tensor (free units, candidates) and (candidates,)
        Selection probabilities ``softmax(Λ)`` at the end of training, and the columns they are about.
    settled : Tensor (free units,)
        Probability that each free unit gives to its favourite and to near copies of it.
    supported : Tensor (free units,)
        Share of the column it has in the end, which an exchange may have brought in, that the unit expects to show.
    decoder : Decoder
        The refitted decoder to all columns, of one restart.
    history : list of dict
        One row an epoch.
    """

    columns: Tensor
    collisions: int
    objective: float
    exchanges: int
    probabilities: Tensor
    candidates: Tensor
    settled: Tensor
    supported: Tensor
    decoder: Decoder
    history: list[dict[str, float]]

    def state(self) -> dict[str, Any]:
        """Give everything as tensors and plain values."""
        return vars(self) | {"decoder": self.decoder.state_dict()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Fit":
        """Rebuild what :meth:`state` gave."""
        weights = [value for name, value in state["decoder"].items() if name.startswith("weights")]
        decoder = Decoder(1, [weights[0].shape[1], *(weight.shape[2] for weight in weights)], torch.Generator())
        decoder.load_state_dict(state["decoder"])
        return cls(**(state | {"decoder": decoder}))


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


@dataclass
class _Found:
    """What the groups of restarts have given so far."""

    done: int = 0
    objectives: list[float] = field(default_factory=list)
    best: Fit | None = None

    def keep(self, keeper: Keeper, told: int, generator: torch.Generator | None) -> None:
        """Note this for the next checkpoint, with the generator as the next group finds it."""
        best = None if self.best is None else self.best.state()
        keeper.groups = {"done": self.done, "objectives": self.objectives, "best": best, "told": told}
        keeper.groups["generator"] = state_of(generator)

    @classmethod
    def resumed(cls, keeper: Keeper, relay: _Relay, generator: torch.Generator | None) -> "_Found":
        """Take up what a checkpoint holds, or begin with nothing."""
        keeper.load()
        if not keeper.groups or generator is None:
            return cls()
        groups = keeper.groups
        generator.set_state(groups["generator"])
        relay.done = groups["told"] + len(keeper.training["history"] if keeper.training else ())
        best = None if groups["best"] is None else Fit.from_state(groups["best"])
        return cls(groups["done"], groups["objectives"], best)


def train_restarts(
    problem: Problem,
    objective: Objective,
    settings: Settings,
    n_init: int,
    generator: torch.Generator | None = None,
    callbacks: Sequence[Callback] = (),
    keeper: Keeper | None = None,
) -> tuple[Fit, list[float]]:
    """Train restarts, in groups as large as memory likes; give the one with the smallest J, and all values of J.

    Ties go to the earliest restart. A callback that returns True ends the training of its group, which is then
    finished as usual, and no further group is begun. A keeper saves the state now and then, and a fit that finds one
    goes on from there.
    """
    if not problem.n_free:
        n_init, settings = 1, replace(settings, epochs=0)
    sizes, keeper = group_sizes(n_init, problem), keeper or Keeper()
    relay = _Relay(callbacks, len(sizes))
    judge = Judge(problem.rows, objective, settings.batch_size, problem.n_features, problem.targets, generator)
    found = _Found.resumed(keeper, relay, generator)
    for size in sizes[found.done :]:
        found.keep(keeper, relay.done - len(keeper.training["history"] if keeper.training else ()), generator)
        network = problem.network(size, generator)
        ranks.same_start(network, network.targets.features)
        history = train(network, objective, problem.rows, settings, generator, relay, keeper)
        _judge(network, history, problem, judge, found)
        if relay.stopped:
            break
        found.done += 1
        found.keep(keeper, relay.done, generator)
        keeper.save({"group": state_of(generator)})
    assert found.best is not None
    return ranks.shared(found.best), found.objectives


def _judge(network: SelectorNetwork, history: list[Epoch], problem: Problem, judge: Judge, found: _Found) -> None:
    """Improve the best hard selection of a trained group, and keep it if it is the best so far."""
    own_choices, collisions = distinct_columns(network.layer)
    values = judge.objectives(network, own_choices)
    found.objectives += values.tolist()
    index = int(values.argmin())
    layer = network.layer
    probabilities, candidates = layer.probabilities()[index].detach(), layer.candidates
    better = ranks.shared(judge.improve(own_choices[index], float(values[index]), candidates, layer.kept))
    if found.best is not None and not better.objective < found.best.objective:
        return
    columns = _given_to_units(better.columns, probabilities.cpu(), candidates.cpu(), len(layer.kept))
    x = judge.samples[0].x
    found.best = Fit(
        columns=columns,
        collisions=int(collisions[index]),
        objective=better.objective,
        exchanges=better.exchanges,
        probabilities=probabilities.cpu(),
        candidates=candidates.cpu(),
        settled=settled_mass(x, own_choices[index], probabilities, candidates).cpu(),
        supported=supported_share(x, columns, probabilities, candidates).cpu(),
        decoder=refit_decoder(network, columns, problem.rows, judge.batch_size, index),
        history=[_row(epoch, index) for epoch in history],
    )


def _given_to_units(columns: Tensor, probabilities: Tensor, candidates: Tensor, n_kept: int) -> Tensor:
    """Order the columns that are not kept by the unit that wants each of them most."""
    if len(columns) == n_kept:
        return columns
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
    return (probabilities * (_explained(x, columns, probabilities, candidates) >= NEAR_COPY**2)).sum(dim=-1)


def supported_share(x: Tensor, columns: Tensor, probabilities: Tensor, candidates: Tensor) -> Tensor:
    """Give ``Σ_j π_ij corr(j, c_i)²``: how much of its column each free unit expects to show.

    It is 1 for a unit that is sure of its column or of a copy of it.
    """
    return (probabilities * _explained(x, columns, probabilities, candidates)).sum(dim=-1)


def _explained(x: Tensor, columns: Tensor, probabilities: Tensor, candidates: Tensor) -> Tensor:
    """Give the squared correlation of the columns of the free units with all candidates, 1 with themselves."""
    free = columns[len(columns) - len(probabilities) :].to(x.device)
    scaled = x - x.mean(dim=0)
    scaled = scaled / (scaled.norm(dim=0) + TINY)
    squares = (scaled[:, free].mT @ scaled[:, candidates]).square().clamp_max(1.0)
    return squares.masked_fill(candidates == free[:, None], 1.0)


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
