"""Rows of a table in memory: a dense array, scaled once, or a CSR matrix, of which each batch is made dense."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from scipy.sparse import issparse
from sklearn.utils import gen_batches
from torch import Tensor

from tamis.columns import BLOCK_VALUES
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
    once : bool
        Whether one pass is all that is asked for; else dense rows are scaled once and kept.
    """

    def __init__(
        self, X: Any, scaling: Scaling, device: torch.device, share: tuple[int, int] = (0, 1), once: bool = False
    ):
        self.n_rows, self.device, self.share = -(-X.shape[0] // share[1]), device, share
        self._table, self._scaling, self._scaled = X, scaling, None
        self._all_features = len(scaling.features) == X.shape[1]
        if issparse(X) and not self._all_features:
            self._table, self._all_features = X[:, scaling.features], True
        elif not issparse(X) and not once:
            self._scaled = torch.empty(X.shape[0], len(scaling.features), device=device)
            for rows in gen_batches(X.shape[0], max(1, BLOCK_VALUES // X.shape[1])):
                self._scaled[rows] = self._scale(rows)

    def batches(self, n_batches: int, rng: np.random.Generator, skip: int = 0) -> Iterator[Tensor]:
        """Yield all rows once, shuffled, in batches of nearly equal size, from the batch number ``skip`` on."""
        part, n_parts = self.share
        if n_batches == n_parts == 1:
            # The same tensor in every pass, in which a step may recognise it.
            self._scaled = self._scale(slice(None)) if self._scaled is None else self._scaled
            yield from [self._scaled][skip:]
            return
        for chosen in np.array_split(rng.permutation(self._table.shape[0]), n_batches)[skip:]:
            rows = chosen[part::n_parts]
            yield self._scale(rows) if self._scaled is None else self._scaled[torch.from_numpy(rows).to(self.device)]

    def _scale(self, rows: Any) -> Tensor:
        block = self._table[rows]
        block = block if self._all_features else block[:, self._scaling.features]
        return self._scaling.apply(block).to(self.device)
