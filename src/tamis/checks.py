"""Checks that the values of features can be computed with, that they vary, and that their scores tell them apart."""

from collections.abc import Callable
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from tamis.columns import MAX_MAGNITUDE, MIN_SPREAD, ColumnStatistics

MAX_UNSCALED = 1e15
"""Larger values, if they are not scaled, have no digits left for differences of one, and their products overflow."""


class UnusableFeaturesWarning(UserWarning):
    """Some features hold one value only, or hardly any value, and cannot be selected."""


class TiedScoresWarning(UserWarning):
    """Selected features have no finite score, or all features have the same, so that their order in X decides."""


def check_cells(statistics: ColumnStatistics, allows_missing: bool, named: Callable[[NDArray[np.intp]], str]) -> None:
    """Raise a ValueError that names the features with infinite cells, or missing ones where these are not allowed."""
    bad = statistics.non_finite - (statistics.missing if allows_missing else 0)
    if bad.any():
        what, fill = ("inf", "Replace it by NaN") if allows_missing else ("NaN or inf", "Fill the gaps")
        raise ValueError(
            f"X holds {what}, the first in row {statistics.bad_row}: {named(np.flatnonzero(bad))}. "
            f"{fill} (for example with sklearn.impute.SimpleImputer) or drop these features."
        )


def check_range(statistics: ColumnStatistics, scale: str | None, named: Callable[[NDArray[np.intp]], str]) -> None:
    """Raise a ValueError that names the features with values too large or too close to compute with.

    Parameters
    ----------
    statistics : ColumnStatistics
        Statistics of the features.
    scale : {"standard", "center"} or None
        How the features are going to be scaled.
    named : callable
        Writes the names of features, given by position.
    """
    bad = np.flatnonzero(statistics.out_of_range())
    if bad.size:
        raise ValueError(
            f"{named(bad)}: values beyond {MAX_MAGNITUDE:g}, or that differ by less than {MIN_SPREAD:g}, cannot be "
            "scaled in double precision. Multiply these features by a constant, or drop them."
        )
    largest = np.maximum(-statistics.low, statistics.high)
    outside = ~statistics.constant & ((largest > MAX_UNSCALED) | (statistics.std < 1 / MAX_UNSCALED))
    if scale != "standard" and outside.any():
        raise ValueError(
            f"{named(np.flatnonzero(outside))}: values beyond {MAX_UNSCALED:g}, or that differ by less than "
            f"{1 / MAX_UNSCALED:g}, cannot be computed with as they are. Use scale='standard' where the method has it, "
            "or multiply these features by a constant."
        )


def warn_of_ties(
    scores: NDArray[np.float64], picks: NDArray[np.intp], candidates: NDArray[np.intp], **where: Any
) -> None:
    """Warn if the scores do not tell which of the candidates to pick; ``where`` is passed on to ``warnings.warn``."""
    n_unscored = int((~np.isfinite(scores[picks])).sum())
    some = scores[candidates][np.isfinite(scores[candidates])]
    if n_unscored:
        text = f"{n_unscored} of the {len(picks)} features picked by score have no finite score"
    elif 0 < len(picks) < len(some) and np.ptp(some) <= 1e-12 * np.abs(some).max():
        text = f"All {len(some)} features to choose from have the same score"
    else:
        return
    warn(
        f"{text}: those that come first in X were selected. The method cannot tell them apart on this table; use "
        "another method.",
        TiedScoresWarning,
        **where,
    )


def warn_of_unusable(features: NDArray[np.intp], named: Callable[[NDArray[np.intp]], str], **where: Any) -> None:
    """Warn of features that cannot be selected; ``where`` is passed on to ``warnings.warn``."""
    if features.size:
        warn(
            "Features with one value only, or missing in most rows, are never selected: "
            f"{named(features)}. Name them in must_keep to select them all the same.",
            UnusableFeaturesWarning,
            **where,
        )
