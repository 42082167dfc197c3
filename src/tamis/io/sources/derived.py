"""A source seen through a choice of columns, rows brought to equal totals, and logarithms."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse

from tamis.io.errors import TableError
from tamis.io.sources.source import TableSource


class Derived(TableSource):
    """``log(1 + f_i x_ij)`` of some columns j of a source, computed block by block.

    Parameters
    ----------
    source : TableSource
        What to look at.
    columns : sequence of int, optional
        The columns to show, in this order; all by default.
    factors : ndarray, optional
        What every row is multiplied by.
    log1p : bool
        Whether the logarithm is taken.
    """

    def __init__(
        self,
        source: TableSource,
        columns: NDArray[np.intp] | None = None,
        factors: NDArray[np.float64] | None = None,
        log1p: bool = False,
    ):
        width = source.shape[1] if columns is None else len(columns)
        names = source.names if columns is None or source.names is None else source.names[columns]
        share = width / max(1, source.shape[1])
        super().__init__(source.place, (source.shape[0], width), names, source.row_bytes * share)
        self._source, self._columns, self._factors, self._log1p = source, columns, factors, log1p

    def runs(self) -> list[NDArray[np.intp]]:
        """Give the runs of what is looked at."""
        return self._source.runs()

    def _read(self, start: int, stop: int) -> Any:
        block = self._source.read(start, stop)
        if self._columns is not None:
            block = block[:, self._columns]
        if self._factors is not None:
            factors = self._factors[start:stop]
            block = csr_array(diags_array(factors) @ block) if issparse(block) else block * factors[:, None]
        if self._log1p:
            if (block.data if issparse(block) else block).min(initial=0) <= -1:
                raise TableError(
                    f"{self.place}: rows {start} to {stop - 1} hold numbers of -1 or less; leave --log1p out."
                )
            block = block.astype(np.float64).log1p() if issparse(block) else np.log1p(block, dtype=np.float64)
        return block


def equal_total_factors(source: TableSource) -> NDArray[np.float64]:
    """Give what brings every row of counts to the median of the totals, from one pass."""
    totals = np.empty(source.shape[0])
    for start, block in source.blocks():
        if (block.data if issparse(block) else block).min(initial=0) < 0:
            raise TableError(f"{source.place}: --scale is for counts, but the table holds negative numbers.")
        totals[start : start + block.shape[0]] = np.asarray(block.sum(axis=1), dtype=np.float64).ravel()
    if not (totals > 0).any():
        return totals
    return np.median(totals[totals > 0]) / np.where(totals > 0, totals, 1)
