"""What the selectors share that test features for structure before they choose."""

from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from tamis.base import FeatureSelector, Selection, Task
from tamis.structure import FDR, Structure, find_structure
from tamis.structure.directions import Directions
from tamis.structure.evidence import STRICT_FDR, discoveries
from tamis.structure.find import directions_of
from tamis.structure.sample import sample_rows


class FillerWarning(UserWarning):
    """Fewer features carry structure than were asked for, and the selection was filled up."""


class StructureFirst(FeatureSelector):
    """A selector whose candidates are the features that carry structure above chance."""

    def _find_structure(self, X: Any, seed: int) -> Structure:
        return find_structure(X, fdr=FDR, random_state=seed)

    def _candidates(self, structure: Structure, task: Task) -> NDArray[np.intp]:
        """Return the features to choose from, the strongest first; warn if some of them can only be filler.

        They are those that pass :data:`STRICT_FDR`, with the strongest others that make up k.
        """
        n_free = task.k - len(task.must_keep)
        order = structure.order[np.isin(structure.order, task.candidates)]
        wanted = discoveries(structure.pvalues, min(STRICT_FDR, structure.fdr))[order]
        # Where all is kept, one more feature stands for the rest: without structure, it is the goal.
        wanted[: max(1, n_free)] = True
        n_filler = int((~structure.structured[order[:n_free]]).sum())
        if n_filler:
            warn(_filler_message(n_filler, n_free, structure.n_structured), FillerWarning, stacklevel=6)
        return order[wanted]

    def _goal(self, X: Any, structure: Structure, candidates: NDArray[np.intp]) -> Directions:
        """Return the directions to explain: of the structured features or, without any, of the candidates."""
        if structure.n_structured:
            return structure.directions
        rng = np.random.default_rng(0)
        sample, rows = sample_rows(X, rng)
        return directions_of(sample, structure, candidates, [np.arange(len(rows))], rng)

    def _with_evidence(self, selection: Selection) -> Selection:
        """Return a selection in which features that were not chosen are ranked by their evidence, below the others."""
        order = self.structure_.order
        rest = np.empty(len(order))
        rest[order] = -np.arange(1, len(order) + 1) / len(order)
        scores = np.where(selection.scores > 0, selection.scores, rest)
        return Selection(scores, selection.chosen)


def _filler_message(n_filler: int, n_chosen: int, n_structured: int) -> str:
    if not n_structured:
        return (
            f"No feature carries structure above chance; the {n_chosen} selected ones are the least unlikely. Check "
            "that the right features and enough rows were read."
        )
    return (
        f"Only {n_structured} features carry structure above chance; {n_filler} of the {n_chosen} selected ones are "
        f"filler (see filler_). Select at most {n_structured} features, or collect more rows."
    )
