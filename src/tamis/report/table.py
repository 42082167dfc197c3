"""One row and one reason per feature."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.report.analysis import Analysis

NAMED = 3


@dataclass(frozen=True)
class Row:
    """A feature in the page's table; numbers are None where they have no meaning."""

    rank: int
    name: str
    chosen: bool
    score: float | None
    nearest: str
    correlation: float | None
    explained: float | None
    reason: str


def rows(selector: Any, analysis: Analysis, names: Sequence[str], limit: int | None = None) -> list[Row]:
    """Describe the features, best first; the chosen ones and then as many others as the limit allows."""
    order = np.argsort(selector.ranking_)[:limit]
    represented = analysis.represented()
    usable = np.abs(analysis.sample.Z).max(axis=0) > 0
    return [_row(int(i), selector, analysis, names, represented, bool(usable[i])) for i in order]


def _row(
    column: int, selector: Any, analysis: Analysis, names: Sequence[str], represented: dict[int, Any], usable: bool
) -> Row:
    chosen = column in represented
    nearest, score = int(analysis.nearest[column]), float(selector.scores_[column])
    explained = None if chosen or not usable else max(0.0, 1 - float(analysis.errors[column]))
    if chosen:
        reason = _stands_for(represented[column], analysis, names)
    else:
        reason = _left_out(column, nearest, explained, analysis, names)
    return Row(
        rank=int(selector.ranking_[column]),
        name=str(names[column]),
        chosen=chosen,
        score=score if np.isfinite(score) else None,
        nearest="" if nearest < 0 else str(names[nearest]),
        correlation=None if nearest < 0 else float(analysis.correlation[column]),
        explained=explained,
        reason=reason,
    )


def _stands_for(others: Any, analysis: Analysis, names: Sequence[str]) -> str:
    if not len(others):
        return "Chosen for itself: no other feature is nearest to it."
    shown = ", ".join(f"{names[i]} ({analysis.correlation[i]:+.2f})" for i in others[:NAMED])
    count = "1 feature" if len(others) == 1 else f"{len(others)} features"
    return f"Chosen; stands for {count}, most of all {shown}."


def _left_out(column: int, nearest: int, explained: float | None, analysis: Analysis, names: Sequence[str]) -> str:
    if explained is None:
        return "Left out: it holds one value only."
    if nearest < 0:
        return "Left out: it is related to no chosen feature."
    share, r = f"{100 * explained:.0f}%", analysis.correlation[column]
    if explained >= 0.5:
        return f"Left out: {share} of it is predicted, most closely by {names[nearest]} ({r:+.2f})."
    return f"Left out: the chosen predict {share} of it; its nearest is {names[nearest]} ({r:+.2f})."
