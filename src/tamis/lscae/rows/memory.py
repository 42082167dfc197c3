"""Rows of a table in memory: a dense array, scaled once, or a CSR matrix, of which each batch is made dense."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from scipy.sparse import issparse
from torch import Tensor

from tamis.columns import row_blocks
from tamis.lscae.rows import Scaling


class MemoryRows:
    """Rows of an array or CSR matrix; see :class:`~tamis.lscae.rows.Rows`. Both give the same bits.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The table; it is not changed.
    scaling : Scaling
        What to take of it.
    device : torch.device
        Where the batches go.
    share : (int, int)
        Which part of every batch is taken, of how many.
    """

    def __init__(self, X: Any, scaling: Scaling, device: torch.device, share: tuple[int, int] = (0, 1)):
        self.n_rows, self.device, self.share = -(-X.shape[0] // share[1]), device, share
        self._n_all, self._scaling, self._dense = X.shape[0], scaling, None
        if issparse(X):
            self._sparse = X if len(scaling.features) == X.shape[1] else X[:, scaling.features]
        else:
            self._dense = torch.empty(X.shape[0], len(scaling.features), device=device)
            start = 0
            for block in row_blocks(X):
                self._dense[start : start + len(block)] = scaling.apply(block[:, scaling.features])
                start += len(block)

    def batches(self, n_batches: int, rng: np.random.Generator, skip: int = 0) -> Iterator[Tensor]:
        """Yield all rows once, shuffled, in batches of nearly equal size, from the batch number ``skip`` on."""
        part, n_parts = self.share
        if n_batches == n_parts == 1:
            yield from [self._take(None)][skip:]
            return
        for chosen in np.array_split(rng.permutation(self._n_all), n_batches)[skip:]:
            yield self._take(chosen[part::n_parts])

    def _take(self, rows: Any) -> Tensor:
        """Return some rows, or all of them for None."""
        if rows is None and self._dense is None:
            self._dense = self._scaling.apply(self._sparse).to(self.device)
        if self._dense is None:
            return self._scaling.apply(self._sparse[rows]).to(self.device)
        return self._dense if rows is None else self._dense[torch.from_numpy(rows).to(self.device)]
