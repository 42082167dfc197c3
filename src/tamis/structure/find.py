"""find_structure: which features depend on others, or have several modes, above chance."""

from dataclasses import dataclass, field
from numbers import Real
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from tamis.extras import require
from tamis.features import label_numbers
from tamis.io.sources import as_source
from tamis.reprs import MAX_ROWS, html_table
from tamis.structure.dependence import Strongest, dependence_on_components, strongest_dependence
from tamis.structure.directions import Directions, principal_directions
from tamis.structure.evidence import (
    FDR,
    WEIGHTS,
    discoveries,
    group_pvalues,
    multimodality_pvalues,
    tail_probability,
)
from tamis.structure.sample import (
    BLOCK,
    CLIP,
    INNOVATIONS,
    MAX_CELLS,
    Indices,
    RankBasis,
    dense_features,
    rank_basis,
    rows_of_batches,
    sample_rows,
    standardised,
)

MIN_ROWS = 30
"""With fewer rows even strong dependence is hardly told from chance."""

N_SHUFFLED, FEATURES_PER_SHUFFLED = 1000, 50
"""Shuffled features whose strengths p-values are taken from, at least, and how many features there are to each of them
in very wide tables, whose p-values lie further out in the tail."""

MIN_STRENGTH = 8.0
"""Features that so few rows carry that no dependence could be stronger, by one product, are not tested."""

MODAL_SHARE = 0.1
"""Least share of a feature with several modes: it counts, but less than features that depend on each other."""

MIN_SHARE = 1e-3
"""Least weight of a structured feature in the directions."""


Counting = tuple[NDArray[np.float64], Indices, NDArray[np.bool_]]


class FewRowsWarning(UserWarning):
    """The table has too few rows to tell structure from chance."""


@dataclass(frozen=True)
class Structure:
    """Which features of a table carry structure, and how that is known.

    Attributes
    ----------
    pvalues : ndarray of shape (n_features,)
        Probability of the evidence of each feature if it had nothing to do with the others and one mode; 1 for
        constant features, and for those that too few rows carry to be tested.
    structured : ndarray of bool, shape (n_features,)
        The features whose evidence is above chance; the expected share of false ones is at most ``fdr``.
    partner : ndarray of int, shape (n_features,)
        The feature that each depends on most, near copies left out; -1 if there is none.
    share : ndarray of shape (n_features,)
        How much of the feature its partner explains, from 0 to 1; at least 0.1 where several modes are the evidence.
    n_copies : ndarray of int, shape (n_features,)
        Number of near copies of each feature in the table; of more than 8,192 features, at least as many.
    weights : ndarray of shape (n_features,)
        How much each feature counts in the directions: its share, divided among near copies.
    modal : ndarray of bool, shape (n_features,)
        The structured features whose several modes are the strongest evidence.
    slow : ndarray of bool, shape (n_features,)
        The features that change slowly from row to row, as series in time do; such rows count as few as they tell.
    order : ndarray of int, shape (n_features,)
        All features by their evidence, the strongest first.
    directions : Directions
        The principal directions of the structured features that exceed chance.
    fdr, n_rows : float, int
        The level, and the number of rows that were examined.
    feature_names : ndarray of str
        Names of the features, ``x0, x1, ...`` if the table has none.
    """

    pvalues: NDArray[np.float64]
    structured: NDArray[np.bool_]
    partner: Indices
    share: NDArray[np.float64]
    n_copies: Indices
    weights: NDArray[np.float64]
    modal: NDArray[np.bool_]
    slow: NDArray[np.bool_]
    order: Indices
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
        """Number of directions of the structured features above chance."""
        return int(self.directions.loadings.shape[1])

    def counting(self, features: Indices) -> Counting:
        """Return what directions take of features: weights, numbers of near copies, and which have several modes."""
        return self.weights[features], self.n_copies[features], self.modal[features]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each feature, by its evidence."""
        require("Structure.to_frame", "pandas")
        import pandas as pd

        partner = [self.feature_names[j] if j >= 0 else None for j in self.partner]
        table = {"pvalue": self.pvalues, "structured": self.structured, "partner": partner, "share": self.share}
        return pd.DataFrame(table, index=pd.Index(self.feature_names, name="feature")).iloc[self.order]

    def __repr__(self) -> str:
        counts = f"{self.n_structured} of {len(self.pvalues)} features, {self.n_directions} directions"
        return f"<Structure: {counts}, fdr={self.fdr:g}>"

    def _repr_html_(self) -> str:
        def name(j: int) -> str:
            return str(self.feature_names[j]) if len(self.feature_names) else f"x{j}"

        first = self.order[:MAX_ROWS]
        partners = [name(j) if j >= 0 else "" for j in self.partner[first]]
        passed = ["yes" if passes else "no" for passes in self.structured[first]]
        evidence = (f"{p:.2g}" for p in self.pvalues[first])
        rows = zip(map(name, first), passed, evidence, partners, strict=True)
        return html_table(repr(self)[1:-1], ("feature", "structured", "p", "depends on"), rows, len(self.order))


def find_structure(
    X: Any,
    *,
    fdr: float = FDR,
    batch: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: Any = None,
) -> Structure:
    """Compute which features depend on others, or have several modes, above chance.

    A feature that is independent of every other one, and has one mode, is nuisance whatever else it is. No labels are
    involved, and nothing is trained. See :doc:`/method` for the formulae. Of wide tables, the work is shared by the
    threads of ``joblib.parallel_config("threading", n_jobs=2)``, with the same result.

    Parameters
    ----------
    X : array, DataFrame, sparse matrix or source of shape (n_samples, n_features)
        Numbers; NaN is a missing cell, which is no evidence. Rows must be exchangeable: where several belong to
        one subject, everything that is the subject's own depends on everything else. Of features that change slowly
        from row to row, as series in time do, rows count as few as they tell. It is not changed.
    fdr : float, default=0.1
        Expected share of false ones among the features called structured.
    batch : array of shape (n_samples,), optional
        The batch of each row; only dependence within batches counts.
    groups : array of shape (n_features,), optional
        The group of each feature, such as the category of which it is a level. Features of a group are no evidence for
        each other, and have the same p-value.
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
    if not isinstance(fdr, Real) or not 0 < fdr < 1:
        raise ValueError(f"fdr is a share of false discoveries between 0 and 1; got {fdr!r}.")
    rng = np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    stored = as_source(X)
    names = getattr(X, "columns", None) if stored is None else stored.names
    X = X if stored is None else stored
    sample, rows = sample_rows(X, rng)
    names = [f"x{j}" for j in range(sample.shape[1])] if names is None else list(map(str, names))
    if len(rows) < MIN_ROWS:
        warn(
            f"X has {len(rows)} rows, too few to tell structure from chance: what is found may be luck, and much may "
            f"be missed. Collect at least {MIN_ROWS}.",
            FewRowsWarning,
            stacklevel=2,
        )
    batches = [np.arange(len(rows))] if batch is None else rows_of_batches(batch, rows, np.shape(X)[0])
    owner = None if groups is None else label_numbers(groups, sample.shape[1], "groups", "features")
    return examine(sample, batches, fdr, rng, np.array(names, dtype=object), owner)


def examine(
    sample: Any,
    batches: list[Indices],
    fdr: float,
    rng: np.random.Generator,
    names: NDArray[Any],
    owner: Indices | None = None,
) -> Structure:
    """Compute which features of some rows carry structure, and their directions; ``owner`` is the group of each."""
    features, X = _features_to_test(sample)
    n_shuffled = max(N_SHUFFLED, len(features) // FEATURES_PER_SHUFFLED) if len(features) > 1 else 0
    basis = rank_basis(X, batches, n_shuffled, rng)
    own = None if owner is None else owner[features]
    found, null = strongest_dependence(basis, len(features), rng, own)
    law, of_null = np.split(basis.law, [len(features)])
    pvalues = tail_probability(found.strength.astype(np.float64), null, laws=(law, of_null))
    strength, null, of_null = dependence_on_components(basis, found.copy, own, rng)
    together = tail_probability(strength, null, laws=(law, of_null))
    parts = (X if len(rows) == len(X) else X[rows] for rows in batches)
    modes = np.minimum(1.0, len(batches) * np.min([multimodality_pvalues(part) for part in parts], axis=0))
    slow = np.zeros(sample.shape[1], dtype=bool)
    if basis.memory is not None:
        slow[features] = basis.memory.slow[: len(features)]
        modes[slow[features]] = 1.0  # it dwells here and there, which looks like modes
    # The weighted harmonic mean is about the smallest p/w (Wilson, 2019); a kind whose p is 1 was not asked for.
    kinds = np.maximum([pvalues, together, modes], 1e-300)
    asked = WEIGHTS[:, None] * (kinds < 1)
    evidence = np.where(asked.any(axis=0), asked.sum(axis=0) / np.maximum((asked / kinds).sum(axis=0), 1.0), 1.0)
    d = sample.shape[1]
    every, partner, share, n_copies = np.ones(d), np.full(d, -1), np.zeros(d), np.zeros(d, np.intp)
    every[features], n_copies[features] = evidence, found.n_copies
    if owner is not None:
        every = group_pvalues(every, owner)
    structured = discoveries(every, fdr, owner)
    partner[features] = np.where(found.partner >= 0, features[found.partner], -1)
    modal = np.zeros(d, dtype=bool)
    modal[features] = structured[features] & (modes <= evidence)
    share[features] = np.maximum(_explained(basis, found), MODAL_SHARE * modal[features])
    # A group may hold features that do not vary.
    weights, carriers = np.maximum(share / (1 + n_copies), MIN_SHARE), features[structured[features]]
    Z = standardised(dense_features(sample, carriers), batches)
    directions = principal_directions(Z, carriers, weights[carriers], n_copies[carriers], modal[carriers], rng)
    order = np.lexsort((-share, every))
    of_features = every, structured, partner, share, n_copies, weights, modal, slow, order
    return Structure(*of_features, directions, fdr, len(X), names)


def _features_to_test(sample: Any) -> tuple[Indices, NDArray[np.floating]]:
    """Return the features that vary, and whose dependence could be told from chance, with their values.

    A feature that differs from 0 in s of n rows has a basis of at most ``c = min(5, √n/4)`` there, so that ``n r²`` is
    at most ``c⁴ s² / n``. Of a sparse table too wide to be made dense, those that most rows carry are tested.
    """
    n = sample.shape[0]
    carried = np.asarray((sample != 0).sum(axis=0)).ravel()
    features = np.flatnonzero(carried >= np.sqrt(MIN_STRENGTH * n) / min(CLIP**2, n / 16))
    if issparse(sample) and len(features) * n > MAX_CELLS:
        features = np.sort(features[np.argsort(-carried[features], kind="stable")[: MAX_CELLS // n]])
    X = dense_features(sample, features)
    varying = np.fmax.reduce(X, axis=0) > np.fmin.reduce(X, axis=0)
    return features[varying], X if varying.all() else X[:, varying]


def _explained(basis: RankBasis, found: Strongest) -> NDArray[np.float64]:
    """Return how much of each feature its partner explains.

    ``max_a Σ_b r_ab²`` over the shapes a of the feature, less the ``shapes/n`` that chance explains.
    """
    share, known, n = np.zeros(len(found.partner)), np.flatnonzero(found.partner >= 0), basis.values.shape[2]
    for some in np.array_split(known, max(1, len(known) // BLOCK)):
        left, right = (basis.values[:INNOVATIONS, of] for of in (some, found.partner[some]))
        squares = (np.einsum("ajn,bjn->abj", left, right) / n) ** 2
        share[some] = squares.sum(axis=1).max(axis=0) - len(squares) / n
    return np.clip(share, 0.0, 1.0)
