"""The page's plots as plain Plotly figures (JSON-ready dictionaries); colours of the theme are set in the page."""

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from tamis.metrics import Array
from tamis.report.analysis import Analysis, Places

CHOSEN, OTHER, THIRD = "#0072B2", "#999999", "#D55E00"
"""Colours of Okabe and Ito, which colour-blind readers tell apart."""

LABEL_COLOURS = [
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F7F7F"),
    *("#882255", "#44AA99", "#7B68C8", "#A0803C"),
]
LABEL_MARKS = ["circle", "diamond", "square", "cross", "triangle-up", "x"]
MAX_POINTS, MAX_MAPPED = 1500, 6000
MAX_NAMES = 40
"""With more features, their names are shown at the pointer only."""

GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
MAX_LABELS = 12


class Figure(NamedTuple):
    """A plot: an identifier, a title, what it shows in words, and the figure for Plotly."""

    name: str
    title: str
    caption: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]


def label(name: Any, length: int = 32) -> str:
    """Shorten a name and escape it, since Plotly reads a kind of HTML."""
    text = str(name)
    return escape(text if len(text) <= length else text[: length - 1] + "…")


def rounded(values: Any, digits: int = 4) -> list[Any]:
    """Return numbers with a few significant digits, None for those that JSON lacks."""
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in np.asarray(values, dtype=float)]


def points(x: Any, y: Any, name: str, colour: Any, size: int) -> dict[str, Any]:
    """Return a trace of points."""
    marker = {"color": colour, "size": size, "opacity": 0.8}
    return {"type": "scatter", "mode": "markers", "name": name, "marker": marker, "x": rounded(x), "y": rounded(y)}


def lines(x: Any, y: Any, name: str, colour: str) -> dict[str, Any]:
    """Return a trace of connected points."""
    return points(x, y, name, colour, 8) | {"mode": "lines", "line": {"color": colour, "width": 2}}


def axes(x: str, y: str, legend: bool, **more: Any) -> dict[str, Any]:
    """Return a layout with named axes."""
    return {"xaxis": {"title": x}, "yaxis": {"title": y}, "showlegend": legend, **more}


def sample_figures(analysis: Analysis, labels: Any = None) -> list[Figure]:
    """Draw the samples on two principal components of the chosen and of all features."""
    colouring = "label" if labels is not None else "place from left to right in the second picture"
    caption = f"Each point is a sample, its colour the {colouring}. Alike pictures mean that little was lost."
    known = None if labels is None else np.asarray(labels)[analysis.rows].astype(str)
    layout = axes("component 1", "component 2", labels is not None, height=400)
    views = {"the chosen": analysis.view_chosen, "all": analysis.view_all}
    return [
        Figure(f"view-{who.split()[-1]}", f"The samples as {who} features show them", caption, data, layout)
        for who, data in ((who, _clouds(view, analysis, known)) for who, view in views.items())
    ]


def _clouds(view: Array, analysis: Analysis, known: Any) -> list[dict[str, Any]]:
    x, y = view[:MAX_POINTS].T
    if known is None:
        cloud = points(x, y, "samples", rounded(analysis.view_all[: len(x), 0], 3), 5)
        cloud["marker"]["colorscale"] = "Viridis"
        return [cloud | {"hoverinfo": "skip"}]
    clouds = []
    for i, (value, rows) in enumerate(_by_label(known[: len(x)])):
        cloud = points(x[rows], y[rows], label(value) or "(none)", LABEL_COLOURS[i % len(LABEL_COLOURS)], 6)
        cloud["marker"]["symbol"] = LABEL_MARKS[i % len(LABEL_MARKS)]
        clouds.append(cloud | {"hoverinfo": "name"})
    return clouds


def _by_label(known: Any) -> list[tuple[str, Any]]:
    """Return the commonest labels with their rows, and the rows of all others."""
    values, counts = np.unique(known, return_counts=True)
    common = values[np.argsort(-counts, kind="stable")][:MAX_LABELS]
    groups = [(str(value), known == value) for value in sorted(common)]
    return groups + ([("other labels", ~np.isin(known, common))] if len(common) < len(values) else [])


def prediction_figure(analysis: Analysis) -> Figure | None:
    """Draw how well the other features with structure are predicted."""
    others = analysis.others[analysis.structured[analysis.others]]
    if not len(others):
        return None
    counts, edges = np.histogram(np.clip(analysis.predicted[others], 0, 1), bins=20, range=(0, 1))
    bars = points(edges[:-1] + 0.025, counts, "features", CHOSEN, 0) | {"type": "bar"}
    caption = "How much of every other feature with structure the chosen predict, on samples held out; 1 is all of it."
    layout = axes("share predicted", "features", False)
    return Figure("prediction", "How much of the rest is kept", caption, [bars], layout)


def training_figure(selector: Any) -> Figure | None:
    """Draw how J and its terms fell in a neural fit."""
    history = getattr(selector, "history_", None)
    if history is None or not len(history):
        return None
    terms = [name for name in history.dtype.names if name not in ("epoch", "temperature", "peak_probability")]
    named = zip(terms, LABEL_COLOURS, strict=False)
    data = [lines(history["epoch"], history[term], term.replace("_", " "), colour) for term, colour in named]
    return Figure("objective", "J and its terms", "Smaller is better.", data, axes("epoch", "", len(data) > 1))


def pixel_figures(selected: Any, analysis: Analysis, mean: Array, shape: tuple[int, int]) -> list[Figure]:
    """Draw the chosen pixels over the mean image, and how well every pixel is predicted."""
    rows, columns = np.unravel_index(np.asarray(selected), shape)
    marks = points(columns, rows, "chosen", THIRD, 9)
    marks["marker"] |= {"symbol": "square-open", "line": {"width": 2}}
    marks |= {"hovertemplate": "row %{y}, column %{x}<extra></extra>"}
    image = {"type": "heatmap", "z": [rounded(row, 3) for row in mean.reshape(shape)], "colorscale": "Greys"}
    shares = np.clip(analysis.predicted, 0, 1).reshape(shape)
    share = {"type": "heatmap", "z": [rounded(row, 2) for row in shares], "colorscale": "Viridis", "zmin": 0, "zmax": 1}
    layout = {"yaxis": {"autorange": "reversed", "scaleanchor": "x"}, "xaxis": {"constrain": "domain"}, "height": 420}
    caption = "How much of every pixel the chosen ones predict."
    return [
        Figure("pixels", "Chosen pixels", "On the mean image.", [image | {"showscale": False}, marks], layout),
        Figure("predicted-pixels", "Share predicted", caption, [share], dict(layout)),
    ]


MEANINGS = {
    "explained": "how much of the structure of the table the list explains on samples held out; more is better",
    "smoothness": "how far samples that are alike in the list agree; more is better",
    "redundancy": "how much the features repeat each other (mean correlation with the nearest); less is better",
    "accuracy": "how well groups found on the list match the labels, which took no part in choosing; more is better",
}
"""What each score tells, in words."""


def score_figures(x: Sequence[Any], entries: Sequence[Any]) -> list[Figure]:
    """Draw every score over sizes, or over methods, against random lists."""
    sizes = not isinstance(x[0], str)
    figures = []
    for score in entries[0].scores:
        data = []
        for name, own, colour in (("chosen", "scores", CHOSEN), ("random lists", "random", OTHER)):
            trace = lines(range(len(x)), [getattr(entry, own)[score] for entry in entries], name, colour)
            data.append(trace | {"x": [*x] if sizes else [label(name) for name in x]})
            data[-1]["mode"] = "lines+markers" if sizes else "markers"
        layout = axes("number of features" if sizes else "", score, True)
        figures.append(Figure(f"score-{score}", score.capitalize(), f"{MEANINGS[score].capitalize()}.", data, layout))
    return figures


def coverage_figure(programmes: Any) -> Figure:
    """Draw how much of each programme the panel predicts."""
    counts = [f"{len(own)} of {n}" for own, n in zip(programmes["selected"], programmes["n_genes"], strict=True)]
    bars: dict[str, Any] = {"x": rounded(programmes["covered"]), "y": [label(name) for name in programmes.index]}
    bars |= {"type": "bar", "orientation": "h", "marker": {"color": CHOSEN}, "hoverinfo": "x+text"}
    bars |= {"text": counts, "textposition": "outside", "cliponaxis": False}
    layout = axes("share predicted", "programme", False, height=max(320, 90 + 24 * len(programmes)))
    layout["yaxis"] |= {"type": "category", "autorange": "reversed", "dtick": 1}
    layout["xaxis"] |= {"range": [0, 1.25]}
    caption = (
        "How much the panel predicts, in cells held out, of what the programmes explain of their genes; 1 is all of "
        "it. Beside each bar: its genes in the panel."
    )
    return Figure("coverage", "How much of each programme is covered", caption, [bars], layout)


def map_figure(analysis: Analysis) -> Figure:
    """Draw every feature as a point: around each chosen one those that it stands for, below those like none of them."""
    share = min(1.0, MAX_MAPPED / max(1, len(analysis.others)))  # Too many to draw are thinned out evenly.
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
