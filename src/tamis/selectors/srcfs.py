"""SRCFS: Laplacian scores in random subspaces, put together (Huang, Cai and Wang, 2019)."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from tamis.base import Task
from tamis.scaling import ScaledTable
from tamis.selectors.laplacian_score import smoothness
from tamis.selectors.scaled import GraphSelector

Array = NDArray[np.float64]


class SRCFS(GraphSelector):
    r"""Rank columns by their mean smoothness on graphs of random blocks of columns.

    The columns are shuffled and cut into s blocks of ⌈d/s⌉; each block has its own neighbourhood graph, on which the
    Laplacian scores LS of its columns are computed. This is done m times, and with the block b(f, p) that holds the
    column f in the partition p,

    .. math:: \text{score}(f) = \frac1m \sum_{p=1}^m \bigl(1 - LS_{b(f, p)}(f)\bigr),

    large is good. With one block it is the Laplacian score.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many columns to select; None selects half of them.
    n_subspaces : int, default=20
        Blocks s of a partition; at most as many as there are columns.
    n_partitions : int, default=10
        Partitions m.
    n_neighbors : int, default=5
        Neighbours of every row in the graphs; fewer if there are not so many other rows.
    bandwidth : {"neighbors", "pairwise"} or float, default="neighbors"
        The σ of the weights ``exp(−distance²/2σ²)``, for each block: the mean distance to the neighbours, the mean
        distance between two rows, or σ itself.
    scale : {"standard", "center"} or None, default="standard"
        What is done to the columns before distances are measured: z-scores, centring or nothing.
    must_keep, never : sequence of int or str, default=()
        Columns, by position or name, that are always or never selected.
    random_state : int, RandomState or None, default=None
        Seed of the partitions; an int gives the same columns every time.

    Notes
    -----
    O(m n²d) time. Sparse X stays sparse: it is made dense in blocks of 16 MB.

    References
    ----------
    Huang, Cai, Wang. Unsupervised feature selection with multi-subspace randomization and collaboration.
    Knowledge-Based Systems 182, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import SRCFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 6))
    >>> X[:30, [1, 3]] += 6
    >>> sorted(SRCFS(2, n_subspaces=2, random_state=0).fit(X).selected_.tolist())
    [1, 3]
    """

    _parameter_constraints: ClassVar[dict] = {
        **GraphSelector._parameter_constraints,
        "n_subspaces": [Interval(Integral, 1, None, closed="left")],
        "n_partitions": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        n_subspaces: int = 20,
        n_partitions: int = 10,
        n_neighbors: int = 5,
        bandwidth: str | float = "neighbors",
        scale: str | None = "standard",
        must_keep: Sequence[int | str] = (),
        never: Sequence[int | str] = (),
        random_state: Any = None,
    ):
        super().__init__(
            n_features_to_select,
            n_neighbors=n_neighbors,
            bandwidth=bandwidth,
            scale=scale,
            must_keep=must_keep,
            never=never,
        )
        self.n_subspaces = n_subspaces
        self.n_partitions = n_partitions
        self.random_state = random_state

    def _score(self, table: ScaledTable, task: Task) -> Array:  # noqa: ARG002
        total = np.zeros(table.shape[1])
        for columns in self._blocks(table.shape[1]):
            block = table.subset(columns)
            scores = smoothness(block, self._graph(block))
            # A column that cannot be scored in a block counts as rough there: 1 − LS = 0.
            total[columns] += np.where(np.isfinite(scores), scores, 0)
        return total / self.n_partitions

    def _blocks(self, d: int) -> Iterator[NDArray[np.intp]]:
        """Yield the columns of all blocks of all partitions."""
        random, width = check_random_state(self.random_state), -(-d // self.n_subspaces)
        for _ in range(self.n_partitions):
            shuffled = random.permutation(d)
            for start in range(0, d, width):
                yield shuffled[start : start + width]
