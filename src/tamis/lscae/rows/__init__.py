"""Some rows of a table, wherever it is stored: scaled, shuffled and in batches."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse
from torch import Tensor


class Rows(Protocol):
    """Rows of a table as dense float32 tensors.

    Attributes
    ----------
    n_rows : int
        Number of rows that one of the processes that share a fit goes through in a pass; all make equally many steps.
    device : torch.device
        Where the tensors are.
    """

    n_rows: int
    device: torch.device

    def batches(self, n_batches: int, rng: np.random.Generator, skip: int = 0) -> Iterator[Tensor]:
        """Yield all rows once, shuffled, in batches of nearly equal size, from the batch number ``skip`` on."""
        ...


class Scaling(NamedTuple):
    """Which features of a table are used, what is subtracted from them and what they are divided by."""

    features: NDArray[np.intp]
    center: NDArray[np.float64]
    spread: NDArray[np.float64]

    def of(self, wanted: NDArray[np.intp]) -> "Scaling":
        """Return the scaling of those of the used features that are wanted."""
        known = np.isin(self.features, wanted)
        return Scaling(self.features[known], self.center[known], self.spread[known])

    def apply(self, block: Any) -> Tensor:
        """Return ``(x − center) / spread`` of a block of the used features, computed in float64, as float32.

        In C order whatever the block's, since the order of sums in products of matrices depends on it.
        """
        dense = block.toarray() if issparse(block) else block
        scaled = (dense.astype(np.float64, copy=False) - self.center) / self.spread
        return torch.from_numpy(scaled.astype(np.float32, order="C"))


def n_batches(n_rows: int, batch_size: int) -> int:
    """Return the number of batches that rows make; they differ in size by at most one row."""
    return -(-n_rows // batch_size)


def sample_rows(rows: Rows, size: int, count: int, rng: np.random.Generator) -> list[Tensor]:
    """Return at most ``count`` samples of about ``size`` random rows, without common rows."""
    return list(islice(rows.batches(n_batches(rows.n_rows, size), rng), count))
