"""The one training loop, with a callback per epoch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tamis.lscae import parallel
from tamis.lscae.checkpoint import Checkpointer, network_state, restore_network
from tamis.lscae.network import Network
from tamis.lscae.objective import objective
from tamis.lscae.problem import ORDER, Problem
from tamis.lscae.recipe import Recipe

MAX_BATCHES = 300
"""After so many batches at the latest, the callback is called."""

MAX_OVERRUN = 3
"""Where one pass over the table is longer than ``n_steps``, training stops after so many times ``n_steps`` steps."""


@dataclass(frozen=True)
class Epoch:
    """What a callback is given at the end of an epoch: means over its batches, and J of them.

    An epoch of more than :data:`MAX_BATCHES` batches is reported in parts, each counted like an epoch.

    Attributes
    ----------
    number, total : int
        This epoch, from 1, and how many there will be.
    temperature : float
        Temperature of its last step.
    objective : float
        ``J``.
    terms : dict of float
        The value of each term.
    peak_probability : float
        Mean over the units of their largest selection probability.
    """

    number: int
    total: int
    temperature: float
    objective: float
    terms: dict[str, float]
    peak_probability: float


Callback = Callable[[Epoch], object]
"""Called after every epoch; training stops early if it returns True."""


@dataclass
class Progress:
    """How far training is: steps made, epochs reported, and sums of the terms over the batches since.

    Sums, since a value kept for every batch would pin the memory that large tensors came from in between.
    """

    step: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    sums: dict[str, Tensor] = field(default_factory=dict)
    count: int = 0

    def report(self, network: Network, n_reports: int) -> Epoch:
        """Return the means since the last report, of so many in a restart, and begin anew."""
        means = {name: (total / self.count).cpu() for name, total in self.sums.items()}
        number = len(self.history) + 1
        epoch = Epoch(
            number=network.restart * n_reports + number,
            total=network.recipe.n_init * n_reports,
            temperature=network.temperature,
            objective=float(objective(means)),
            terms={name: float(mean) for name, mean in means.items()},
            peak_probability=float(torch.softmax(network.logits, dim=-1).detach().amax(dim=-1).mean()),
        )
        row = {"epoch": number, "temperature": epoch.temperature, "objective": epoch.objective, **epoch.terms}
        self.history.append(row | {"peak_probability": epoch.peak_probability})
        self.sums, self.count = {}, 0
        return epoch


def train(
    problem: Problem,
    recipe: Recipe,
    restart: int,
    callbacks: Sequence[Callback],
    checkpointer: Checkpointer | None = None,
) -> tuple[Network, list[dict[str, Any]], bool]:
    """Minimise the objective by Adam while the temperature falls.

    Training goes on from the state that a checkpointer holds. Return the network, one row for every epoch,
    and whether a callback ended the training by returning True.
    """
    network, per_pass = Network(problem, recipe, restart), ceil(problem.rows.n_rows / recipe.batch_size)
    n_steps = min(ceil(recipe.n_steps / per_pass) * per_pass, MAX_OVERRUN * recipe.n_steps)
    if recipe.max_epochs is not None:
        n_steps = recipe.max_epochs * per_pass
    if not problem.n_units:
        n_steps = 0
    n_reports = n_steps // per_pass * ceil(per_pass / MAX_BATCHES) + ceil(n_steps % per_pass / MAX_BATCHES)
    progress = Progress() if checkpointer is None else _restored(network, checkpointer)
    stop = False
    while progress.step < n_steps and not stop:
        number, skip = divmod(progress.step, per_pass)
        order = np.random.default_rng((problem.seed, ORDER, restart, number))
        for x in problem.rows.batches(per_pass, order, skip):
            values = network.step(x, progress.step, progress.step / max(1, n_steps - 1))
            progress.sums = {name: value + progress.sums.get(name, 0.0) for name, value in values.items()}
            progress.step, progress.count = progress.step + 1, progress.count + 1
            if progress.step == n_steps or progress.step % per_pass % MAX_BATCHES == 0:
                epoch = progress.report(network, n_reports)
                # All are called, whatever the first ones answer.
                answers = [callback(epoch) for callback in callbacks]
                stop = any(isinstance(answer, bool | np.bool_) and bool(answer) for answer in answers)
                stop = parallel.broadcast(stop) if problem.shared else stop
            if checkpointer is not None and (stop or checkpointer.due):
                checkpointer.save(network_state(network) | {"progress": vars(progress)})
            if stop or progress.step == n_steps:
                break
    return network, progress.history, stop


def _restored(network: Network, checkpointer: Checkpointer) -> Progress:
    """Bring a fresh network to a saved state, if there is one; return how far it was."""
    saved, checkpointer.training = checkpointer.training, None
    if saved is None:
        return Progress()
    restore_network(network, saved)
    return Progress(**saved["progress"])
