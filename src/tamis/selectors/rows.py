"""The one border between numpy/scipy and torch: rows of a table, standardised when they are taken."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse

from tamis.columns import row_blocks


class StandardisedRows:
    """Batches ``(x − center) / spread`` of some columns of a table, as float32 tensors on a device.

    A dense table is standardised once, into a float32 copy. A CSR matrix stays sparse; each batch is made dense when
    it is taken. Both give the same bits.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The table; it is not changed.
    columns : ndarray of int
        The columns to take.
    center, spread : ndarray
        What to subtract from and divide by, for each of these columns.
    device : torch.device
        Where the batches go.
    share : (int, int)
        Which part of every batch is taken, of how many.
    """

    def __init__(
        self,
        X: Any,
        columns: NDArray[np.intp],
        center: NDArray,
        spread: NDArray,
        device: torch.device,
        share: tuple[int, int] = (0, 1),
    ):
        # All parts make equally many steps, so each goes by the same number of rows.
        self.n_rows = -(-X.shape[0] // share[1])
        self.own_rows, self.share = X.shape[0], share
        self.device = device
        self.center, self.spread = center, spread
        self._whole: torch.Tensor | None = None
        if issparse(X):
            self.sparse = X if len(columns) == X.shape[1] else X[:, columns]
        else:
            self._whole = self._dense(X, columns)

    @property
    def whole(self) -> torch.Tensor | None:
        """All rows, if they are in memory."""
        return self._whole

    def take(self, rows: torch.Tensor | None) -> torch.Tensor:
        """Give some rows, or all of them for None."""
        if rows is None:
            if self._whole is None:
                self._whole = standardise(self.sparse, self.center, self.spread).to(self.device)
            return self._whole
        if self._whole is not None:
            return self._whole[rows]
        return standardise(self.sparse[rows.cpu().numpy()], self.center, self.spread).to(self.device)

    def _dense(self, X: NDArray, columns: NDArray[np.intp]) -> torch.Tensor:
        table = torch.empty(len(X), len(columns))
        start = 0
        for block in row_blocks(X):
            table[start : start + len(block)] = standardise(block[:, columns], self.center, self.spread)
            start += len(block)
        return table.to(self.device)


def standardise(block: Any, center: NDArray, spread: NDArray) -> torch.Tensor:
    """Give ``(x − center) / spread`` of a dense array or CSR matrix, computed in float64, as float32."""
    dense = block.toarray() if issparse(block) else block
    scaled = (dense.astype(np.float64, copy=False) - center) / spread
    return torch.from_numpy(scaled.astype(np.float32))
