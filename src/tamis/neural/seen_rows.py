"""Rows of a small table as training sees them, looked at once for all batches."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tamis.neural.batching import RowSource
from tamis.neural.network import Seen, SelectorNetwork
from tamis.neural.objective import Goal
from tamis.neural.taming import limit_of, tamed

MOST_ROWS = 2048
"""Of more rows, the Gram matrix is computed batch by batch."""

NARROW = 256
"""The Gram matrix of so few columns is computed sooner than looked up."""


class SeenRows:
    """Batches of which the graph needs the shown columns and the Gram matrix of the goal only.

    Of many columns, that of a batch is a part of that of all rows, which is computed once: with means m over its
    columns and their mean m̄, centred columns have the Gram matrix ``M_il − m_i − m_l + m̄``. The candidates must not
    change meanwhile.

    Parameters
    ----------
    rows : RowSource
        Rows that are in memory as a whole.
    network : SelectorNetwork
        What looks at them.
    """

    def __init__(self, rows: RowSource, network: SelectorNetwork):
        whole = tamed(rows.take(None), limit_of(rows))
        self.n_rows, self.own_rows, self.share = rows.n_rows, len(whole), getattr(rows, "share", (0, 1))
        self.everything = network.see(whole)
        self.shown, goal = np.ascontiguousarray(self.everything.shown.numpy()), self.everything.goal
        narrow = goal.columns.shape[1] <= NARROW
        self.factor = np.ascontiguousarray((goal.columns * goal.weights.sqrt()).numpy()) if narrow else None
        self.gram = goal.gram.numpy()

    def take(self, rows: Tensor | None) -> "Part | Seen":
        """Give some rows, to be looked at, or all of them for None."""
        return self.everything if rows is None else Part(self, rows.numpy())

    def look(self, chosen: NDArray[np.int64]) -> Seen:
        """Look at some rows."""
        shown = _centred(self.shown.take(chosen, axis=0))
        if self.factor is None:
            gram = self._part(chosen)
        else:
            factor = _centred(self.factor.take(chosen, axis=0))
            gram = factor @ factor.T
        return Seen(torch.from_numpy(shown), Goal.from_gram(torch.from_numpy(gram)))

    def _part(self, chosen: NDArray[np.int64]) -> NDArray[np.floating]:
        """Give the part of the Gram matrix that belongs to a batch, as if its columns were centred there."""
        gram = self.gram.ravel().take(chosen[:, None] * len(self.gram) + chosen)  # several times faster than slices
        means = gram.mean(axis=0)
        gram -= means
        gram -= (means - means.mean())[:, None]
        return gram


class Part(NamedTuple):
    """Some rows of a table that was looked at, not yet copied."""

    table: SeenRows
    rows: NDArray[np.int64]


def _centred(columns: NDArray[np.floating]) -> NDArray[np.floating]:
    columns -= columns.mean(axis=0)
    return columns
