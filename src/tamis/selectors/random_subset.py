"""RandomSubset: columns drawn by lot, the floor under every comparison."""

from collections.abc import Sequence
from typing import Any, ClassVar

from sklearn.utils import check_random_state

from tamis.base import FeatureSelector, Selection, Task


class RandomSubset(FeatureSelector):
    """Rank columns in random order; those with one value only come last.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many columns to select; None selects half of them.
    must_keep, never : sequence of int or str, default=()
        Columns, by position or name, that are always or never selected.
    random_state : int, RandomState or None, default=None
        Seed of the lot; an int gives the same columns every time.

    Notes
    -----
    O(nd) time, for the check of the input. Sparse X stays sparse.

    Examples
    --------
    >>> from tamis import RandomSubset
    >>> len(RandomSubset(2, random_state=0).fit([[0, 5, 1], [1, 0, 1], [0, 9, 2]]).selected_)
    2
    """

    _from_disk = "statistics"

    _parameter_constraints: ClassVar[dict] = {
        **FeatureSelector._parameter_constraints,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        must_keep: Sequence[int | str] = (),
        never: Sequence[int | str] = (),
        random_state: Any = None,
    ):
        super().__init__(n_features_to_select, must_keep=must_keep, never=never)
        self.random_state = random_state

    def _select(self, X: Any, task: Task) -> Selection:  # noqa: ARG002
        return Selection(check_random_state(self.random_state).uniform(size=X.shape[1]))
