"""StructurePursuit: test, directions, and a greedy choice of the features that explain them."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from tamis.base import FeatureSelector, Selection, Task
from tamis.selectors.parameters import Seed, with_parameters
from tamis.structure import find_structure
from tamis.structure.candidates import choose_candidates, directions_of, pursuit_of, rank_rest
from tamis.structure.pursuit import pursue


@with_parameters
class StructurePursuit(FeatureSelector):
    """Select, one after the other, the features that explain most of what is left of the structure.

    Features are tested for dependence on others, above chance (:func:`tamis.find_structure`). The principal directions
    of those that pass are the goal F. Each step takes the candidate c, of what earlier ones leave of it, with the
    largest gain ``‖Fᵀc‖² / (‖c‖² + λ)``, and regresses it out of F and of the other candidates, by ridge regression.
    Nothing is trained, and there is no graph: it is quick, and blind for what is not linear.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        How many features, or groups, to select; None selects half of them.
    must_keep, never : sequence of int or str, default=()
        Features, by position, name or glob (``"MT-*"``), or groups, by label, that are always or never selected.
    groups : sequence of labels, mapping of label to features, or None, default=None
        Features that are selected or left out together; the gain of a group is that of its features together.
    random_state : int, RandomState or None, default=None
        Draws the rows that are examined, and the shuffles of the test.

    Attributes
    ----------
    support_, selected_, ranking_, scores_, n_features_in_, feature_names_in_, structure_, filler_, verdict_
        As for :class:`tamis.LSCAE`; the score of a selected feature is the share of the directions that it added.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import StructurePursuit
    >>> X = load_iris(as_frame=True).data
    >>> StructurePursuit(n_features_to_select=2, random_state=0).fit(X).get_feature_names_out()
    array(['sepal length (cm)', 'petal length (cm)'], dtype=object)
    """

    random_state: Seed = None

    _from_disk = "sample"
    _allows_missing = True
    _selects_groups = True

    def _select(self, X: Any, task: Task) -> Selection:
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        owner, n_free = task.owner, task.k - len(task.must_keep)
        structure = find_structure(X, groups=owner, random_state=seed)
        candidates = choose_candidates(structure, task.candidates, n_free, owner)
        directions = structure.directions
        if not structure.structured.any():
            shown = candidates if task.groups is None else task.groups.members(candidates)
            directions = directions_of(X, structure, shown)
        order, gains = pursue(pursuit_of(X, directions, candidates, task.must_keep, owner, seed), n_free)
        scores = np.zeros(X.shape[1] if owner is None else owner.max() + 1)
        scores[order] = gains
        self.structure_ = structure
        return Selection(rank_rest(scores, structure, owner), order.tolist())
