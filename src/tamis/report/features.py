"""One row for each feature: why it was chosen or left out, and the evidence, in words."""

from dataclasses import dataclass

import numpy as np

from tamis.report.analysis import Analysis, Places

NAMED = 3
WELL = 0.5
"""Share of a feature beyond which it is called predicted."""


@dataclass(frozen=True)
class Row:
    """A feature in words and numbers, which are None where they have no meaning."""

    rank: int
    name: str
    chosen: bool
    score: float | None
    nearest: str
    correlation: float | None
    predicted: float | None
    why: str
    evidence: str


def rows(analysis: Analysis, limit: int | None = None) -> list[Row]:
    """Return the features, best first; the chosen ones and then as many others as the limit allows."""
    represented = analysis.represented()
    return [_row(rank, int(i), analysis, represented) for rank, i in enumerate(analysis.order[:limit], start=1)]


def _row(rank: int, i: int, analysis: Analysis, represented: dict[int, Places]) -> Row:
    chosen, nearest, score = i in represented, int(analysis.nearest[i]), float(analysis.method_scores[i])
    like, how = ("", None) if nearest < 0 else (analysis.names[nearest], float(analysis.correlation[i]))
    predicted = None if chosen or not analysis.varies[i] else max(0.0, float(analysis.predicted[i]))
    why = _stands_for(represented[i], analysis) if chosen else _left_out(i, analysis)
    known = score if np.isfinite(score) else None
    return Row(rank, analysis.names[i], chosen, known, like, how, predicted, why, _evidence(i, analysis))


def _stands_for(others: Places, analysis: Analysis) -> str:
    if not len(others):
        return "Stands for itself."
    shown = ", ".join(f"{analysis.names[i]} ({analysis.correlation[i]:+.2f})" for i in others[:NAMED])
    count = "1 other" if len(others) == 1 else f"{len(others)} others"
    return f"Stands for {count}: {shown}{', …' if len(others) > NAMED else ''}"


def _left_out(i: int, analysis: Analysis) -> str:
    if not analysis.varies[i]:
        return "Left out: it holds one value only."
    if abs(analysis.correlation[i]) <= analysis.min_correlation:
        return "Left out: it is like none of the chosen."
    share, like = max(0.0, float(analysis.predicted[i])), analysis.names[analysis.nearest[i]]
    told = f"the chosen predict {'' if share >= WELL else 'only '}{share:.0%} of it"
    return f"Left out: {told}; it is most like {like} ({analysis.correlation[i]:+.2f})."


def _evidence(i: int, analysis: Analysis) -> str:
    if not analysis.varies[i]:
        return ""
    p = analysis.pvalues[i]
    how_likely = "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
    if not analysis.structured[i]:
        return f"no dependence above chance; {how_likely}"
    on = f"depends on {analysis.names[analysis.partner[i]]}" if analysis.partner[i] >= 0 else "has groups of values"
    return f"{on}; {how_likely}"
