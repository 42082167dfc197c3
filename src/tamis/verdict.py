"""Whether a selection may be trusted: the same three questions for every method, without labels."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.structure.bases import rank_basis
from tamis.structure.dependence import strongest_among
from tamis.structure.directions import principal_directions
from tamis.structure.evidence import dependence_pvalues, null_strengths
from tamis.structure.find import FDR, Structure, examine, sample_rows, standardised
from tamis.structure.shape import multimodality_pvalues

N_RANDOM = 20
"""Random lists of the same size that a list is compared with."""

MIN_BEATEN = 19
"""Random lists that it must beat."""

TIE = 0.02
"""Shares that differ by less are the same: of few features, a random list may be as right as the selection."""

HALF_LEVEL = 0.3
"""In a half of the rows, a feature whose evidence has a larger p-value is not confirmed."""

MIN_FOUND = 0.95
"""Share of the features that must be confirmed in both halves."""

RIDGE = 0.01
"""Penalty of the regression that explains directions, as a share of the rows."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """Whether a selection may be trusted, and why.

    Attributes
    ----------
    trusted : bool
        Whether nothing speaks against the selection.
    reasons : list of str
        What speaks against it; what speaks for it if nothing does.
    """

    trusted: bool
    reasons: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.headline}: {' '.join(self.reasons)}"

    @property
    def headline(self) -> str:
        """The verdict in five words."""
        return "This selection can be trusted" if self.trusted else "Do not trust this selection"


def judge(sample: Array, selected: NDArray[np.intp], kept: NDArray[np.intp], structure: Structure) -> Verdict:
    """Return whether the features selected in a table may be trusted.

    Parameters
    ----------
    sample : ndarray of shape (n_rows, n_features)
        Rows of the table.
    selected, kept : ndarray of int
        The selected features, and those of them that the user asked for.
    structure : Structure
        Which features carry structure.
    """
    sample = sample.astype(np.float64)
    if not structure.n_structured:
        return Verdict(False, [NO_STRUCTURE])
    chosen = np.setdiff1d(selected, kept)
    if not len(chosen):
        return Verdict(True, ["Every selected feature was asked for."])
    filler = chosen[~structure.structured[chosen]]
    answers = [_about_filler(filler, chosen, structure)]
    rng = np.random.default_rng(0)
    halves = np.array_split(rng.permutation(len(sample)), 2)
    answers.append(_about_random(sample, selected, structure, halves, rng))
    if not len(filler):
        answers.append(_about_halves(sample, chosen, halves, rng))
    against = [text for good, text in answers if not good]
    return Verdict(not against, against or [text for _, text in answers])


MAX_CELLS = 2**22
"""Cells of the rows that a fitted selector keeps for its verdict."""


class Evidence(NamedTuple):
    """What a verdict is based on: rows of the table, drawn at random, and the features that the user asked for."""

    sample: Array
    kept: NDArray[np.intp]

    @classmethod
    def of(cls, X: Any, kept: NDArray[np.intp]) -> "Evidence":
        """Return the evidence of a table: at most :data:`MAX_CELLS` cells, at least 100 rows, as z-scores.

        Whatever the units of a feature, its z-scores neither overflow nor lose their differences in single precision.
        """
        sample, rows = sample_rows(X, np.random.default_rng(0), MAX_CELLS, 100)
        scores = standardised(sample, [np.arange(len(rows))])
        # Cells that are missing together must not count as equal values.
        return cls(np.where(np.isnan(sample), np.nan, scores).astype(np.float32), kept)


def judge_table(X: Any, selected: NDArray[np.intp]) -> Verdict:
    """Return whether features that were selected elsewhere may be trusted on a table."""
    sample, kept = Evidence.of(X, np.empty(0, np.intp))
    return judge(sample, selected, kept, structure_of(sample))


def structure_of(sample: Array) -> Structure:
    """Return which features of some rows carry structure."""
    sample, rows = sample.astype(np.float64), [np.arange(len(sample))]
    names = np.arange(sample.shape[1]).astype(str).astype(object)
    return examine(sample, rows, FDR, names, np.random.default_rng(0))


NO_STRUCTURE = (
    "No feature of this table depends on any other, or has several modes, more than chance would have it: there is "
    "nothing to select. Check that the right features and enough rows were read."
)


def _about_filler(filler: NDArray[np.intp], chosen: NDArray[np.intp], structure: Structure) -> tuple[bool, str]:
    if not len(filler):
        return True, f"All {len(chosen)} features depend on others more than by chance."
    return False, (
        f"{len(filler)} of the {len(chosen)} features tell nothing of the others that chance would not; "
        f"{structure.n_structured} features of the table do. Ask for fewer features, or collect more rows."
    )


def _about_random(
    sample: Array,
    selected: NDArray[np.intp],
    structure: Structure,
    halves: list[NDArray[np.intp]],
    rng: np.random.Generator,
) -> tuple[bool, str]:
    usable = np.flatnonzero(structure.pvalues < 1) if (structure.pvalues < 1).sum() > len(selected) else selected
    if len(usable) <= len(selected):
        return True, "Every feature that could be selected was."
    lists = [rng.permutation(usable)[: len(selected)] for _ in range(N_RANDOM)]
    share, *others = explained_shares(sample, [selected, *lists], structure, halves)
    beaten = int(np.sum(np.array(others) < share + TIE))
    text = (
        f"On rows held out, the selection explains {share:.0%} of the structure, random lists of its size "
        f"{np.mean(others):.0%} on average; it is as good as or better than {beaten} of {N_RANDOM}."
    )
    return beaten >= MIN_BEATEN, text if beaten >= MIN_BEATEN else text + " Try another method or number of features."


def explained_shares(
    sample: Array, lists: list[NDArray[np.intp]], structure: Structure, halves: list[NDArray[np.intp]]
) -> list[float]:
    """Return the share of the structure that lists of features explain on rows held out.

    The directions of the structured features are computed on one half of the rows, a ridge regression on the list is
    fitted there, and its error taken on the other half; then the other way round.
    """
    Z = standardised(sample, [np.arange(len(sample))])
    features = np.flatnonzero(structure.structured)
    weights = structure.weights[features]
    errors, total = np.zeros(len(lists)), 0.0
    for known, held in (halves, halves[::-1]):
        found = principal_directions(Z[known][:, features], features, weights, np.random.default_rng(0))
        goal, unseen = found.scores(Z[known]), found.scores(Z[held])
        total += float((unseen**2).sum())
        for number, selected in enumerate(lists):
            errors[number] += ((unseen - _ridge(Z[known][:, selected], goal, Z[held][:, selected])) ** 2).sum()
    return [float(max(0.0, 1 - error / max(total, 1e-12))) for error in errors]


def _ridge(known: Array, goal: Array, new: Array) -> Array:
    """Return ``new W``, with ``goal ≈ known W`` fitted by ridge regression."""
    n, k = known.shape
    if k <= n:
        return new @ np.linalg.solve(known.T @ known + RIDGE * n * np.eye(k), known.T @ goal)
    return new @ (known.T @ np.linalg.solve(known @ known.T + RIDGE * n * np.eye(n), goal))


def _about_halves(
    sample: Array, chosen: NDArray[np.intp], halves: list[NDArray[np.intp]], rng: np.random.Generator
) -> tuple[bool, str]:
    again = np.ones(len(chosen), dtype=bool)
    for rows in halves:
        again &= evidence_in(sample[rows], chosen, rng) <= HALF_LEVEL
    text = f"{int(again.sum())} of the {len(chosen)} features show their structure in both halves of the rows."
    if again.mean() >= MIN_FOUND:
        return True, text
    return False, text + " Collect more rows, or ask for fewer features."


def evidence_in(sample: Array, features: NDArray[np.intp], rng: np.random.Generator) -> Array:
    """Return p-values for the structure of some features in some rows."""
    batches: list[Any] = [np.arange(len(sample))]
    basis = rank_basis(sample, batches)
    everyone = np.arange(basis.n_features)
    found = strongest_among(basis.take(features), features, basis, everyone)
    pvalues = dependence_pvalues(found, null_strengths(basis, everyone, batches, rng, n_draws=500))
    modes = multimodality_pvalues(sample[:, features])
    return np.minimum(1.0, np.where(modes < 1, 2.0, 1.0) * np.minimum(pvalues, modes))
