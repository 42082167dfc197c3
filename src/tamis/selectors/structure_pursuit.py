"""StructurePursuit: test, directions, and a greedy choice of the features that explain them."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from tamis.base import Selection, Task
from tamis.selectors.structured import StructureFirst
from tamis.structure.directions import Directions
from tamis.structure.pursuit import pursue
from tamis.structure.sample import dense_features, sample_rows, standardised


class StructurePursuit(StructureFirst):
    """Select, one after the other, the features that explain most of what is left of the structure.

    Features are tested for dependence on others, above chance (:func:`tamis.find_structure`). The principal directions
    of those that pass are the goal F. Each step takes the candidate c, of what earlier ones leave of it, with the
    largest gain ``‖Fᵀc‖² / (‖c‖² + λ)``, and regresses it out of F and of the other candidates, by ridge regression.
    Nothing is trained, and there is no graph: it is quick, and blind for what is not linear.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        How many features to select; None selects half of them.
    must_keep, never : sequence of int or str, default=()
        Features, by position or name, that are always or never selected.
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

    _from_disk = "sample"

    _parameter_constraints: ClassVar[dict] = {
        **StructureFirst._parameter_constraints,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | str | None = None,
        *,
        must_keep: Sequence[int | str] = (),
        never: Sequence[int | str] = (),
        random_state: Any = None,
    ):
        super().__init__(n_features_to_select, must_keep=must_keep, never=never)
        self.random_state = random_state

    def _select(self, X: Any, task: Task) -> Selection:
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.structure_ = self._find_structure(X, seed)
        candidates = self._candidates(self.structure_, task)
        goal = self._goal(X, self.structure_, candidates)
        sample, rows = sample_rows(X, np.random.default_rng(seed))
        features = np.unique(np.r_[goal.features, candidates, task.must_keep])
        Z = standardised(dense_features(sample, features), [np.arange(len(rows))])
        F = Directions(np.searchsorted(features, goal.features), goal.loadings).scores(Z)
        kept, free = (np.searchsorted(features, some) for some in (task.must_keep, np.sort(candidates)))
        order, gains = pursue(Z, F, free, kept[Z[:, kept].any(axis=0)], task.k - len(task.must_keep))
        scores = np.zeros(X.shape[1])
        scores[features[order]] = gains
        return self._with_evidence(Selection(scores, features[order].tolist()))
