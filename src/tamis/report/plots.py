"""The page's plots as plain Plotly figures (JSON-ready dictionaries); colours of the theme are set in the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from tamis.metrics import Array
from tamis.report.analysis import Analysis

CHOSEN, OTHER, THIRD = "#0072B2", "#999999", "#D55E00"
"""Colours of Okabe and Ito, which colour-blind readers tell apart."""

LABEL_COLOURS = [
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F7F7F"),
    *("#882255", "#44AA99", "#7B68C8", "#A0803C"),
]
LABEL_MARKS = ["circle", "diamond", "square", "cross", "triangle-up", "x"]
MAX_POINTS = 1500
MAX_LABELS = 12


@dataclass(frozen=True)
class Figure:
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


def training_figures(selector: Any) -> list[Figure]:
    """Draw the history of a neural fit: J and its terms, temperature and peak probability."""
    history = getattr(selector, "history_", None)
    if history is None or not len(history):
        return []
    terms = [name for name in history.dtype.names if name not in ("epoch", "temperature", "peak_probability")]
    settled = "Mean over the units of their largest selection probability; 1 means settled."
    figures = []
    for name, title, columns, caption in (
        ("objective", "J and its terms", terms, "Smaller is better."),
        ("temperature", "Temperature", ["temperature"], "Choices become hard as it falls."),
        ("peak", "Peak probability", ["peak_probability"], settled),
    ):
        named = zip(columns, LABEL_COLOURS * len(columns), strict=False)
        data = [lines(history["epoch"], history[column], column.replace("_", " "), c) for column, c in named]
        figures.append(Figure(name, title, caption, data, axes("epoch", "", len(data) > 1)))
    return figures


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
    "explained": "how much of all other features, noise included, the list predicts on other samples; more is better",
    "smoothness": "how far samples that are alike in the list agree; more is better",
    "redundancy": "how much the features repeat each other (mean correlation with the nearest); less is better",
    "accuracy": "how well groups found on the list match the labels, which took no part in choosing; more is better",
}
"""What each score tells, in words."""


def score_figures(
    x: Sequence[Any], scores: Sequence[dict[str, float]], random: Sequence[dict[str, float]]
) -> list[Figure]:
    """Draw every score over sizes, or over methods, against random lists."""
    sizes = not isinstance(x[0], str)
    figures = []
    for score in scores[0]:
        data = []
        for name, entries, colour in (("chosen", scores, CHOSEN), ("random lists", random, OTHER)):
            trace = lines(range(len(x)), [entry[score] for entry in entries], name, colour)
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
