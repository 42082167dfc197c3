"""VarianceScore: features that vary most."""

from typing import Any

import numpy as np

from tamis.base import FeatureSelector, Selection, Task


class VarianceScore(FeatureSelector):
    r"""Rank features by their variance, :math:`\frac1n \sum_i (x_{ij} - \bar x_j)^2`.

    It depends on the units of the features, and is the same for all z-scored ones, so X is taken as it is.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        Number of features to select; None selects half of them.
    must_keep, never : sequence of int or str, default=()
        Features, by position, name or glob (``"MT-*"``), that are always or never selected.
    groups : sequence of labels, mapping of label to features, or None, default=None
        Features that are selected or left out together; a group has the mean score of its features.

    Notes
    -----
    O(nd) time. Sparse X stays sparse: it is made dense in blocks of 16 MB.

    Examples
    --------
    >>> from tamis import VarianceScore
    >>> VarianceScore(1).fit([[0, 5, 1], [1, 0, 1], [0, 9, 2]]).selected_.tolist()
    [1]
    """

    _from_disk = "statistics"

    def _select(self, X: Any, task: Task) -> Selection:  # noqa: ARG002
        with np.errstate(over="ignore"):
            return Selection(task.statistics.std**2)
