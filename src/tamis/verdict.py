"""Whether a selection may be trusted: the same three questions for every method, without labels."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tamis.features import owners
from tamis.reprs import html_list
from tamis.structure.directions import principal_directions
from tamis.structure.evidence import FDR
from tamis.structure.find import Structure, examine
from tamis.structure.pursuit import ridge_prediction
from tamis.structure.sample import Indices, dense_features, kept_rows, standardised

N_RANDOM = 20
"""Random lists of the same size that a list is compared with."""

MIN_BEATEN = 19
"""Random lists that it must beat."""

TIE = 0.02
"""Shares that differ by less are the same: of few features, a random list may be as right as the selection."""

HALF_LEVEL = 0.3
"""In a half of the rows, a feature whose evidence has a larger p-value is not confirmed."""

NO_STRUCTURE = (
    "No feature of this table depends on any other than near copies of it, or has several modes, more than chance "
    "would have it: there is nothing to select. Check that the right features and enough rows were read."
)


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

    def _repr_html_(self) -> str:
        return html_list(self.headline, self.reasons)

    @property
    def headline(self) -> str:
        """The verdict in five words."""
        return "This selection can be trusted" if self.trusted else "Do not trust this selection"


class KeptRows(NamedTuple):
    """What a verdict is based on: rows of the table, the features that the user asked for, and the group of each."""

    sample: Any
    kept: Indices
    owner: Indices | None = None


def judge_table(X: Any, selected: Indices, groups: Any = None) -> Verdict:
    """Return whether features selected elsewhere may be trusted on a table; groups has the label of each feature."""
    owner = None if groups is None else owners(groups, X.shape[1])
    rows = KeptRows(kept_rows(X), np.empty(0, np.intp), owner)
    return judge(rows, selected, structure_of(rows.sample, owner))


def structure_of(sample: Any, owner: Indices | None = None) -> Structure:
    """Return which features of some rows carry structure."""
    return examine(sample, [np.arange(sample.shape[0])], FDR, np.random.default_rng(0), np.empty(0, object), owner)


def judge(rows: KeptRows, selected: Indices, structure: Structure) -> Verdict:
    """Return whether the features selected in a table may be trusted.

    Parameters
    ----------
    rows : KeptRows
        Rows of the table, and what the user asked for.
    selected : ndarray of int
        The selected features.
    structure : Structure
        Which features carry structure.
    """
    sample, kept, owner = rows
    if not structure.n_structured:
        return Verdict(False, [NO_STRUCTURE])
    chosen = np.setdiff1d(selected, kept)
    if not len(chosen):
        return Verdict(True, ["Every selected feature was asked for."])
    # Features of a group, which have the same evidence, count as one.
    items, known = np.arange(sample.shape[1]) if owner is None else owner, structure.structured
    filler, whole, others = (np.unique(items[some]) for some in (chosen[~known[chosen]], chosen, known))
    answers = [_about_filler(len(filler), len(whole), len(others))]
    rng = np.random.default_rng(0)
    halves = np.array_split(rng.permutation(sample.shape[0]), 2)
    answers.append(_about_random(sample, selected, structure, halves, rng))
    if not len(filler):
        # The first feature of each group stands for it.
        firsts = chosen[np.unique(items[chosen], return_index=True)[1]]
        answers.append(_about_halves(sample, firsts, halves, owner))
    against = [text for good, text in answers if not good]
    return Verdict(not against, against or [text for _, text in answers])


def _about_filler(n_filler: int, n_chosen: int, n_structured: int) -> tuple[bool, str]:
    if not n_filler:
        return True, f"All {n_chosen} features depend on others more than by chance."
    return False, (
        f"{n_filler} of the {n_chosen} features tell nothing of the others that chance would not; "
        f"{n_structured} features of the table do. Ask for fewer features, or collect more rows."
    )


def _about_random(
    sample: Any, selected: Indices, structure: Structure, halves: list[Indices], rng: np.random.Generator
) -> tuple[bool, str]:
    usable = np.flatnonzero(structure.pvalues < 1)
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


def explained_shares(sample: Any, lists: list[Indices], structure: Structure, halves: list[Indices]) -> list[float]:
    """Return the share of the structure that lists of features explain on rows held out.

    The directions of the structured features are computed on one half of the rows, a ridge regression on the list is
    fitted there, and its error taken on the other half; then the other way round.
    """
    structured = np.flatnonzero(structure.structured)
    features = np.unique(np.concatenate([structured, *lists]))
    Z = standardised(dense_features(sample, features), [np.arange(sample.shape[0])])
    structured, *lists = (np.searchsorted(features, some) for some in (structured, *lists))
    weights, n_copies = structure.weights[structure.structured], structure.n_copies[structure.structured]
    errors, total = np.zeros(len(lists)), 0.0
    for known, held in (halves, halves[::-1]):
        found = principal_directions(Z[known][:, structured], structured, weights, n_copies, np.random.default_rng(0))
        goal, unseen = found.scores(Z[known]), found.scores(Z[held])
        total += float((unseen**2).sum())
        for number, some in enumerate(lists):
            errors[number] += ((unseen - ridge_prediction(Z[known][:, some], goal, Z[held][:, some])) ** 2).sum()
    return [float(max(0.0, 1 - error / max(total, 1e-12))) for error in errors]


def _about_halves(sample: Any, chosen: Indices, halves: list[Indices], owner: Indices | None) -> tuple[bool, str]:
    again = np.ones(len(chosen), dtype=bool)
    for rows in halves:
        again &= structure_of(sample[rows], owner).pvalues[chosen] <= HALF_LEVEL
    text = f"{int(again.sum())} of the {len(chosen)} features show their structure in both halves of the rows."
    if again.all():
        return True, text
    return False, text + " Collect more rows, or ask for fewer features."
