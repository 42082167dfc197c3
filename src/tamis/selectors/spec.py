"""SPEC: features in line with the spectrum of the graph (Zhao and Liu, 2007)."""

from collections.abc import Callable, Iterator
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.utils._param_validation import StrOptions

from tamis.base import Task
from tamis.scaling import Array, ScaledTable
from tamis.selectors import neighbour_graph as graphs
from tamis.selectors.parameters import Bandwidth, Count, OptionalCount, Positive, ScaledSelector, with_parameters

ZERO = 1e-12
"""Smaller eigenvalues are zero: 1e-16 would count as 1e-4 with r = 1/4."""


@with_parameters
class SPEC(ScaledSelector):
    r"""Rank features by how they agree with the eigenvectors of the graph's normalised Laplacian.

    With :math:`\hat L = \sum_j \lambda_j \xi_j \xi_j^\top`, :math:`\lambda_1 = 0`, :math:`\xi_1 \propto D^{1/2} 1`, a
    feature :math:`\hat f = D^{1/2} f / \lVert D^{1/2} f \rVert`, its angles :math:`a_j = \hat f^\top \xi_j` and
    :math:`\gamma(\lambda) = \lambda^r`,

    .. math:: \varphi_1 = \sum_j a_j^2 \gamma(\lambda_j), \qquad
              \varphi_2 = \frac{\sum_{j \ge 2} a_j^2 \gamma(\lambda_j)}{1 - a_1^2}, \qquad
              \varphi_3 = \sum_{j=2}^{c} (\gamma(2) - \gamma(\lambda_j)) a_j^2 .

    Small φ1 and φ2 are good, large φ3 is: ``scores_`` holds −φ1, −φ2 or φ3. With r = 1, φ2 is the Laplacian score.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        Number of features to select; None selects half of them.
    ranking : {"phi1", "phi2", "phi3"}, default="phi2"
        The function that ranks the features.
    exponent : float, default=1.0
        The r of γ(λ) = λ^r; a large r forgives what is smooth already.
    n_clusters : int or None, default=None
        The c of φ3, at least 2; None means the largest gap among the first 21 eigenvalues.
    n_neighbors : int, default=5
        Neighbours of every row in the graph; at most all other rows.
    bandwidth : {"neighbors", "pairwise"} or float, default="neighbors"
        The σ of the weights ``exp(−distance²/2σ²)``: the mean distance to the neighbours, the mean distance between
        two rows, or σ itself.
    scale : {"standard", "center"} or None, default="standard"
        Preprocessing of the features: z-scores, centring or none. φ1 and φ3 depend on the mean of a feature.
    must_keep, never : sequence of int or str, default=()
        Features, by position, name or glob (``"MT-*"``), that are always or never selected.
    groups : sequence of labels, mapping of label to features, or None, default=None
        Features that are selected or left out together; a group has the mean score of its features.

    Attributes
    ----------
    n_clusters_ : int
        The c that was used; only with φ3.

    Notes
    -----
    φ1 and φ2 with r = 1 and φ3 take O(n²d) time, and keep the graph sparse. φ1 and φ2 with another r decompose an
    n × n matrix: O(n³) time and 24 n² bytes. Sparse X stays sparse: it is made dense in blocks of 16 MB.

    References
    ----------
    Zhao, Liu. Spectral Feature Selection for Supervised and Unsupervised Learning. ICML 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import SPEC
    >>> sorted(SPEC(2).fit(load_iris().data).selected_.tolist())
    [2, 3]
    """

    ranking: Annotated[str, StrOptions({"phi1", "phi2", "phi3"})] = "phi2"
    exponent: Positive = 1.0
    n_clusters: OptionalCount = None
    n_neighbors: Count = 5
    bandwidth: Bandwidth = "neighbors"

    def _score(self, table: ScaledTable, task: Task) -> Array:  # noqa: ARG002
        graph = graphs.build_graph(table, self.n_neighbors, self.bandwidth)
        energy = self._gain(graph) if self.ranking == "phi3" else roughness(graph, self.exponent)
        trivial, scores = graphs.trivial_vector(graph), np.full(table.shape[1], -np.inf)
        for columns, unit, varies in unit_columns(table, graph):
            score = energy(unit) if self.ranking == "phi3" else -energy(unit)
            if self.ranking == "phi2":
                rest = 1 - (trivial @ unit) ** 2
                # A feature without anything beside the trivial vector is constant on the graph.
                varies &= rest > np.finfo(float).eps
                score /= np.where(varies, rest, 1)
            scores[columns] = np.where(varies, score, -np.inf)
        return scores

    def _gain(self, graph: csr_array) -> Callable[[Array], Array]:
        """Return the function ``f̂ ↦ φ3``."""
        self.n_clusters_ = max(2, min(self.n_clusters or graphs.count_clusters(graph), graph.shape[0]))
        values, vectors = graphs.smooth_spectrum(graph, self.n_clusters_ - 1)
        gains = 2.0**self.exponent - values**self.exponent
        return lambda unit: gains @ (vectors.T @ unit) ** 2


def roughness(graph: csr_array, exponent: float) -> Callable[[Array], Array]:
    """Return the function ``f̂ ↦ Σ_j a_j² λ_j^r``; j = 1 adds nothing. With r = 1 it is ``f̂ᵀ L̂ f̂``."""
    adjacency = graphs.normalised_adjacency(graph)
    if exponent == 1:
        return lambda unit: np.einsum("ij,ij->j", unit, unit - adjacency @ unit)
    values, vectors = eigh(np.eye(graph.shape[0]) - adjacency.toarray(), overwrite_a=True, check_finite=False)
    powers = np.where(values > ZERO, np.clip(values, 0, 2), 0) ** exponent
    return lambda unit: powers @ (vectors.T @ unit) ** 2


def unit_columns(table: ScaledTable, graph: csr_array) -> Iterator[tuple[slice, Array, NDArray[np.bool_]]]:
    """Yield positions, ``f̂ = D^(1/2) f / ‖·‖`` and whether the length was not zero, in blocks of features."""
    root = np.sqrt(graphs.degrees(graph))[:, None]
    for columns, block in table.column_blocks():
        weighted = root * block
        length = np.sqrt(np.einsum("ij,ij->j", weighted, weighted))
        yield columns, weighted / np.where(length > 0, length, 1), length > 0
