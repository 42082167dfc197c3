"""What can be said of a selection without labels, on a bounded sample of the rows, and for every feature in words."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.utils.extmath import randomized_svd

from tamis.io.readers.table import Table
from tamis.metrics import Array, Sample, dense_sample, random_columns, reconstruction_errors, score_lists
from tamis.structure.find import Structure
from tamis.verdict import structure_of

RANDOM_LISTS = 10
BLOCK_COLUMNS = 2000
NAMED = 3
WELL = 0.5
"""Share of a feature beyond which it is called predicted."""

CHANCE = 0.05
"""Probability that any correlation with a chosen feature counts though all are chance."""

Places = NDArray[np.intp]


class Analysis(NamedTuple):
    """Numbers behind the page; a category, which is several encoded features of the table, is one feature here."""

    names: list[str]  # the features of the file, in the order of all arrays below
    order: Places  # all features, best first
    k: int  # how many of them were chosen
    method_scores: Array  # the method's score, of a category the largest
    varies: NDArray[np.bool_]  # whether there is more than one value
    predicted: Array  # share that the chosen predict on rows held out
    nearest: Places  # the chosen feature, other than itself, that is most correlated; -1 if there is none
    correlation: Array  # with that one
    min_correlation: float  # smaller ones may be chance
    structured: NDArray[np.bool_]  # whether structure is above chance
    pvalues: Array  # of the structure
    partner: Places  # the other feature that each depends on most; -1 if there is none
    scores: dict[str, float]  # of the list, by tamis.metrics.score_lists
    random_scores: dict[str, float]  # their means over random lists
    rows: Places  # of the table, which all of this was computed on
    view_chosen: Array  # two principal components of the chosen features, turned towards ...
    view_all: Array  # ... those of all features

    @property
    def chosen(self) -> Places:
        """The chosen features, best first."""
        return self.order[: self.k]

    @property
    def others(self) -> Places:
        """The features that vary and were not chosen, those most correlated with a chosen one first."""
        others = np.setdiff1d(np.flatnonzero(self.varies), self.chosen)
        return others[np.argsort(-np.abs(self.correlation[others]), kind="stable")]

    def represented(self) -> dict[int, Places]:
        """Return the features that each chosen one stands for; under -1 those that are like none of them."""
        others = self.others
        related = self.structured[others] & (np.abs(self.correlation[others]) > self.min_correlation)
        nearest = np.where(related, self.nearest[others], -1)
        return {int(feature): others[nearest == feature] for feature in [*self.chosen, -1]}


def analyse(selector: Any, table: Table, structure: Structure | None = None, random_state: int = 0) -> Analysis:
    """Analyse a fitted selector's choice.

    Parameters
    ----------
    selector : FeatureSelector
        Fitted on the encoded features of the table.
    table : Table
        What it was fitted on, or new data with the same features; without missing cells.
    structure : Structure, optional
        Which features carry structure; tested here if it is not given.
    random_state : int, default=0
        Draws the rows and the random lists.
    """
    sample = dense_sample(table.X, random_state=random_state)
    Z, selected, owner = sample.Z, np.asarray(selector.selected_), owners(table)
    structure = structure or structure_of(Z, owner)
    view_all = components(Z, random_state)
    scores, random_scores = scored(sample, selected, table, structure, RANDOM_LISTS, random_state)
    best = best_members(owner, selector.ranking_)
    nearest, correlation = nearest_chosen(Z, selected, owner)
    return Analysis(
        names=table.original_names,
        order=np.argsort(selector.ranking_[best]),
        k=len(set(owner[selected])),
        method_scores=np.asarray(selector.scores_)[best_members(owner, -np.asarray(selector.scores_))],
        varies=_mean(owner, Z.any(axis=0)) > 0,
        predicted=_mean(owner, 1 - reconstruction_errors(Z, selected)),
        nearest=nearest,
        correlation=correlation,
        min_correlation=float(-ndtri(CHANCE / 2 / (Z.shape[1] * len(selected))) / np.sqrt(len(Z))),
        **_evidence(structure, owner),
        scores=scores,
        random_scores=random_scores,
        rows=sample.rows,
        view_chosen=turned(components(Z[:, selected], random_state), view_all),
        view_all=view_all,
    )


def owners(table: Table) -> Places:
    """Return the feature of the file that each encoded feature of a table belongs to."""
    place = {name: position for position, name in enumerate(table.original_names)}
    return np.array([place[name] for name in table.originals.tolist()], dtype=np.intp)


def best_members(owner: Places, values: Any) -> Places:
    """Return, for each feature of the file, its encoded feature with the smallest value."""
    order = np.lexsort((values, owner))
    return order[np.unique(owner[order], return_index=True)[1]]


def _mean(owner: Places, values: Any) -> Array:
    return np.bincount(owner, weights=values) / np.bincount(owner)


def _evidence(structure: Structure, owner: Places) -> dict[str, Any]:
    """Return the evidence of each feature: that of its encoded ones, which are a group of the test."""
    best = best_members(owner, structure.pvalues)
    partner = np.where(structure.partner[best] >= 0, owner[structure.partner[best]], -1)
    return {
        "structured": _mean(owner, structure.structured) > 0,
        "pvalues": structure.pvalues[best],
        # The levels of a category depend on each other, which tells nothing of it.
        "partner": np.where(partner == np.arange(len(best)), -1, partner),
    }


def nearest_chosen(Z: Array, selected: Places, owner: Places) -> tuple[Places, Array]:
    """Return the most correlated chosen feature of each feature of the file, other than itself, and the correlation."""
    d = Z.shape[1]
    nearest, correlation = np.full(d, -1, dtype=np.intp), np.zeros(d)
    for start in range(0, d, BLOCK_COLUMNS):
        block = np.arange(start, min(start + BLOCK_COLUMNS, d))
        table = Z[:, block].T @ Z[:, selected] / len(Z)
        table[owner[block][:, None] == owner[selected]] = 0.0
        best = np.abs(table).argmax(axis=1)
        value = table[np.arange(len(block)), best]
        nearest[block] = np.where(value != 0, owner[selected[best]], -1)
        correlation[block] = np.clip(value, -1, 1)
    strongest = best_members(owner, -np.abs(correlation))
    return nearest[strongest], correlation[strongest]


def components(Z: Array, random_state: int) -> Array:
    """Return two principal components; a missing second one is 0."""
    wanted = min(2, *Z.shape)
    left, values, _ = randomized_svd(Z - Z.mean(axis=0), n_components=wanted, random_state=random_state)
    return np.pad(left * values, [(0, 0), (0, 2 - wanted)])


def turned(view: Array, towards: Array) -> Array:
    """Rotate and mirror a view so that it lies as near to another as it can (Procrustes), keeping its scale."""
    left, _, right = np.linalg.svd(view.T @ towards)
    return np.asarray(view @ (left @ right))


def scored(
    sample: Sample, selected: Places, table: Table, structure: Structure, n_lists: int, random_state: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the scores of a list, and their means over random lists of as many features of the file."""
    lists = random_columns(sample, selected, owners(table), n_lists, random_state)
    own, *others = score_lists(sample, [selected, *lists], structure, table.y, random_state=random_state)
    return own, {name: float(np.mean([entry[name] for entry in others])) for name in own}


class Row(NamedTuple):
    """A feature in words and numbers, which are None where they have no meaning."""

    rank: int
    name: str
    chosen: bool
    score: float | None
    nearest: str
    correlation: float | None
    predicted: float | None
    why: str
    evidence: str


def rows(analysis: Analysis, limit: int | None = None) -> list[Row]:
    """Return the features, best first; the chosen ones and then as many others as the limit allows."""
    represented = analysis.represented()
    return [_row(rank, int(i), analysis, represented) for rank, i in enumerate(analysis.order[:limit], start=1)]


def _row(rank: int, i: int, analysis: Analysis, represented: dict[int, Places]) -> Row:
    chosen, nearest, score = i in represented, int(analysis.nearest[i]), float(analysis.method_scores[i])
    like, how = ("", None) if nearest < 0 else (analysis.names[nearest], float(analysis.correlation[i]))
    predicted = None if chosen or not analysis.varies[i] else max(0.0, float(analysis.predicted[i]))
    why = _stands_for(i, represented[i], analysis) if chosen else _left_out(i, analysis)
    known = score if np.isfinite(score) else None
    return Row(rank, analysis.names[i], chosen, known, like, how, predicted, why, _evidence_of(i, analysis))


def _stands_for(i: int, others: Places, analysis: Analysis) -> str:
    if not analysis.structured[i]:
        return "Filler: it tells no more of the others than chance would."
    if not len(others):
        return "Stands for itself."
    shown = ", ".join(f"{analysis.names[i]} ({analysis.correlation[i]:+.2f})" for i in others[:NAMED])
    count = "1 other" if len(others) == 1 else f"{len(others)} others"
    return f"Stands for {count}: {shown}{', …' if len(others) > NAMED else ''}"


def _left_out(i: int, analysis: Analysis) -> str:
    if not analysis.varies[i]:
        return "Left out: it holds one value only."
    if not analysis.structured[i] or abs(analysis.correlation[i]) <= analysis.min_correlation:
        return "Left out: it is like none of the chosen."
    share, like = max(0.0, float(analysis.predicted[i])), analysis.names[analysis.nearest[i]]
    told = f"the chosen predict {'' if share >= WELL else 'only '}{share:.0%} of it"
    return f"Left out: {told}; it is most like {like} ({analysis.correlation[i]:+.2f})."


def _evidence_of(i: int, analysis: Analysis) -> str:
    if not analysis.varies[i]:
        return ""
    p = analysis.pvalues[i]
    how_likely = "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
    if not analysis.structured[i]:
        return f"no dependence above chance; {how_likely}"
    on = f"depends on {analysis.names[analysis.partner[i]]}" if analysis.partner[i] >= 0 else "has groups of values"
    return f"{on}; {how_likely}"
