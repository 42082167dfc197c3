"""The one training loop, with a callback per epoch, and the judgement of a hard selection."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from tamis.neural.adam import Adam
from tamis.neural.analytic import covers, layer_gradient
from tamis.neural.concrete import GumbelPool
from tamis.neural.decoder import Decoder
from tamis.neural.narrowing import Narrowing
from tamis.neural.network import SelectorNetwork, hard_codes
from tamis.neural.objective import Objective
from tamis.neural.readout import Readout
from tamis.neural.schedules import Schedule

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


def batches(rows: RowSource, batch_size: int, generator: torch.Generator | None) -> Iterator[Tensor]:
    """Yield all rows once, shuffled, in batches of nearly equal size."""
    n_batches = steps_per_epoch(rows.n_rows, batch_size)
    if n_batches == 1:
        yield rows.take(None)
        return
    device = None if generator is None else generator.device
    for chosen in torch.randperm(rows.n_rows, generator=generator, device=device).tensor_split(n_batches):
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

    def step(self, x: Tensor) -> dict[str, Tensor]:
        """Train on one batch; give the values of the terms."""
        progress = self.done / self.last
        self.done += 1
        if self.settings.narrowing is not None:
            self.settings.narrowing.apply(self.network.layer, self.optimiser, progress)
        self.temperature = self.settings.temperature(progress)
        noise = self.noise.draw(self.network.layer.shape)
        layer = self.network.layer
        if covers(layer, self.objective, progress):
            goal = self.network.goal(x)
            terms, gradient = layer_gradient(layer, x, goal, self.objective, self.temperature, progress, noise)
            layer.source.values.grad = gradient
        else:
            parts = self.objective(self.network.soft_view(x, self.objective, self.temperature, progress, noise))
            parts.loss.sum().backward()
            terms = parts.terms
        self.optimiser.step()
        return terms


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
        records = [stepper.step(x) for x in batches(rows, settings.batch_size, generator)]
        history.append(_epoch(number, settings.epochs, stepper.temperature, records, network, objective))
        if callback(history[-1]) is True:
            break
    return history


@torch.no_grad()
def _epoch(
    number: int,
    total: int,
    temperature: float,
    records: list[dict[str, Tensor]],
    network: SelectorNetwork,
    objective: Objective,
) -> Epoch:
    terms = {name: torch.stack([record[name] for record in records]) for name in records[0]}
    value = objective.combine(terms, 1.0).objective.mean(dim=0).cpu()
    peak = network.layer.probabilities().amax(dim=-1).mean(dim=-1).cpu()
    return Epoch(number, total, temperature, value, {n: values.mean(dim=0).cpu() for n, values in terms.items()}, peak)


@torch.no_grad()
def refit_decoder(network: SelectorNetwork, columns: Tensor, rows: RowSource, batch_size: int, index: int) -> Decoder:
    """Give a decoder from the hard columns (k,) of one restart to all columns, its readout fitted in one pass."""
    single, readout = network.decoder.restart(index), Readout()
    for x in batches(rows, batch_size, None if rows.n_rows <= batch_size else torch.Generator()):
        readout.add(single.hidden(hard_codes(x.cpu(), columns[None]))[0], x.cpu())
    return single.with_readout(readout.solve())
