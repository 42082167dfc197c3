"""A source seen through a choice of features, rows brought to equal totals, and logarithms."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse

from tamis.io.errors import TableError
from tamis.io.sources.source import TableSource


class Derived(TableSource):
    """``log(1 + f_i x_ij)`` of some features j of a source (by default all), computed block by block."""

    def __init__(self, source: TableSource, columns: Any = None, factors: Any = None, log1p: bool = False):
        n, d = source.shape
        self._columns = slice(None) if columns is None else columns
        kept = np.arange(d)[self._columns]
        names = None if source.names is None else source.names[kept]
        super().__init__(source.place, (n, len(kept)), names, source.row_bytes * (len(kept) / max(1, d)))
        self._source, self._factors, self._log1p = source, factors, log1p

    def runs(self) -> list[NDArray[np.intp]]:
        """Return the runs of the source."""
        return self._source.runs()

    def _read(self, start: int, stop: int) -> Any:
        block = self._source.read(start, stop)[:, self._columns]
        if self._factors is not None:
            block = multiplied(block, self._factors[start:stop])
        return logarithms(block) if self._log1p else block


def multiplied(X: Any, factors: NDArray[np.float64]) -> Any:
    """Return rows times a factor each."""
    return csr_array(diags_array(factors) @ X) if issparse(X) else X * factors[:, None]


def logarithms(X: Any) -> Any:
    """Return ``log(1 + x)``; raise :class:`TableError` if it is not defined."""
    if _least(X) <= -1:
        raise TableError("--log1p needs numbers above -1; the table holds smaller ones.")
    return X.astype(np.float64).log1p() if issparse(X) else np.log1p(X, dtype=np.float64)


def _least(X: Any) -> float:
    return float(np.fmin.reduce(X.data if issparse(X) else X, axis=None, initial=0))


def row_totals(X: Any) -> NDArray[np.float64]:
    """Return the sums of rows of counts, without missing cells."""
    if _least(X) < 0:
        raise TableError("--scale is for counts, but the table holds negative numbers.")
    return np.asarray(X.sum(axis=1) if issparse(X) else np.nansum(X, axis=1), dtype=np.float64).ravel()


def equal_total_factors(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what brings every row to the median of the totals."""
    if not (totals > 0).any():
        return totals
    return np.asarray(np.median(totals[totals > 0]) / np.where(totals > 0, totals, 1))
