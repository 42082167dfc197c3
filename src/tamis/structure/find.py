"""find_structure: which features depend on others, or have several modes, above chance."""

from dataclasses import dataclass, field, replace
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array, check_random_state

from tamis.extras import require
from tamis.io.sources import as_source
from tamis.structure.bases import RankBasis, rank_basis
from tamis.structure.dependence import Strongest, strongest_among, strongest_dependence
from tamis.structure.directions import Directions, principal_directions
from tamis.structure.evidence import NULL_DRAWS, dependence_pvalues, discoveries, null_strengths
from tamis.structure.shape import multimodality_pvalues

FDR = 0.1
"""Share of false discoveries that is accepted by default."""

MAX_ROWS = 2000
"""Largest number of rows that are examined, drawn at random."""

MIN_ROWS = 30
"""With fewer rows even strong dependence is hardly told from chance."""

MAX_PRODUCTS = 4.5e11
"""Multiplications that comparing all pairs may take; wider tables are compared with some of their features."""

MAX_CELLS = 2**27
"""Cells that are examined (1 GB in float64); of wider tables fewer rows, at least 200, are drawn."""


class FewRowsWarning(UserWarning):
    """The table has too few rows to tell structure from chance."""


@dataclass(frozen=True)
class Structure:
    """Which features of a table carry structure, and how that is known.

    Attributes
    ----------
    pvalues : ndarray of shape (n_features,)
        Probability of the evidence of each feature if it had nothing to do with the others and one mode; 1 for
        constant features.
    structured : ndarray of bool, shape (n_features,)
        The features whose evidence is above chance; the expected share of false ones is at most ``fdr``.
    partner : ndarray of int, shape (n_features,)
        The feature that each depends on most, near copies left out; -1 if there is none.
    share : ndarray of shape (n_features,)
        How much of the feature its partner explains, from 0 to 1; at least the share that two modes explain where
        these are the evidence.
    n_copies : ndarray of int, shape (n_features,)
        Number of near copies of each feature in the table.
    directions : Directions
        The principal directions of the structured features that exceed chance.
    fdr : float
        The level.
    n_rows : int
        Rows that were examined.
    feature_names : ndarray of str
        Names of the features, ``x0, x1, ...`` if the table has none.
    """

    pvalues: NDArray[np.float64]
    structured: NDArray[np.bool_]
    partner: NDArray[np.intp]
    share: NDArray[np.float64]
    n_copies: NDArray[np.intp]
    directions: Directions
    fdr: float
    n_rows: int
    feature_names: NDArray[Any] = field(repr=False)

    @property
    def n_structured(self) -> int:
        """Number of structured features."""
        return int(self.structured.sum())

    @property
    def n_directions(self) -> int:
        """Number of directions in which the structured features vary more than by chance."""
        return self.directions.n_directions if self.n_structured else 0

    @property
    def weights(self) -> NDArray[np.float64]:
        """How much each feature counts in the directions: its share, divided among near copies."""
        return np.maximum(self.share / (1 + self.n_copies), MIN_SHARE)

    @property
    def order(self) -> NDArray[np.intp]:
        """All features by their evidence, the strongest first."""
        return np.lexsort((-self.share, self.pvalues))

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each feature, by its evidence."""
        require("Structure.to_frame", "pandas")
        import pandas as pd

        partner = [self.feature_names[j] if j >= 0 else None for j in self.partner]
        table = {"pvalue": self.pvalues, "structured": self.structured, "partner": partner, "share": self.share}
        return pd.DataFrame(table, index=pd.Index(self.feature_names, name="feature")).iloc[self.order]

    def __repr__(self) -> str:
        return (
            f"<Structure: {self.n_structured} of {len(self.pvalues)} features, {self.n_directions} directions, "
            f"fdr={self.fdr:g}>"
        )


def find_structure(X: Any, *, fdr: float = FDR, batch: ArrayLike | None = None, random_state: Any = None) -> Structure:
    """Compute which features depend on others, or have several modes, above chance.

    A feature that is independent of every other one, and has one mode, is nuisance whatever else it is. No labels are
    involved, and nothing is trained. See :doc:`/method` for the formulae.

    Parameters
    ----------
    X : array, DataFrame, sparse matrix or source of shape (n_samples, n_features)
        Numbers; NaN is a missing cell, which is no evidence. Rows must be exchangeable: in rows that follow each other
        in time, everything that changes slowly depends on everything else. It is not changed.
    fdr : float, default=0.1
        Expected share of false ones among the features called structured.
    batch : array of shape (n_samples,), optional
        The batch of each row; only dependence within batches counts.
    random_state : int, RandomState or None, default=None
        Draws the rows that are examined, and the shuffles.

    Returns
    -------
    Structure
        What was found.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import find_structure
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 20))
    >>> X[:, 3] += X[:, 7]
    >>> np.flatnonzero(find_structure(X, random_state=0).structured)
    array([3, 7])
    """
    if not 0 < fdr < 1:
        raise ValueError(f"fdr is a share of false discoveries between 0 and 1; got {fdr!r}.")
    rng = np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    stored = as_source(X)
    X = X if stored is None else stored
    sample, rows = sample_rows(X, rng)
    batches = _batches(batch, rows, n_rows=_checked_rows(X, sample))
    return examine(sample, batches, fdr, feature_names(X), rng)


def examine(
    sample: NDArray[np.float64],
    batches: list[NDArray[np.intp]],
    fdr: float,
    names: NDArray[Any],
    rng: np.random.Generator,
) -> Structure:
    """Compute which features of some rows carry structure, and the directions of those that do."""
    tested = _tested(sample, batches, fdr, names, rng)
    return replace(tested, directions=directions_of(sample, tested, np.flatnonzero(tested.structured), batches, rng))


def _tested(
    sample: NDArray[np.float64],
    batches: list[NDArray[np.intp]],
    fdr: float,
    names: NDArray[Any],
    rng: np.random.Generator,
) -> Structure:
    """Compute which features of some rows carry structure; the directions are left open."""
    varying = np.flatnonzero(_varies(sample))
    varied = sample if len(varying) == sample.shape[1] else sample[:, varying]
    basis = rank_basis(varied, batches)
    found, pvalues = _dependence(basis, batches, rng)
    modes = _multimodality(varied, batches)
    # Two kinds of evidence were asked for where both can be had.
    pvalues = np.minimum(1.0, np.where(modes < 1, 2.0, 1.0) * np.minimum(pvalues, modes))
    structured = discoveries(pvalues, fdr)
    share = np.maximum(_explained(basis, found), np.where(structured & (modes <= pvalues), MODAL_SHARE, 0.0))
    partner = np.where(found.partner >= 0, varying[found.partner], -1)
    d = sample.shape[1]
    return Structure(
        _spread(pvalues, varying, d, 1.0),
        _spread(structured, varying, d, False),
        _spread(partner, varying, d, -1),
        _spread(share, varying, d, 0.0),
        _spread(found.n_copies, varying, d, 0),
        Directions.none(),
        fdr,
        len(sample),
        names,
    )


def directions_of(
    sample: NDArray[np.float64],
    structure: Structure,
    features: NDArray[np.intp],
    batches: list[NDArray[np.intp]],
    rng: np.random.Generator,
) -> Directions:
    """Return the directions of some features in some rows, by the weights that a test gave them."""
    Z = standardised(sample[:, features], batches)
    return principal_directions(Z, features, structure.weights[features], rng)


MODAL_SHARE = 0.1
"""Least share of a feature with several modes: it counts, but less than features that depend on each other."""

MIN_SHARE = 1e-3
"""Least weight of a structured feature in the directions."""


def _dependence(
    basis: RankBasis, batches: list[NDArray[np.intp]], rng: np.random.Generator
) -> tuple[Strongest, NDArray[np.float64]]:
    """Return the strongest dependence of each feature and its p-value; wide tables by some partners."""
    d, pairs = basis.n_features, MAX_PRODUCTS / (9 * basis.n_rows)
    everyone = np.arange(d)
    if d * d / 2 <= pairs:
        partners, found = everyone, strongest_dependence(basis)
    else:
        partners = np.sort(rng.permutation(d)[: max(200, int(pairs / d))])
        found = strongest_among(basis, everyone, basis.take(partners), partners)
        found = found._replace(n_copies=found.n_copies * d // len(partners))
    # Rare strengths of wide tables are told from chance only by many draws, which short tables can afford.
    n_draws = max(NULL_DRAWS, min(d, int(pairs / 2 / max(1, len(partners)))))
    return found, dependence_pvalues(found, null_strengths(basis, partners, batches, rng, n_draws))


def _multimodality(sample: NDArray[np.float64], batches: list[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Return the p-value of several modes, the smallest over batches, corrected for their number."""
    parts = (sample if len(rows) == len(sample) else sample[rows] for rows in batches)
    return np.minimum(1.0, len(batches) * np.min([multimodality_pvalues(part) for part in parts], axis=0))


def _explained(basis: RankBasis, found: Strongest) -> NDArray[np.float64]:
    """Return how much of each feature its partner explains.

    ``max_a Σ_b r_ab²`` over the polynomials a of the feature, less the ``degrees/n`` that chance explains.
    """
    share, known = np.zeros(basis.n_features), np.flatnonzero(found.partner >= 0)
    for some in np.array_split(known, max(1, len(known) // 2048)):
        left, right = basis.values[:, some], basis.values[:, found.partner[some]]
        squares = (np.einsum("ajn,bjn->abj", left, right) / basis.n_rows) ** 2
        share[some] = squares.sum(axis=1).max(axis=0) - len(squares) / basis.n_rows
    return np.clip(share, 0.0, 1.0)


def standardised(sample: NDArray[np.float64], batches: list[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Return features with mean 0 and variance 1 within each batch, 0 in missing cells."""
    Z = np.zeros(sample.shape)
    for rows in batches:
        part, observed = sample[rows], ~np.isnan(sample[rows])
        # A feature may be missing in all rows of a batch.
        counts = np.maximum(observed.sum(axis=0), 1)
        part = np.where(observed, part - np.nansum(part, axis=0) / counts, 0.0)
        spread = np.sqrt((part**2).sum(axis=0) / counts)
        Z[rows] = part / np.where(spread > 0, spread, 1.0)
    return Z


def sample_rows(
    X: Any, rng: np.random.Generator, max_cells: int = MAX_CELLS, min_rows: int = 200
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return rows drawn at random, dense, and their sorted positions."""
    source = as_source(X)
    if source is None:
        X = check_array(X, accept_sparse="csr", dtype="numeric", ensure_all_finite="allow-nan", ensure_min_samples=2)
    n, d = X.shape if source is None else source.shape
    size = min(n, MAX_ROWS, max(min_rows, max_cells // max(1, d)))
    rows = np.sort(rng.permutation(n)[:size])
    taken = source.take(rows) if source is not None else X[rows]
    dense = np.asarray(taken.toarray() if issparse(taken) else taken, dtype=np.float64)
    infinite = np.isinf(dense)
    return np.where(infinite, np.nan, dense) if infinite.any() else dense, rows


def feature_names(X: Any) -> NDArray[Any]:
    """Return the names of the features of X, ``x0, x1, ...`` if it has none."""
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(as_source(X), "names", None)
    if names is None:
        names = [f"x{j}" for j in range(np.shape(X)[1])]
    return np.array([str(name) for name in names], dtype=object)


def _checked_rows(X: Any, sample: NDArray[np.float64]) -> int:
    if len(sample) < MIN_ROWS:
        warn(
            f"X has {len(sample)} rows, too few to tell structure from chance: what is found may be luck, and much may "
            f"be missed. Collect at least {MIN_ROWS}.",
            FewRowsWarning,
            stacklevel=3,
        )
    return int(np.shape(X)[0])


def _batches(batch: ArrayLike | None, rows: NDArray[np.intp], n_rows: int) -> list[NDArray[np.intp]]:
    """Return the positions, among the rows drawn, of each batch."""
    if batch is None:
        return [np.arange(len(rows))]
    labels = np.asarray(batch)
    if labels.shape != (n_rows,):
        raise ValueError(f"batch takes a label for each of the {n_rows} rows of X; got the shape {labels.shape}.")
    distinct, counts = np.unique(labels, return_counts=True)
    if (counts < 3).any():
        n_small = int((counts < 3).sum())
        raise ValueError(f"A batch needs at least 3 rows; {n_small} of {len(counts)} batches have fewer.")
    # Of a rare batch fewer rows may have been drawn, which tell nothing.
    drawn = [np.flatnonzero(labels[rows] == label) for label in distinct]
    return [part for part in drawn if len(part) >= 3]


def _varies(sample: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.fmax.reduce(sample, axis=0) > np.fmin.reduce(sample, axis=0)


def _spread(values: NDArray, positions: NDArray[np.intp], d: int, rest: Any) -> NDArray:
    """Return an array of all d features from that of some."""
    every = np.full(d, rest, dtype=values.dtype)
    every[positions] = values
    return every
