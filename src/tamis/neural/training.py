"""The one training loop, with a callback per epoch, and the refit of a decoder on a hard selection."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from tamis.neural.network import SelectorNetwork, hard_codes
from tamis.neural.objective import Objective
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
    """How to train: epochs, rows in a batch, temperature from progress, and the two learning rates."""

    epochs: int
    batch_size: int
    temperature: Schedule
    selector_lr: float
    decoder_lr: float


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


def train(
    network: SelectorNetwork,
    objective: Objective,
    rows: RowSource,
    settings: Settings,
    generator: torch.Generator | None = None,
    callback: Callback = lambda _: None,
) -> list[Epoch]:
    """Minimise the objective by Adam while the temperature falls; return what the callback was told."""
    optimiser = torch.optim.Adam(
        [
            {"params": network.layer.parameters(), "lr": settings.selector_lr},
            {"params": network.decoder.parameters(), "lr": settings.decoder_lr},
        ],
        fused=True,
    )
    last_step = max(1, settings.epochs * steps_per_epoch(rows.n_rows, settings.batch_size) - 1)
    history: list[Epoch] = []
    step = 0
    for number in range(1, settings.epochs + 1):
        records = []
        for x in batches(rows, settings.batch_size, generator):
            progress = step / last_step
            temperature = settings.temperature(progress)
            parts = objective(network.soft_view(x, objective, temperature, progress, generator))
            optimiser.zero_grad()
            parts.loss.sum().backward()
            optimiser.step()
            records.append({"": parts.objective.detach(), **{k: v.detach() for k, v in parts.terms.items()}})
            step += 1
        history.append(_epoch(number, settings.epochs, temperature, records, network))
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


def refit_decoder(
    network: SelectorNetwork,
    columns: Tensor,
    rows: RowSource,
    settings: Settings,
    generator: torch.Generator | None = None,
) -> None:
    """Train the decoder alone on hard columns (restarts, k), for the mean squared error of all columns."""
    optimiser = torch.optim.Adam(network.decoder.parameters(), lr=settings.decoder_lr, fused=True)
    for _ in range(settings.epochs):
        for x in batches(rows, settings.batch_size, generator):
            loss = (network.decoder(hard_codes(x, columns)) - x).square().mean(dim=(-2, -1)).sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


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
