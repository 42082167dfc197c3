r"""The neighbourhood graph of the rows of a table, its Laplacians and their eigenvectors.

The classical methods share one graph: every row is joined to its k nearest other rows, the weights are
:math:`w_{il} = \exp(-\lVert x_i - x_l\rVert^2 / 2\sigma^2)`, and :math:`W = \max(W, W^\top)` entry by entry. There
are no self-loops. With the degrees :math:`D = \operatorname{diag}(W 1)`, the Laplacian is :math:`L = D - W` and the
normalised one :math:`\hat L = I - D^{-1/2} W D^{-1/2}`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigh
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.metrics.pairwise import euclidean_distances

from tamis.columns import BLOCK_VALUES
from tamis.scaling import Array, ScaledTable

BANDWIDTHS = ("neighbors", "pairwise")
"""Rules for σ: the mean distance to the neighbours, or the mean distance between any two rows."""

DISTANCE_VALUES = 8 * BLOCK_VALUES
"""Distances held at a time (128 MB), so that no table needs all n² of them."""

SAME_ROW = 1e-13
"""Squared distances below this share of the rows' squared norms are rounding errors of equal rows."""

PAIRWISE_ROWS = 3000
"""Largest number of rows from which the mean distance between any two is computed."""

DENSE_ROWS = 1000
"""Graphs up to this size are decomposed as dense matrices, larger ones by Lanczos iterations."""

MAX_CLUSTERS = 20
"""Largest number of clusters that the eigengap may suggest."""


class Neighbours(NamedTuple):
    """The k nearest other rows of every row, nearest first: distances and positions, both n × k."""

    distances: Array
    indices: NDArray[np.intp]


def nearest_neighbours(table: ScaledTable, n_neighbors: int) -> Neighbours:
    """Find the nearest other rows of every row, by Euclidean distance.

    A row is never its own neighbour, even if others equal it; at most n − 1 are found. The distances are computed block
    by block: O(n²d) time and no n × n matrix.
    """
    n = table.shape[0]
    k = min(n_neighbors, n - 1)
    indices, squares = np.empty((n, k), dtype=np.intp), np.empty((n, k))
    for rows, distances in _distance_blocks(table):
        distances[np.arange(len(distances)), np.arange(rows.start, rows.stop)] = np.inf
        nearest = np.argpartition(distances, k - 1, axis=1)[:, :k]
        # The order of argpartition is arbitrary: sort by position, then stably by distance.
        nearest.sort(axis=1)
        found = np.take_along_axis(distances, nearest, axis=1)
        order = np.argsort(found, axis=1, kind="stable")
        indices[rows] = np.take_along_axis(nearest, order, axis=1)
        squares[rows] = np.take_along_axis(found, order, axis=1)
    return Neighbours(np.sqrt(squares), indices)


def _distance_blocks(table: ScaledTable) -> Iterator[tuple[slice, Array]]:
    """Yield positions of rows and their squared distances to all rows."""
    n, d = table.shape
    # Distances do not change by a shift, but lose digits far from zero. A whole-numbered shift keeps counts exact.
    anchor = np.rint(table.mean)
    norms = np.concatenate([np.square(block - anchor).sum(axis=1) for _, block in table.row_blocks()])
    for rows, block in table.row_blocks(min(BLOCK_VALUES, d * max(1, DISTANCE_VALUES // n))):
        block, squares = block - anchor, np.empty((len(block), n))
        for others, other in table.row_blocks():
            # A matrix times its own transpose is computed in another way; the storage of X must not decide which.
            other = block if others == rows else other - anchor
            np.matmul(block, other.T, out=squares[:, others])
        squares *= -2
        squares += norms
        squares += norms[rows, None]
        squares[squares < SAME_ROW * (norms + norms[rows, None])] = 0
        yield rows, squares


def mean_distance(table: ScaledTable) -> float:
    """Return the mean distance between two rows, of at most :data:`PAIRWISE_ROWS` rows spread evenly over the table."""
    n = table.shape[0]
    rows = np.unique(np.linspace(0, n - 1, min(n, PAIRWISE_ROWS)).astype(np.intp))
    part = table.take_rows(rows) - table.mean
    return float(euclidean_distances(part).sum() / (len(rows) * (len(rows) - 1)))


def heat_graph(neighbours: Neighbours, sigma: float | None = None) -> csr_array:
    """Return the symmetric weights W of the neighbours; σ is their mean distance by default."""
    n, k = neighbours.indices.shape
    sigma = float(neighbours.distances.mean()) if sigma is None else sigma
    # With σ = 0 all rows are copies of their neighbours: weight one.
    weights = np.exp(-((neighbours.distances / sigma) ** 2) / 2) if sigma > 0 else np.ones((n, k))
    directed = csr_array((weights.ravel(), neighbours.indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return directed.maximum(directed.T).tocsr()


def build_graph(table: ScaledTable, n_neighbors: int, bandwidth: str | float = "neighbors") -> csr_array:
    """Return the graph of a table; ``bandwidth`` is a rule of :data:`BANDWIDTHS` or σ itself."""
    neighbours = nearest_neighbours(table, n_neighbors)
    if bandwidth == "pairwise":
        return heat_graph(neighbours, mean_distance(table))
    return heat_graph(neighbours, None if isinstance(bandwidth, str) else float(bandwidth))


def degrees(graph: csr_array) -> Array:
    """Return the sum of the weights of every row."""
    return np.asarray(graph.sum(axis=1)).ravel()


def inverse_roots(degree: Array) -> Array:
    """Return ``1/√degree``, and zero for rows without neighbours."""
    return np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)


def normalised_adjacency(graph: csr_array) -> csr_array:
    """Return ``D^(−1/2) W D^(−1/2)``, which is ``I − L̂``."""
    root = diags_array(inverse_roots(degrees(graph)))
    return (root @ graph @ root).tocsr()


def trivial_vector(graph: csr_array) -> Array:
    """Return ``D^(1/2) 1`` with length one, for which ``L̂`` is zero."""
    root = np.sqrt(degrees(graph))
    return np.asarray(root / max(np.linalg.norm(root), np.finfo(float).tiny))


def smooth_spectrum(graph: csr_array, count: int) -> tuple[Array, Array]:
    """Compute the ``count`` smallest eigenvalues of ``L̂`` and their vectors, at most n − 1, without the trivial one.

    The eigenvalues rise; the vectors are columns, whose largest entries are positive. In a graph of several components
    the eigenvalue zero is repeated, and the vectors are one basis of many.
    """
    n = graph.shape[0]
    if (count := min(count, n - 1)) < 1:
        return np.empty(0), np.empty((n, 0))
    decompose = _dense_spectrum if n <= DENSE_ROWS or count > n // 4 else _lanczos_spectrum
    values, vectors = decompose(normalised_adjacency(graph), trivial_vector(graph), count)
    values, vectors = np.clip(1 - values[::-1], 0, 2), vectors[:, ::-1]
    largest = np.argmax(np.abs(vectors), axis=0)
    return values, vectors * np.where(vectors[largest, np.arange(count)] < 0, -1.0, 1.0)


_DEFLATION = 3.0
"""The trivial vector has the largest eigenvalue, 1, of the adjacency; subtracting 3 makes it the smallest, -2."""


def some_eigenpairs(matrix: Array, first: int, last: int) -> tuple[Array, Array]:
    """Compute eigenvalues of a symmetric matrix, by their rank from below, and their vectors."""
    try:
        values, vectors = eigh(matrix, subset_by_index=[first, last], check_finite=False)
        return values, vectors
    except LinAlgError:  # The driver for some pairs can fail if eigenvalues are repeated.
        values, vectors = eigh(matrix, driver="evd", check_finite=False)
        return values[first : last + 1], vectors[:, first : last + 1]


def _dense_spectrum(adjacency: csr_array, trivial: Array, count: int) -> tuple[Array, Array]:
    n = len(trivial)
    return some_eigenpairs(adjacency.toarray() - _DEFLATION * np.outer(trivial, trivial), n - count, n - 1)


def _lanczos_spectrum(adjacency: csr_array, trivial: Array, count: int) -> tuple[Array, Array]:
    def apply(vector: Array) -> Array:
        vector = vector.ravel()
        return np.asarray(adjacency @ vector - _DEFLATION * trivial * (trivial @ vector))

    n = len(trivial)
    start = np.random.default_rng(0).standard_normal(n)
    operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    try:
        values, vectors = eigsh(operator, count, which="LA", v0=start, ncv=min(n - 1, 4 * count + 40), tol=1e-8)
    except ArpackNoConvergence:
        return _dense_spectrum(adjacency, trivial, count)
    order = np.argsort(values)
    return values[order], vectors[:, order]


def sum_patches(members: NDArray[np.intp], patches: Array) -> csr_array:
    """Return the n × n sum of small matrices between the members of n neighbourhoods of one size."""
    n, size = members.shape
    rows, columns = np.repeat(members, size, axis=1).ravel(), np.tile(members, (1, size)).ravel()
    return csr_array((patches.ravel(), (rows, columns)), shape=(n, n))


def count_clusters(graph: csr_array) -> int:
    """Return the c in 2..:data:`MAX_CLUSTERS` with the largest gap λ(c+1) − λ(c) of the eigenvalues of ``L̂``."""
    gaps = np.diff(smooth_spectrum(graph, MAX_CLUSTERS)[0])
    return 2 + int(np.argmax(gaps)) if gaps.size else 1
