"""Minimisation of a loss over batches of rows, for the selectors that learn one score per feature."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from torch import Tensor

from tamis.lscae.parallel import torch_device
from tamis.scaling import ScaledTable


def seeded_generator(random_state: Any, device: str) -> torch.Generator:
    """Return a generator on a device, seeded by scikit-learn's ``random_state``."""
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    return torch.Generator(torch_device(device)).manual_seed(seed)


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

    def _tensor(self, rows: NDArray[np.float64]) -> Tensor:
        return torch.from_numpy(rows.astype(np.float32)).to(self.generator.device)


def minimise(
    loss: Callable[[Tensor], Tensor],
    parameters: Iterable[Tensor],
    batches: Batches,
    learning_rate: float,
    max_epochs: int,
) -> NDArray[np.float64]:
    """Change parameters in place by Adam steps on batches of rows, and return the mean loss of every epoch."""
    optimiser = torch.optim.Adam(parameters, lr=learning_rate, fused=True)
    means = []
    for _ in range(max_epochs):
        values = []
        for x in batches:
            value = loss(x)
            optimiser.zero_grad()
            torch.autograd.backward(value)
            optimiser.step()
            values.append(value.item())
        means.append(np.mean(values))
    return np.array(means)
