"""LaplacianScore: columns that vary little between neighbouring rows (He, Cai and Niyogi, 2005)."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tamis.base import Task
from tamis.graph import degrees
from tamis.scaling import ScaledTable
from tamis.selectors.scaled import GraphSelector

Array = NDArray[np.float64]


class LaplacianScore(GraphSelector):
    r"""Rank columns by their smoothness on the neighbourhood graph of the rows.

    With the degrees D, the Laplacian L = D − W and a column f less its weighted mean,
    :math:`\tilde f = f - \frac{f^\top D 1}{1^\top D 1} 1`, the Laplacian score is

    .. math:: LS(f) = \frac{\tilde f^\top L \tilde f}{\tilde f^\top D \tilde f}
                    = 1 - \frac{\tilde f^\top W \tilde f}{\tilde f^\top D \tilde f}

    and small is good. ``scores_`` holds ``1 − LS``.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many columns to select; None selects half of them.
    n_neighbors : int, default=5
        Neighbours of every row in the graph; fewer if there are not so many other rows.
    bandwidth : {"neighbors", "pairwise"} or float, default="neighbors"
        The σ of the weights ``exp(−distance²/2σ²)``: the mean distance to the neighbours, the mean distance between
        two rows, or σ itself.
    scale : {"standard", "center"} or None, default="standard"
        What is done to the columns before distances are measured: z-scores, centring or nothing.
    must_keep, never : sequence of int or str, default=()
        Columns, by position or name, that are always or never selected.

    Notes
    -----
    O(n²d) time. Sparse X stays sparse: it is made dense in blocks of 16 MB. The graph holds n · n_neighbors weights.
    Of a table that stays on disk, 5000 rows at equal distances are scored; columns are scaled by all rows.

    References
    ----------
    He, Cai, Niyogi. Laplacian Score for Feature Selection. NIPS 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import LaplacianScore
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> X[:30, [1, 3]] += 6
    >>> sorted(LaplacianScore(2).fit(X).selected_.tolist())
    [1, 3]
    """

    _from_disk = "sample"

    def _score(self, table: ScaledTable, task: Task) -> Array:  # noqa: ARG002
        return smoothness(table, self._graph(table))


def smoothness(table: ScaledTable, graph: csr_array) -> Array:
    """Give ``1 − LS`` of every column on a graph, and ``-inf`` where the weighted variance is zero."""
    degree, scores = degrees(graph), np.full(table.shape[1], -np.inf)
    total = max(degree.sum(), np.finfo(float).tiny)
    for columns, block in table.column_blocks():
        # LS does not depend on the column's mean; taking it away first avoids the difference of two large numbers.
        centred = block - (degree @ block) / total
        variance = degree @ np.square(centred)
        covariance = np.einsum("ij,ij->j", centred, graph @ centred)
        some = variance > np.finfo(float).eps ** 2 * (degree @ np.square(block))
        np.divide(covariance, variance, out=scores[columns], where=some)
    return scores
