"""RandomSubset: features drawn at random, the floor under every comparison."""

from typing import Any

from sklearn.utils import check_random_state

from tamis.base import FeatureSelector, Selection, Task
from tamis.selectors.parameters import Seed, with_parameters


@with_parameters
class RandomSubset(FeatureSelector):
    """Rank features in random order; those with one value only come last.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        Number of features to select; None selects half of them.
    must_keep, never : sequence of int or str, default=()
        Features, by position, name or glob (``"MT-*"``), that are always or never selected.
    groups : sequence of labels, mapping of label to features, or None, default=None
        Features that are selected or left out together; a group has the mean score of its features.
    random_state : int, RandomState or None, default=None
        Seed of the order; an int makes the selection reproducible.

    Notes
    -----
    O(nd) time, for the check of the input. Sparse X stays sparse.

    Examples
    --------
    >>> from tamis import RandomSubset
    >>> len(RandomSubset(2, random_state=0).fit([[0, 5, 1], [1, 0, 1], [0, 9, 2]]).selected_)
    2
    """

    random_state: Seed = None

    _from_disk = "statistics"

    def _select(self, X: Any, task: Task) -> Selection:  # noqa: ARG002
        return Selection(check_random_state(self.random_state).uniform(size=X.shape[1]))
