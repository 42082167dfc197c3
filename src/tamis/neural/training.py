"""The one training loop, with a callback per epoch, and the judgement of a hard selection."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from tamis.neural.adam import Adam
from tamis.neural.concrete import GumbelPool
from tamis.neural.decoder import Decoder
from tamis.neural.narrowing import Narrowing
from tamis.neural.network import SelectorNetwork, hard_codes
from tamis.neural.objective import Objective, Parts
from tamis.neural.readout import Readout
from tamis.neural.schedules import Schedule

EVALUATION_BATCHES = 8
"""At most so many batches tell the objective of a hard selection."""


class RowSource(Protocol):
    """Where batches come from: standardised rows of a table, wherever it is stored."""

    n_rows: int

    def take(self, rows: Tensor | None) -> Tensor:
        """Give the rows (all of them for None) as a dense float tensor."""
        ...


@dataclass(frozen=True)
class Settings:
    """How to train: epochs, rows in a batch, temperature from progress, learning rates, and how to narrow."""

    epochs: int
    batch_size: int
    temperature: Schedule
    selector_lr: float
    decoder_lr: float
    narrowing: Narrowing | None = None


@dataclass(frozen=True)
class Epoch:
    """What a callback is told at the end of an epoch; means over its batches, one value per restart.

    Attributes
    ----------
    number, total : int
        This epoch, from 1, and how many there will be.
    temperature : float
        Temperature of its last step.
    objective : Tensor
        ``J``.
    terms : dict of Tensor
        The value of each term.
    peak_probability : Tensor
        Mean over the units of their largest selection probability.
    """

    number: int
    total: int
    temperature: float
    objective: Tensor
    terms: dict[str, Tensor]
    peak_probability: Tensor


Callback = Callable[[Epoch], object]
"""Called after every epoch; training stops early if it returns True."""


def steps_per_epoch(n_rows: int, batch_size: int) -> int:
    """Give the number of batches that all rows make; they differ in size by at most one row."""
    return -(-n_rows // batch_size)


def batches(
    rows: RowSource, batch_size: int, generator: torch.Generator | None, skip: int = 0
) -> Iterator[Tensor]:
    """Yield all rows once, shuffled, in batches of nearly equal size, from the batch number ``skip`` on.

    A source that is read in pieces has a method ``stream``, by which it shuffles and reads ahead itself.
    """
    n_batches = steps_per_epoch(rows.n_rows, batch_size)
    if n_batches == 1:
        yield from [rows.take(None)][skip:]
        return
    if hasattr(rows, "stream"):
        yield from rows.stream(n_batches, generator, skip)
        return
    device = None if generator is None else generator.device
    n_rows = getattr(rows, "own_rows", rows.n_rows)
    for chosen in torch.randperm(n_rows, generator=generator, device=device).tensor_split(n_batches)[skip:]:
        yield rows.take(chosen)


def sample_batch(rows: RowSource, batch_size: int, generator: torch.Generator | None) -> Tensor:
    """Give one random batch."""
    return next(batches(rows, batch_size, generator))


class _Stepper:
    """One optimiser step after another, from progress 0 to 1."""

    def __init__(
        self,
        network: SelectorNetwork,
        objective: Objective,
        settings: Settings,
        n_steps: int,
        generator: torch.Generator | None,
    ):
        self.network, self.objective, self.settings = network, objective, settings
        self.noise = GumbelPool(network.layer.shape, generator)
        self.done, self.last = 0, max(1, n_steps - 1)
        self.optimiser = Adam(
            [
                (list(network.layer.parameters()), settings.selector_lr),
                (list(network.decoder.parameters()), settings.decoder_lr),
            ]
        )

    def step(self, x: Tensor) -> Parts:
        """Train on one batch."""
        progress = self.done / self.last
        self.done += 1
        if self.settings.narrowing is not None:
            self.settings.narrowing.apply(self.network.layer, self.optimiser, progress)
        self.temperature = self.settings.temperature(progress)
        noise = self.noise.draw(self.network.layer.shape)
        parts = self.objective(self.network.soft_view(x, self.objective, self.temperature, progress, noise))
        parts.loss.sum().backward()
        self.optimiser.step()
        return parts


def train(
    network: SelectorNetwork,
    objective: Objective,
    rows: RowSource,
    settings: Settings,
    generator: torch.Generator | None = None,
    callback: Callback = lambda _: None,
) -> list[Epoch]:
    """Minimise the objective by Adam while the temperature falls; return what the callback was told."""
    n_steps = settings.epochs * steps_per_epoch(rows.n_rows, settings.batch_size)
    stepper = _Stepper(network, objective, settings, n_steps, generator)
    history: list[Epoch] = []
    for number in range(1, settings.epochs + 1):
        records = []
        for x in batches(rows, settings.batch_size, generator):
            parts = stepper.step(x)
            records.append({"": parts.objective.detach(), **{k: v.detach() for k, v in parts.terms.items()}})
        history.append(_epoch(number, settings.epochs, stepper.temperature, records, network))
        if callback(history[-1]) is True:
            break
    return history


@torch.no_grad()
def _epoch(
    number: int, total: int, temperature: float, records: list[dict[str, Tensor]], network: SelectorNetwork
) -> Epoch:
    means = {name: torch.stack([record[name] for record in records]).mean(dim=0).cpu() for name in records[0]}
    peak = network.layer.probabilities().amax(dim=-1).mean(dim=-1).cpu()
    return Epoch(number, total, temperature, means.pop(""), means, peak)


@torch.no_grad()
def hard_objective(
    network: SelectorNetwork,
    objective: Objective,
    columns: Tensor,
    rows: RowSource,
    batch_size: int,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Give J of hard columns (restarts, k), a mean over up to :data:`EVALUATION_BATCHES` batches."""
    values = []
    for x in batches(rows, batch_size, generator):
        values.append(objective(network.hard_view(x, objective, columns)).objective)
        if len(values) == EVALUATION_BATCHES:
            break
    return torch.stack(values).mean(dim=0).cpu()


@torch.no_grad()
def refit_decoder(network: SelectorNetwork, columns: Tensor, rows: RowSource, batch_size: int, index: int) -> Decoder:
    """Give a decoder from the hard columns (k,) of one restart to all columns, its readout fitted in one pass."""
    single, readout = network.decoder.restart(index), Readout()
    for x in batches(rows, batch_size, None if rows.n_rows <= batch_size else torch.Generator()):
        readout.add(single.hidden(hard_codes(x.cpu(), columns[None]))[0], x.cpu())
    return single.with_readout(readout.solve())
