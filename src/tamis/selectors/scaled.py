"""What the selectors share that score all columns at once: scaling, and the graph of the rows."""

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils._param_validation import Interval, StrOptions

from tamis.base import FeatureSelector, Selection, Task
from tamis.graph import BANDWIDTHS, build_graph
from tamis.io.sources import TableSource
from tamis.scaling import ScaledTable, scale_table

Array = NDArray[np.float64]

SAMPLE_ROWS = 5000
"""Of a table that stays on disk, at most so many rows are scored."""


class ScaledSelector(FeatureSelector):
    """A selector that scores the columns of a :class:`~tamis.scaling.ScaledTable` in :meth:`_score`.

    Columns with one value only are left out of the table and have the score ``-inf``.
    """

    _parameter_constraints: ClassVar[dict] = {
        **FeatureSelector._parameter_constraints,
        "scale": [StrOptions({"standard", "center"}), None],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        scale: str | None = "standard",
        must_keep: Sequence[int | str] = (),
        never: Sequence[int | str] = (),
    ):
        super().__init__(n_features_to_select, must_keep=must_keep, never=never)
        self.scale = scale

    @abstractmethod
    def _score(self, table: ScaledTable, task: Task) -> Array:
        """Give a score for every column of the table; larger is better."""

    def _select(self, X: Any, task: Task) -> Selection:
        if isinstance(X, TableSource):
            X = X.take(evenly_spread(X.shape[0], SAMPLE_ROWS))
        table = scale_table(X, task.statistics, self.scale)
        scores = np.full(X.shape[1], -np.inf)
        scores[table.columns] = self._score(table, task)
        return Selection(scores)


class GraphSelector(ScaledSelector):
    """A selector that begins with the neighbourhood graph of the rows."""

    _parameter_constraints: ClassVar[dict] = {
        **ScaledSelector._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "bandwidth": [StrOptions(set(BANDWIDTHS)), Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        n_neighbors: int = 5,
        bandwidth: str | float = "neighbors",
        scale: str | None = "standard",
        must_keep: Sequence[int | str] = (),
        never: Sequence[int | str] = (),
    ):
        super().__init__(n_features_to_select, scale=scale, must_keep=must_keep, never=never)
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth

    def _graph(self, table: ScaledTable) -> csr_array:
        return build_graph(table, self.n_neighbors, self.bandwidth)


def evenly_spread(n_rows: int, limit: int) -> NDArray[np.intp]:
    """Give the positions of at most ``limit`` rows, at equal distances."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, limit)).astype(np.intp))
