"""SRCFS: Laplacian scores in random subspaces (Huang, Cai and Wang, 2019)."""

import numpy as np
from sklearn.utils import check_random_state

from tamis.base import Task
from tamis.scaling import Array, ScaledTable
from tamis.selectors.laplacian_score import smoothness
from tamis.selectors.neighbour_graph import build_graph
from tamis.selectors.parameters import Bandwidth, Count, ScaledSelector, Seed, with_parameters


@with_parameters
class SRCFS(ScaledSelector):
    r"""Rank features by their mean smoothness on graphs of random blocks of features.

    The features are shuffled and cut into s blocks of ⌈d/s⌉; each block has its own neighbourhood graph, on which the
    Laplacian scores LS of its features are computed. This is done m times, and with the block b(f, p) that holds the
    feature f in the partition p,

    .. math:: \text{score}(f) = \frac1m \sum_{p=1}^m \bigl(1 - LS_{b(f, p)}(f)\bigr);

    large is good. With one block it is the Laplacian score.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        Number of features to select; None selects half of them.
    n_subspaces : int, default=20
        Blocks s of a partition; at most as many as there are features.
    n_partitions : int, default=10
        Partitions m.
    n_neighbors : int, default=5
        Neighbours of every row in the graphs; at most all other rows.
    bandwidth : {"neighbors", "pairwise"} or float, default="neighbors"
        The σ of the weights ``exp(−distance²/2σ²)`` of each block: the mean distance to the neighbours, the mean
        distance between two rows, or σ itself.
    scale : {"standard", "center"} or None, default="standard"
        Preprocessing of the features: z-scores, centring or none.
    must_keep, never : sequence of int or str, default=()
        Features, by position, name or glob (``"MT-*"``), that are always or never selected.
    groups : sequence of labels, mapping of label to features, or None, default=None
        Features that are selected or left out together; a group has the mean score of its features.
    random_state : int, RandomState or None, default=None
        Seed of the partitions; an int makes the selection reproducible.

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
    >>> X = np.random.default_rng(0).normal(size=(60, 6))
    >>> X[:30, [1, 3]] += 6
    >>> sorted(SRCFS(2, n_subspaces=2, random_state=0).fit(X).selected_.tolist())
    [1, 3]
    """

    n_subspaces: Count = 20
    n_partitions: Count = 10
    n_neighbors: Count = 5
    bandwidth: Bandwidth = "neighbors"
    random_state: Seed = None

    def _score(self, table: ScaledTable, task: Task) -> Array:  # noqa: ARG002
        d, random = table.shape[1], check_random_state(self.random_state)
        total, width = np.zeros(d), -(-d // self.n_subspaces)
        for _ in range(self.n_partitions):
            shuffled = random.permutation(d)
            for columns in (shuffled[start : start + width] for start in range(0, d, width)):
                block = table.subset(columns)
                scores = smoothness(block, build_graph(block, self.n_neighbors, self.bandwidth))
                # A feature that cannot be scored in a block counts as rough there: 1 − LS = 0.
                total[columns] += np.where(np.isfinite(scores), scores, 0)
        return total / self.n_partitions
