"""What the selectors share that test features for structure before they choose."""

from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from tamis.base import FeatureSelector, Selection, Task
from tamis.structure import FDR, FillerWarning, Structure, find_structure
from tamis.structure.directions import Directions
from tamis.structure.find import candidate_features, directions_of, filler_message
from tamis.structure.sample import sample_rows


class StructureFirst(FeatureSelector):
    """A selector whose candidates are the features that carry structure above chance."""

    def _find_structure(self, X: Any, seed: int) -> Structure:
        return find_structure(X, fdr=FDR, random_state=seed)

    def _candidates(self, structure: Structure, task: Task) -> NDArray[np.intp]:
        """Return the features to choose from; tell the user if some of them can only be filler."""
        n_free = task.k - len(task.must_keep)
        # Where all is kept, one more feature stands for the rest: without structure, it is the goal.
        candidates = candidate_features(structure, task.candidates, max(1, n_free))
        n_filler = int((~structure.structured[candidates[:n_free]]).sum())
        if n_filler:
            warn(filler_message(n_filler, n_free, structure.n_structured), FillerWarning, stacklevel=6)
        return candidates

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
