"""The map of features: each chosen one in the middle of those that it stands for."""

from typing import Any

import numpy as np

from tamis.metrics import Array
from tamis.report.analysis import Analysis, Places
from tamis.report.plots import CHOSEN, OTHER, THIRD, Figure, label, points

MAX_POINTS = 6000
MAX_NAMES = 40
"""With more features, names are shown at the pointer only."""

GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def map_figure(analysis: Analysis) -> Figure:
    """Draw every feature as a point: around each chosen one those that it stands for, below those like none of them."""
    share = min(1.0, MAX_POINTS / max(1, len(analysis.others)))  # Too many to draw are thinned out evenly.
    circles = {i: members[: int(np.ceil(share * len(members)))] for i, members in analysis.represented().items()}
    alone = circles.pop(-1)
    radii = np.array([np.sqrt(len(members) + 5) for members in circles.values()])
    centres = shelves(2 * radii + 1)
    data = [_around(analysis, *circle, centre) for circle, centre in zip(circles.items(), centres, strict=True)]
    data += [_below(analysis, alone, centres, radii)] if len(alone) else []
    hubs = points(centres[:, 0], centres[:, 1], "chosen", THIRD, 12)
    hubs["marker"] |= {"symbol": "diamond", "opacity": 1}
    hubs["text"] = [label(analysis.names[i]) for i in circles]
    hubs["hovertemplate"] = "<b>%{text}</b>: chosen<extra></extra>"
    layout: dict[str, Any] = {"showlegend": False, "hovermode": "closest", "margin": dict.fromkeys("lrtb", 8)}
    layout |= {"xaxis": {"visible": False}, "yaxis": {"visible": False}}
    if analysis.k <= MAX_NAMES:
        # Below the circle, or below the diamond where all other points have names, too.
        below = centres[:, 1] - radii * (len(analysis.names) > MAX_NAMES)
        fixed = {"showarrow": False, "yanchor": "top", "yshift": -4}
        layout["annotations"] = [
            {"text": f"<b>{label(analysis.names[i], 14)}</b>", "x": float(x), "y": float(y), **fixed}
            for i, x, y in zip(circles, centres[:, 0], below, strict=True)
        ]
    n_rows = len(np.unique(centres[:, 1] + radii))
    layout["height"] = int(np.clip(150 * n_rows + 80 * (len(alone) > 0), 300, 640))
    shown, total = len(alone) + sum(map(len, circles.values())), len(analysis.others)
    caption = (
        "Diamonds are the chosen features. Around each lie the features that it stands for, the most similar ones "
        "inside and in the fullest colour; names show at the pointer."
        + " Grey points below are like none of the chosen." * bool(len(alone))
        + f" {shown:,} of {total:,} points are drawn." * (shown < total)
    )
    return Figure("map", "Which chosen feature stands for which others", caption, [*data, hubs], layout)


def shelves(diameters: Array) -> Array:
    """Return centres of circles that do not touch: side by side in rows, from the top left, twice as wide as high.

    Below each row there is room for names, a quarter of its height.
    """
    width = max(diameters.max(), np.sqrt(2.5 * (diameters**2).sum()))
    centres, x, top, height = [], 0.0, 0.0, 0.0
    for diameter in diameters:
        if x and x + diameter > width:
            x, top, height = 0.0, top - 1.25 * height, 0.0
        centres.append((x + diameter / 2, top - diameter / 2))
        x, height = x + diameter, max(height, diameter)
    return np.array(centres)


def _around(analysis: Analysis, hub: int, members: Places, centre: Array) -> dict[str, Any]:
    """Return the points around a chosen feature on a sunflower's spiral, on which each gets the same area."""
    turns = np.arange(len(members))
    x = centre[0] + np.sqrt(turns + 3) * np.cos(turns * GOLDEN_ANGLE)
    y = centre[1] + np.sqrt(turns + 3) * np.sin(turns * GOLDEN_ANGLE)
    like = [f"like {label(analysis.names[hub])} ({analysis.correlation[i]:+.2f})" for i in members]
    trace = _dots(analysis, members, x, y, CHOSEN, like)
    trace["marker"]["opacity"] = np.round(0.25 + 0.75 * np.abs(analysis.correlation[members]), 2).tolist()
    return trace


def _below(analysis: Analysis, features: Places, centres: Array, radii: Array) -> dict[str, Any]:
    """Return the points of features like none of the chosen, in lines below everything."""
    width, bottom = (centres[:, 0] + radii).max(), (centres[:, 1] - radii).min()
    n_lines = int(np.ceil(np.sqrt(len(features) / 20)))
    line, place = np.divmod(np.arange(len(features)), int(np.ceil(len(features) / n_lines)))
    x, y = (place + 0.5) * width / (place.max() + 1), bottom * (1.2 + 0.25 * line / n_lines)
    return _dots(analysis, features, x, y, OTHER, ["like none of the chosen"] * len(features))


def _dots(analysis: Analysis, features: Places, x: Array, y: Array, colour: str, told: list[str]) -> dict[str, Any]:
    trace = points(x, y, "", colour, int(np.clip(110 / np.sqrt(len(analysis.names)), 4, 10)))
    trace |= {"text": [label(analysis.names[i]) for i in features], "customdata": told}
    if len(analysis.names) <= MAX_NAMES:
        trace |= {"mode": "markers+text", "textposition": "bottom center", "textfont": {"size": 11}}
    return trace | {"hovertemplate": "<b>%{text}</b>: %{customdata}<extra></extra>"}
