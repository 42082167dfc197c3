"""LaplacianScore: features that vary little between neighbouring rows (He, Cai and Niyogi, 2005)."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from tamis.base import Selection, Task
from tamis.io.sources import TableSource
from tamis.scaling import Array, ScaledTable
from tamis.selectors.neighbour_graph import build_graph, degrees
from tamis.selectors.parameters import Bandwidth, Count, ScaledSelector, with_parameters

SAMPLE_ROWS = 5000
"""Largest number of rows that are scored of a table that stays on disk."""


@with_parameters
class LaplacianScore(ScaledSelector):
    r"""Rank features by their smoothness on the neighbourhood graph of the rows.

    With the degrees D, the Laplacian L = D − W and a feature f less its weighted mean,
    :math:`\tilde f = f - \frac{f^\top D 1}{1^\top D 1} 1`, the Laplacian score is

    .. math:: LS(f) = \frac{\tilde f^\top L \tilde f}{\tilde f^\top D \tilde f}
                    = 1 - \frac{\tilde f^\top W \tilde f}{\tilde f^\top D \tilde f}

    and small is good. ``scores_`` holds ``1 − LS``.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        Number of features to select; None selects half of them.
    n_neighbors : int, default=5
        Neighbours of every row in the graph; at most all other rows.
    bandwidth : {"neighbors", "pairwise"} or float, default="neighbors"
        The σ of the weights ``exp(−distance²/2σ²)``: the mean distance to the neighbours, the mean distance between
        two rows, or σ itself.
    scale : {"standard", "center"} or None, default="standard"
        Preprocessing of the features: z-scores, centring or none.
    must_keep, never : sequence of int or str, default=()
        Features, by position, name or glob (``"MT-*"``), that are always or never selected.
    groups : sequence of labels, mapping of label to features, or None, default=None
        Features that are selected or left out together; a group has the mean score of its features.

    Notes
    -----
    O(n²d) time. Sparse X stays sparse: it is made dense in blocks of 16 MB. The graph holds n · n_neighbors weights.
    Of a table that stays on disk, 5000 evenly spaced rows are scored; features are scaled by all rows.

    References
    ----------
    He, Cai, Niyogi. Laplacian Score for Feature Selection. NIPS 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import LaplacianScore
    >>> sorted(LaplacianScore(2).fit(load_iris().data).selected_.tolist())
    [2, 3]
    """

    n_neighbors: Count = 5
    bandwidth: Bandwidth = "neighbors"

    _from_disk = "sample"

    def _select(self, X: Any, task: Task) -> Selection:
        if isinstance(X, TableSource):
            X = X.take(np.unique(np.linspace(0, len(X) - 1, min(len(X), SAMPLE_ROWS)).astype(np.intp)))
        return super()._select(X, task)

    def _score(self, table: ScaledTable, task: Task) -> Array:  # noqa: ARG002
        return smoothness(table, build_graph(table, self.n_neighbors, self.bandwidth))


def smoothness(table: ScaledTable, graph: csr_array) -> Array:
    """Return ``1 − LS`` of every feature on a graph, and ``-inf`` where the weighted variance is zero."""
    degree, scores = degrees(graph), np.full(table.shape[1], -np.inf)
    total = max(degree.sum(), np.finfo(float).tiny)
    for columns, block in table.column_blocks():
        # LS does not depend on the mean; subtracting it first avoids the difference of two large numbers.
        centred = block - (degree @ block) / total
        variance = degree @ np.square(centred)
        covariance = np.einsum("ij,ij->j", centred, graph @ centred)
        varies = variance > np.finfo(float).eps ** 2 * (degree @ np.square(block))
        np.divide(covariance, variance, out=scores[columns], where=varies)
    return scores
