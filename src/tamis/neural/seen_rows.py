"""Rows of a small table as training sees them, looked at once for all batches."""

import torch
from torch import Tensor

from tamis.neural.batching import RowSource, centred
from tamis.neural.network import Seen, SelectorNetwork
from tamis.neural.objective import Goal

MOST_ROWS = 2048
"""Of more rows, the Gram matrix is computed batch by batch."""


class SeenRows:
    """Batches of which the graph needs the shown columns and the Gram matrix of the goal only.

    That of a batch is a part of that of all rows, which is computed once: with means m over its columns and their mean
    m̄, centred columns have the Gram matrix ``M_il − m_i − m_l + m̄``. The candidates must not change meanwhile.

    Parameters
    ----------
    rows : RowSource
        Rows that are in memory as a whole.
    network : SelectorNetwork
        What looks at them.
    """

    def __init__(self, rows: RowSource, network: SelectorNetwork):
        whole = centred(rows.take(None))
        self.n_rows, self.own_rows, self.share = rows.n_rows, len(whole), getattr(rows, "share", (0, 1))
        self.everything = network.see(whole)
        self.shown, self.gram = self.everything.shown.numpy(), self.everything.goal.gram.numpy()

    def take(self, rows: Tensor | None) -> Seen:
        """Look at some rows, or at all of them for None."""
        if rows is None:
            return self.everything
        chosen = rows.numpy()
        shown = self.shown.take(chosen, axis=0)
        shown -= shown.mean(axis=0)
        gram = self.gram.ravel().take(chosen[:, None] * len(self.gram) + chosen)  # several times faster than slices
        means = gram.mean(axis=0)
        gram -= means
        gram -= (means - means.mean())[:, None]
        return Seen(torch.from_numpy(shown), Goal.from_gram(torch.from_numpy(gram)))
