"""Ranks of methods over data sets."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata


def mean_and_median_ranks(accuracies: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """Rank the methods (columns) on every data set (row), 1 for the highest; ties share the mean of their ranks."""
    ranks = rankdata(-np.asarray(accuracies, dtype=float), axis=1)
    return ranks.mean(axis=0).tolist(), np.median(ranks, axis=0).tolist()
