"""SPEC: columns in line with the spectrum of the graph (Zhao and Liu, 2007)."""

from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.utils._param_validation import Interval, StrOptions

from tamis.base import Task
from tamis.graph import (
    Spectrum,
    count_clusters,
    degrees,
    normalised_adjacency,
    smooth_spectrum,
    trivial_vector,
)
from tamis.scaling import ScaledTable
from tamis.selectors.scaled import GraphSelector

Array = NDArray[np.float64]


class SPEC(GraphSelector):
    r"""Rank columns by how they agree with the eigenvectors of the graph's normalised Laplacian.

    With :math:`\hat L = \sum_j \lambda_j \xi_j \xi_j^\top`, :math:`\lambda_1 = 0`, :math:`\xi_1 \propto D^{1/2} 1`, a
    column :math:`\hat f = D^{1/2} f / \lVert D^{1/2} f \rVert`, its angles :math:`a_j = \hat f^\top \xi_j` and
    :math:`\gamma(\lambda) = \lambda^r`,

    .. math:: \varphi_1 = \sum_j a_j^2 \gamma(\lambda_j), \qquad
              \varphi_2 = \frac{\sum_{j \ge 2} a_j^2 \gamma(\lambda_j)}{1 - a_1^2}, \qquad
              \varphi_3 = \sum_{j=2}^{c} (\gamma(2) - \gamma(\lambda_j)) a_j^2 .

    Small φ1 and φ2 are good, large φ3 is: ``scores_`` holds −φ1, −φ2 or φ3. With r = 1, φ2 is the Laplacian score.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many columns to select; None selects half of them.
    ranking : {"phi1", "phi2", "phi3"}, default="phi2"
        Which of the three functions ranks the columns.
    exponent : float, default=1.0
        The r of γ(λ) = λ^r; a large r forgives what is smooth already.
    n_clusters : int or None, default=None
        The c of φ3, at least 2; None takes the largest gap among the first 21 eigenvalues.
    n_neighbors : int, default=5
        Neighbours of every row in the graph; fewer if there are not so many other rows.
    bandwidth : {"neighbors", "pairwise"} or float, default="neighbors"
        The σ of the weights ``exp(−distance²/2σ²)``: the mean distance to the neighbours, the mean distance between
        two rows, or σ itself.
    scale : {"standard", "center"} or None, default="standard"
        What is done to the columns: z-scores, centring or nothing. φ1 and φ3 depend on the mean of a column.
    must_keep, never : sequence of int or str, default=()
        Columns, by position or name, that are always or never selected.

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
    >>> import numpy as np
    >>> from tamis import SPEC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> X[:30, [1, 3]] += 6
    >>> sorted(SPEC(2, ranking="phi3").fit(X).selected_.tolist())
    [1, 3]
    """

    _parameter_constraints: ClassVar[dict] = {
        **GraphSelector._parameter_constraints,
        "ranking": [StrOptions({"phi1", "phi2", "phi3"})],
        "exponent": [Interval(Real, 0, None, closed="neither")],
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        ranking: str = "phi2",
        exponent: float = 1.0,
        n_clusters: int | None = None,
        n_neighbors: int = 5,
        bandwidth: str | float = "neighbors",
        scale: str | None = "standard",
        must_keep: Sequence[int | str] = (),
        never: Sequence[int | str] = (),
    ):
        super().__init__(
            n_features_to_select,
            n_neighbors=n_neighbors,
            bandwidth=bandwidth,
            scale=scale,
            must_keep=must_keep,
            never=never,
        )
        self.ranking = ranking
        self.exponent = exponent
        self.n_clusters = n_clusters

    def _score(self, table: ScaledTable, task: Task) -> Array:  # noqa: ARG002
        graph = self._graph(table)
        if self.ranking == "phi3":
            return self._phi3(table, graph)
        if self.exponent == 1:
            energies, trivial, kept = linear_energies(table, graph)
        else:
            energies, trivial, kept = spectral_energies(table, graph, full_spectrum(graph), self.exponent)
        if self.ranking == "phi1":
            return np.where(kept, -energies, -np.inf)
        rest = 1 - trivial
        # A column without anything beside the trivial vector is constant on the graph.
        varies = kept & (rest > np.finfo(float).eps)
        return -np.divide(energies, rest, out=np.full_like(energies, np.inf), where=varies)

    def _phi3(self, table: ScaledTable, graph: csr_array) -> Array:
        self.n_clusters_ = max(2, min(self.n_clusters or count_clusters(graph), graph.shape[0]))
        spectrum = smooth_spectrum(graph, self.n_clusters_ - 1)
        gains = 2.0**self.exponent - spectrum.values**self.exponent
        scores = np.empty(table.shape[1])
        for columns, unit, _ in unit_columns(table, graph):
            scores[columns] = gains @ (spectrum.vectors.T @ unit) ** 2
        return scores


def unit_columns(table: ScaledTable, graph: csr_array) -> Iterator[tuple[slice, Array, NDArray[np.bool_]]]:
    """Yield positions, ``f̂ = D^(1/2) f / ‖·‖`` and whether the length was not zero, in blocks of columns."""
    root = np.sqrt(degrees(graph))[:, None]
    for columns, block in table.column_blocks():
        weighted = root * block
        length = np.sqrt(np.einsum("ij,ij->j", weighted, weighted))
        weighted /= np.where(length > 0, length, 1)
        yield columns, weighted, length > 0


def linear_energies(table: ScaledTable, graph: csr_array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Give ``f̂ᵀ L̂ f̂`` and ``(f̂ᵀ ξ₁)²`` without an eigen-decomposition, and which columns have a length."""
    adjacency, first = normalised_adjacency(graph), trivial_vector(graph)
    energies, trivial, kept = _empty(table)
    for columns, unit, positive in unit_columns(table, graph):
        energies[columns] = np.einsum("ij,ij->j", unit, unit - adjacency @ unit)
        trivial[columns], kept[columns] = (first @ unit) ** 2, positive
    return energies, trivial, kept


def full_spectrum(graph: csr_array) -> Spectrum:
    """Decompose the whole normalised Laplacian, dense."""
    laplacian = np.eye(graph.shape[0]) - normalised_adjacency(graph).toarray()
    values, vectors = eigh(laplacian, overwrite_a=True, check_finite=False)
    return Spectrum(np.clip(values, 0, 2), vectors)


def spectral_energies(
    table: ScaledTable, graph: csr_array, spectrum: Spectrum, exponent: float
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Give ``Σ_j a_j² λ_j^r`` and ``(f̂ᵀ ξ₁)²``, and which columns have a length.

    Leaving out j = 1 changes nothing, as λ₁ = 0 and r > 0.
    """
    first, weights = trivial_vector(graph), _powers(spectrum.values, exponent)
    energies, trivial, kept = _empty(table)
    for columns, unit, positive in unit_columns(table, graph):
        energies[columns] = weights @ (spectrum.vectors.T @ unit) ** 2
        trivial[columns], kept[columns] = (first @ unit) ** 2, positive
    return energies, trivial, kept


def _powers(values: Array, exponent: float) -> Array:
    # A zero that rounding made 1e-16 would count as 1e-4 with r = 1/4.
    return np.where(values > 1e-12, values, 0.0) ** exponent


def _empty(table: ScaledTable) -> tuple[Array, Array, NDArray[np.bool_]]:
    d = table.shape[1]
    return np.empty(d), np.empty(d), np.empty(d, dtype=bool)
