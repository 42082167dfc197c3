"""The one training loop, with a callback per epoch, and the judgement of a hard selection."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from tamis.neural import ranks
from tamis.neural.adam import Adam
from tamis.neural.analytic import covers, layer_gradient
from tamis.neural.batching import RowSource, batches, centered, steps_per_epoch
from tamis.neural.checkpoint import Keeper, model_state, restore_model, state_of
from tamis.neural.concrete import GumbelPool
from tamis.neural.decoder import Decoder
from tamis.neural.narrowing import Narrowing
from tamis.neural.network import Seen, SelectorNetwork, hard_codes
from tamis.neural.objective import Objective
from tamis.neural.readout import Readout
from tamis.neural.schedules import Schedule

LONGEST_REPORT = 300
"""After so many batches at the latest, the callback is told how training goes."""


@dataclass(frozen=True)
class Settings:
    """How to train: epochs, rows in a batch, temperature from progress, learning rates, and how to narrow.

    ``most_steps`` ends training before all epochs are over.
    """

    epochs: int
    batch_size: int
    temperature: Schedule
    selector_lr: float
    decoder_lr: float
    narrowing: Narrowing | None = None
    most_steps: int | None = None


@dataclass(frozen=True)
class Epoch:
    """What a callback is told at the end of an epoch, one value per restart: means over its batches, and J of them.

    An epoch of more than :data:`LONGEST_REPORT` batches is told of in parts, each counted like an epoch.

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
        self.done, self.last, self.due = 0, max(1, n_steps - 1), False
        narrowing = settings.narrowing
        self._narrowing = narrowing if narrowing is not None and narrowing.drops_from(network.layer) else None
        self._last: tuple[Tensor | None, Seen | None] = (None, None)
        self.optimiser = Adam(
            [
                (list(network.layer.parameters()), settings.selector_lr),
                (list(network.decoder.parameters()), settings.decoder_lr),
            ]
        )

    def step(self, x: Tensor) -> Tensor:
        """Train on one batch; return the values of the terms: (terms, restarts)."""
        progress = self.done / self.last
        self.done += 1
        if self._narrowing is not None:
            self._narrowing.apply(self.network.layer, self.optimiser, progress)
        self.temperature = self.settings.temperature(progress)
        seen = self._see(x)
        layer = self.network.layer
        noise = self.noise.draw(layer.shape)
        values = (self._closed_form if covers(layer, self.objective) else self._autograd)(seen, noise)
        self.due = ranks.average((parameter.grad for parameter in self.network.parameters()), self.due)
        self.optimiser.step()
        return values

    def _see(self, x: Tensor) -> Seen:
        """Return what training looks at in a batch; a network decodes features as they are."""
        fixed = self._narrowing is None
        if not fixed or self._last[0] is not x:  # one batch may be all the rows, step after step
            self._last = (x, self.network.see(x if self.objective.needs_codes else centered(x)))
        assert self._last[1] is not None
        return self._last[1]

    def _closed_form(self, seen: Seen, noise: Tensor) -> Tensor:
        layer = self.network.layer
        terms, gradient = layer_gradient(layer, seen, self.objective, self.temperature, noise)
        layer.source.values.grad = torch.from_numpy(gradient)
        return torch.from_numpy(np.array([terms[name] for name in self.objective.terms]))

    def _autograd(self, seen: Seen, noise: Tensor) -> Tensor:
        parts = self.objective(self.network.soft_view(seen, self.objective, self.temperature, noise), ranks.mean)
        parts.loss.sum().backward()
        return torch.stack([parts.terms[name].detach() for name in self.objective.terms])


@dataclass(frozen=True)
class _Course:
    """How many steps there are, how many in a pass over the rows, and after which ones to report."""

    n_steps: int
    per_pass: int

    @classmethod
    def plan(cls, rows: RowSource, settings: Settings) -> "_Course":
        per_pass = steps_per_epoch(rows.n_rows, settings.batch_size)
        n_steps = settings.epochs * per_pass
        return cls(n_steps if settings.most_steps is None else min(n_steps, settings.most_steps), per_pass)

    @property
    def n_reports(self) -> int:
        passes, rest = divmod(self.n_steps, self.per_pass)
        return passes * -(-self.per_pass // LONGEST_REPORT) + -(-rest // LONGEST_REPORT)

    def reports_after(self, done: int) -> bool:
        return done == self.n_steps or done % self.per_pass % LONGEST_REPORT == 0


@dataclass
class _Log:
    """What was reported so far, sums over the batches since, and the generator's state when the last pass began.

    Sums, since a value kept for every batch would pin the memory that large tensors came from in between.
    """

    history: list[Epoch] = field(default_factory=list)
    sums: Tensor | None = None
    count: int = 0
    pass_start: Tensor | None = None

    def add(self, values: Tensor) -> None:
        self.sums = values if self.sums is None else self.sums.add_(values)
        self.count += 1

    @torch.no_grad()
    def report(self, total: int, temperature: float, network: SelectorNetwork, objective: Objective) -> Epoch:
        assert self.sums is not None
        means = dict(zip(objective.terms, (self.sums / self.count).cpu(), strict=True))
        peak = network.layer.probabilities().amax(dim=-1).mean(dim=-1).cpu()
        value = objective.combine(means).objective
        self.history.append(Epoch(len(self.history) + 1, total, temperature, value, means, peak))
        self.sums, self.count = None, 0
        return self.history[-1]


def train(
    network: SelectorNetwork,
    objective: Objective,
    rows: RowSource,
    settings: Settings,
    generator: torch.Generator | None = None,
    callback: Callback = lambda _: None,
    keeper: Keeper | None = None,
) -> list[Epoch]:
    """Minimise the objective by Adam while the temperature falls; return what the callback was told."""
    course, keeper = _Course.plan(rows, settings), keeper or Keeper()
    stepper = _Stepper(network, objective, settings, course.n_steps, generator)
    log, now = _resumed(stepper, generator, keeper)
    while stepper.done < course.n_steps:
        if now is None:
            log.pass_start = state_of(generator) if keeper.folder is not None else None
        for x in _feed(rows, settings.batch_size, generator, stepper.done % course.per_pass, now):
            log.add(stepper.step(x))
            if course.reports_after(stepper.done):
                epoch = log.report(course.n_reports, stepper.temperature, network, objective)
                if ranks.shared(callback(epoch) is True):
                    _save(stepper, course, log, generator, keeper)
                    return log.history
            if stepper.due:
                _save(stepper, course, log, generator, keeper)
            stepper.due = keeper.due
            if stepper.done == course.n_steps:
                break
        now = None
    return log.history


def _feed(
    rows: RowSource, batch_size: int, generator: torch.Generator | None, skip: int, now: Tensor | None
) -> Iterator[Tensor]:
    """Yield the batches of a pass; a resumed one draws its order anew, then the generator goes on from ``now``."""
    feed = batches(rows, batch_size, generator, skip)
    first = next(feed)
    if now is not None and generator is not None:
        generator.set_state(now)
    yield first
    yield from feed


def _resumed(stepper: _Stepper, generator: torch.Generator | None, keeper: Keeper) -> tuple[_Log, Tensor | None]:
    """Bring a fresh stepper to the saved state, if there is one; give its log, and the generator's last state."""
    state, keeper.training = keeper.training, None
    if state is None or generator is None:
        return _Log(), None
    restore_model(stepper.network, stepper.optimiser, state)
    stepper.done = state["done"]
    sums = None if state["sums"] is None else state["sums"].to(generator.device)
    log = _Log([Epoch(**epoch) for epoch in state["history"]], sums, state["count"], state["pass_start"])
    generator.set_state(state["pass_start"] if state["in_pass"] else state["now"])
    return log, state["now"] if state["in_pass"] else None


def _save(stepper: _Stepper, course: _Course, log: _Log, generator: torch.Generator | None, keeper: Keeper) -> None:
    if keeper.folder is None:
        return
    keeper.training = {
        **model_state(stepper.network, stepper.optimiser),
        "done": stepper.done,
        "in_pass": stepper.done % course.per_pass != 0,
        "sums": None if log.sums is None else log.sums.cpu(),
        "count": log.count,
        "history": [vars(epoch) for epoch in log.history],
    }
    now = state_of(generator)
    keeper.save({"group": keeper.groups.get("generator"), "pass_start": log.pass_start, "now": now})
    keeper.training = None


@torch.no_grad()
def refit_decoder(network: SelectorNetwork, columns: Tensor, rows: RowSource, batch_size: int, index: int) -> Decoder:
    """Give a decoder from the hard columns (k,) of one restart to all columns, its readout fitted in one pass."""
    single, readout = network.decoder.restart(index), Readout()
    for x in batches(rows, batch_size, None if rows.n_rows <= batch_size else torch.Generator()):
        readout.add(single.hidden(hard_codes(x.cpu(), columns[None]))[0], x.cpu())
    readout.share()
    return single.with_readout(readout.solve())
