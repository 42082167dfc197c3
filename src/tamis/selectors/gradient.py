"""Minimisation of a loss over batches of rows, for the selectors that learn one score per feature."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import torch
from sklearn.utils import check_random_state
from torch import Tensor

from tamis.base import Task
from tamis.lscae.parallel import one_thread, torch_device
from tamis.scaling import Array, ScaledTable
from tamis.selectors.parameters import BatchSize, Count, Device, Positive, ScaledSelector, Seed, with_parameters

Problem = tuple[Callable[[Tensor], Tensor], Iterable[Tensor], Callable[[], Tensor]]
"""The loss of some rows, the parameters that it is minimised over, and the scores that they make."""


class Batches:
    """The rows of a table in shuffled batches of nearly equal size, as float32 tensors on the generator's device.

    Sparse rows are made dense batch by batch, unless they are a single batch. Dense and sparse rows have equal bits.
    """

    def __init__(self, table: ScaledTable, batch_size: int, generator: torch.Generator):
        self.table, self.generator = table, generator
        self.n_batches = -(-table.shape[0] // batch_size)
        self.whole = None if table.is_sparse and self.n_batches > 1 else self._tensor(table.dense())

    def __iter__(self) -> Iterator[Tensor]:
        if self.whole is not None and self.n_batches == 1:
            yield self.whole
            return
        order = torch.randperm(self.table.shape[0], generator=self.generator, device=self.generator.device)
        for rows in order.tensor_split(self.n_batches):
            yield self._tensor(self.table.take_rows(rows.cpu().numpy())) if self.whole is None else self.whole[rows]

    def _tensor(self, rows: Array) -> Tensor:
        return torch.from_numpy(rows.astype(np.float32)).to(self.generator.device)


@with_parameters
class GradientSelector(ScaledSelector):
    """A selector whose scores are learnt by Adam steps on batches of rows."""

    max_epochs: Count = 500
    batch_size: BatchSize = 256
    learning_rate: Positive = 0.02
    device: Device = "auto"
    random_state: Seed = None

    @abstractmethod
    def _problem(self, n_features: int, generator: torch.Generator) -> Problem:
        """Return what is to be minimised, from the start that the generator draws."""

    def _score(self, table: ScaledTable, task: Task) -> Array:  # noqa: ARG002
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        generator = torch.Generator(torch_device(self.device)).manual_seed(seed)
        with one_thread():
            loss, parameters, scores = self._problem(table.shape[1], generator)
            optimiser = torch.optim.Adam(parameters, lr=self.learning_rate, fused=True)
            batches = Batches(table, self.batch_size, generator)
            means = [np.mean([_step(loss(x), optimiser) for x in batches]) for _ in range(self.max_epochs)]
            self.losses_ = np.array(means)
            return np.asarray(scores().detach().double().cpu())


def _step(loss: Tensor, optimiser: torch.optim.Optimizer) -> float:
    optimiser.zero_grad()
    torch.autograd.backward(loss)
    optimiser.step()
    return loss.item()
