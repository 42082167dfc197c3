"""Whether a selection may be trusted: the same three questions for every method, without labels."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tamis.features import label_numbers
from tamis.reprs import counted, html_list
from tamis.structure.directions import principal_directions
from tamis.structure.evidence import FDR
from tamis.structure.find import Structure, examine
from tamis.structure.pursuit import ridge_prediction
from tamis.structure.sample import MAX_KEPT_CELLS, Indices, dense_features, sample_rows, standardised

N_RANDOM = 20
"""Random lists of the same size that a list is compared with."""

MIN_BEATEN = 19
"""Random lists that it must beat."""

TIE = 0.02
"""Shares that differ by less, relative to that of the selection, are the same: of few features, a random list may be
as right. A selection that explains nothing is never as good as another."""

HALF_LEVEL = 0.3
"""In a half of the rows, a feature whose evidence has a larger p-value is not confirmed."""

MIN_ALIKE = 0.1
"""Mean correlation of features between neighbouring rows from which these are called alike."""

NEIGHBOURS_ALIKE = (
    "Neighbouring rows are alike. If the table is only sorted, that does no harm; but in rows that follow each other "
    "in time, or belong to the same subject, features agree by that alone, and none of this can be relied on."
)

MAX_REPEATED = 0.1
"""Share of rows that occur before, from which they are called repeated."""

ROWS_REPEATED = (
    "Many rows occur more than once. If they were joined twice, or drawn with replacement, features agree by that "
    "alone, and none of this can be relied on; remove the repeated rows."
)

NO_STRUCTURE = (
    "Apart from near copies of each other, no feature of this table depends on another or has several modes more than "
    "by chance: there is nothing to select. Check that the right features and enough rows were read."
)

SLOW = (
    "Features change slowly from row to row, as series in time do, so that these rows tell as little as a few "
    "independent ones; differences of following rows, or a longer time, may tell more."
)


@dataclass(frozen=True)
class Verdict:
    """Whether a selection may be trusted, and why.

    Attributes
    ----------
    trusted : bool
        Whether nothing speaks against the selection.
    reasons : list of str
        What speaks against it; what speaks for it if nothing does; last, whether neighbouring rows are alike,
        or rows are repeated.
    """

    trusted: bool
    reasons: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.headline}: {' '.join(self.reasons)}"

    def _repr_html_(self) -> str:
        return html_list(self.headline, self.reasons)

    @property
    def headline(self) -> str:
        """The verdict in a few words."""
        doubts = {NEIGHBOURS_ALIKE, ROWS_REPEATED} & {*self.reasons}
        condition = " if its rows are independent" if doubts else ""
        return f"This selection can be trusted{condition}" if self.trusted else "Do not trust this selection"


class KeptRows(NamedTuple):
    """What a verdict is based on: rows of the table, the features that the user asked for, and the group of each."""

    sample: Any
    kept: Indices
    owner: Indices | None = None


def judge_table(X: Any, selected: Indices, groups: Any = None) -> Verdict:
    """Return whether features selected elsewhere may be trusted on a table; groups has the label of each feature."""
    owner = None if groups is None else label_numbers(groups, X.shape[1], "groups", "features")
    rows = KeptRows(sample_rows(X, np.random.default_rng(0), MAX_KEPT_CELLS, 100)[0], np.empty(0, np.intp), owner)
    return judge(rows, selected, structure_of(rows.sample, owner))


def structure_of(sample: Any, owner: Indices | None = None) -> Structure:
    """Return which features of some rows carry structure."""
    return examine(sample, [np.arange(sample.shape[0])], FDR, np.random.default_rng(0), np.empty(0, object), owner)


def judge(rows: KeptRows, selected: Indices, structure: Structure) -> Verdict:
    """Return whether the features selected in a table may be trusted."""
    if not structure.n_structured:
        return Verdict(False, [NO_STRUCTURE, *([SLOW] if structure.slow.any() else [])])
    if np.isin(selected, rows.kept).all():
        rows = rows._replace(kept=rows.kept[:0])
    sample, kept, owner = rows
    # Those that were asked for do not speak against the others, and are judged where there are no others.
    chosen = np.setdiff1d(selected, kept)
    # Features of a group, which have the same evidence, count as one.
    items, known = np.arange(sample.shape[1]) if owner is None else owner, structure.structured
    filler, whole, others = (np.unique(items[some]) for some in (chosen[~known[chosen]], chosen, known))
    answers = [_about_filler(len(filler), len(whole), len(others))]
    rng = np.random.default_rng(0)
    halves = halves_of(sample, rng)
    answers.append(_about_random(rows, selected, structure, halves, rng))
    if not len(filler):
        # The first feature of each group stands for it.
        firsts = chosen[np.unique(items[chosen], return_index=True)[1]]
        answers.append(_about_halves(sample, firsts, halves, owner))
    against = [text for good, text in answers if not good]
    # Of slow features, the test has counted rows as few as they tell.
    about_rows = [NEIGHBOURS_ALIKE] if _neighbours_are_alike(sample, selected[~structure.slow[selected]], rng) else []
    about_rows += [ROWS_REPEATED] if _rows_are_repeated(sample, selected) else []
    return Verdict(not against, (against or [text for _, text in answers]) + about_rows)


def _about_filler(n_filler: int, n_chosen: int, n_structured: int) -> tuple[bool, str]:
    if not n_filler:
        return True, "Every feature that was chosen depends on others, or has several modes, more than by chance."
    return False, (
        f"{n_filler} of {n_chosen} features {'tells' if n_filler == 1 else 'tell'} no more of the others than chance "
        f"would. Ask for at most {counted(n_structured, 'feature')}, as many as do, or collect more rows."
    )


def _about_random(
    rows: KeptRows, selected: Indices, structure: Structure, halves: list[Indices], rng: np.random.Generator
) -> tuple[bool, str]:
    """Compare a list with random ones of as many features, or groups, which hold those that were asked for, too."""
    owner = np.arange(len(structure.pvalues)) if rows.owner is None else rows.owner
    kept, chosen = np.unique(owner[rows.kept]), np.unique(owner[selected])
    usable = np.setdiff1d(owner[structure.pvalues < 1], kept)
    if len(usable) <= (size := len(chosen) - len(kept)):
        return True, "Every feature that could be tested was selected, so that there is no other list to compare with."
    drawn = (np.r_[kept, rng.permutation(usable)[:size]] for _ in range(N_RANDOM))
    lists = [np.flatnonzero(np.isin(owner, items)) for items in drawn]
    share, *others = explained_shares(rows.sample, [selected, *lists], structure, halves)
    beaten = int(np.sum(np.array(others) < share * (1 + TIE)))
    text = (
        f"On rows held out, the selection explains {share:.0%} of the structure, random lists of its size "
        f"{np.mean(others):.0%} on average; it is as good as or better than {beaten} of {N_RANDOM}."
    )
    return beaten >= MIN_BEATEN, text if beaten >= MIN_BEATEN else text + " Try another method or number of features."


def halves_of(sample: Any, rng: np.random.Generator) -> list[Indices]:
    """Return the rows of two halves, dealt at random."""
    return [np.sort(half) for half in np.array_split(rng.permutation(sample.shape[0]), 2)]


def explained_shares(sample: Any, lists: Sequence[Indices], structure: Structure, halves: list[Indices]) -> list[float]:
    """Return the share of the structure that lists of features explain on rows held out.

    The directions of the structured features are computed on one half of the rows, a ridge regression on the list is
    fitted there, and its error taken on the other half; then the other way round.
    """
    structured = np.flatnonzero(structure.structured)
    features = np.unique(np.concatenate([structured, *lists]))
    Z = standardised(dense_features(sample, features), [np.arange(sample.shape[0])])
    structured, *lists = (np.searchsorted(features, some) for some in (structured, *lists))
    counting = structure.counting(np.flatnonzero(structure.structured))
    errors, total = np.zeros(len(lists)), 0.0
    for known, held in (halves, halves[::-1]):
        found = principal_directions(Z[known][:, structured], structured, *counting, np.random.default_rng(0))
        goal, unseen = found.scores(Z[known]), found.scores(Z[held])
        total += float((unseen**2).sum())
        for number, some in enumerate(lists):
            errors[number] += ((unseen - ridge_prediction(Z[known][:, some], goal, Z[held][:, some])) ** 2).sum()
    return [float(max(0.0, 1 - error / total)) if total else 0.0 for error in errors]


def _about_halves(sample: Any, chosen: Indices, halves: list[Indices], owner: Indices | None) -> tuple[bool, str]:
    again = np.ones(len(chosen), dtype=bool)
    for rows in halves:
        again &= structure_of(sample[rows], owner).pvalues[chosen] <= HALF_LEVEL
    who = "Every feature shows its" if again.all() else f"{again.sum()} of {len(again)} features show their"
    text = f"{who} structure in both halves of the rows."
    return bool(again.all()), text if again.all() else text + " Collect more rows, or ask for fewer features."


def _neighbours_are_alike(sample: Any, selected: Indices, rng: np.random.Generator) -> bool:
    """Return whether neighbouring rows agree in the selected features, more than in any of 20 random orders."""
    Z, n = standardised(dense_features(sample, np.sort(selected)), [np.arange(sample.shape[0])]), sample.shape[0]
    orders = [np.arange(n), *(rng.permutation(n) for _ in range(N_RANDOM))]
    ordered, *others = (float((Z[order[1:]] * Z[order[:-1]]).sum() / max(Z.size, 1)) for order in orders)
    return ordered > max(MIN_ALIKE, *others)


def _rows_are_repeated(sample: Any, selected: Indices) -> bool:
    """Return whether many rows occur before, in most features of which those that differ have different values.

    In a table of few values each, such as flags, rows may well be the same; so they may in one feature.
    """
    if len(selected) < 2:
        return False
    X = dense_features(sample, np.sort(selected))
    n_distinct = len(np.unique(X, axis=0))
    values = [len(np.unique(x)) for x in X.T]
    return n_distinct <= (1 - MAX_REPEATED) * len(X) and float(np.median(values)) >= (1 - MAX_REPEATED) * n_distinct
