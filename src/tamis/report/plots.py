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
MOST_POINTS = 3000
MOST_CELLS = 60
MOST_LABELS = 12
NAME_LENGTH = 32


@dataclass(frozen=True)
class Figure:
    """A plot: an identifier, a title, what it shows in words, and the figure for Plotly."""

    name: str
    title: str
    caption: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]


def label(name: Any) -> str:
    """Shorten a name and escape it, since Plotly reads a kind of HTML."""
    text = str(name)
    return escape(text if len(text) <= NAME_LENGTH else text[: NAME_LENGTH - 1] + "…")


def rounded(values: Any, digits: int = 4) -> list[Any]:
    """Give numbers with a few significant digits, None for those that JSON lacks."""
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in np.asarray(values, dtype=float)]


def training_figures(selector: Any) -> list[Figure]:
    """Draw the history of a neural fit: J and its parts, temperature, peak probability."""
    history = getattr(selector, "history_", None)
    if history is None or getattr(history, "dtype", None) is None or not history.dtype.names or not len(history):
        return []
    names = history.dtype.names
    parts = [name for name in names if name not in ("epoch", "temperature", "peak_probability")]
    told = "Mean over the units of their largest selection probability; 1 means settled."
    cooling = "The concrete layer cools down: choices become hard."
    figures = [
        _curves(history, "objective", "Objective and its parts", parts, "value", "J is to fall; smaller is better."),
        _curves(history, "temperature", "Temperature", ["temperature"], "temperature", cooling),
        _curves(history, "peak", "Peak probability", ["peak_probability"], "probability", told),
    ]
    figures[1].layout["yaxis"] |= {"type": "log"}
    figures[2].layout["yaxis"] |= {"range": [0, 1.02]}
    return [figure for figure in figures if figure.data]


def _curves(history: Any, name: str, title: str, columns: list[str], unit: str, caption: str) -> Figure:
    colours = [CHOSEN, *LABEL_COLOURS[1:]]
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "J" if column == "objective" else column.replace("_", " "),
            "x": history["epoch"].tolist() if "epoch" in history.dtype.names else list(range(1, len(history) + 1)),
            "y": rounded(history[column]),
            "line": {"color": colours[i % len(colours)], "width": 3 if column == "objective" else 1.5},
        }
        for i, column in enumerate(columns)
        if column in history.dtype.names
    ]
    layout = {"xaxis": {"title": "epoch"}, "yaxis": {"title": unit}, "showlegend": len(data) > 1}
    return Figure(name, title, caption, data, layout)


def probability_figure(selector: Any, names: Sequence[str]) -> Figure | None:
    """Draw which unit shows which feature with what probability."""
    probabilities = getattr(selector, "selection_probs_", None)
    if probabilities is None or not len(probabilities):
        return None
    chosen = np.asarray(selector.selected_)[:MOST_CELLS]
    table = np.asarray(probabilities)[:, chosen]
    units = np.argsort(table.argmax(axis=1) - table.max(axis=1), kind="stable")[:MOST_CELLS]
    caption = (
        "Each row is a unit of the selector, each column a chosen feature. One bright cell a row is a clear choice."
    )
    if len(probabilities) > MOST_CELLS:
        caption += f" The first {MOST_CELLS} of {len(probabilities)} are shown."
    heat = _heat(table[units], [label(names[i]) for i in chosen], [f"unit {i + 1}" for i in units], (0, 1), "Viridis")
    return Figure("probabilities", "Selection probabilities", caption, [heat], _square(len(chosen)))


def _heat(table: Array, x: list[str], y: list[str], span: tuple[float, float], colours: str) -> dict[str, Any]:
    # Positions rather than names are the coordinates: two shortened names may be equal.
    return {
        "type": "heatmap",
        "z": [rounded(row, 3) for row in table],
        "x": list(range(len(x))),
        "y": list(range(len(y))),
        "customdata": [[f"{row} / {column}" for column in x] for row in y],
        "hovertemplate": "%{customdata}: %{z}<extra></extra>",
        "zmin": span[0],
        "zmax": span[1],
        "colorscale": colours,
        "ticks": {"x": x, "y": y},
    }


def _square(size: int) -> dict[str, Any]:
    return {"yaxis": {"autorange": "reversed"}, "height": min(760, 320 + 7 * size)}


def score_figure(selector: Any, names: Sequence[str]) -> Figure:
    """Draw the score of every feature by rank, the chosen marked."""
    order = np.argsort(selector.ranking_)
    k, scores = len(selector.selected_), np.asarray(selector.scores_)
    groups = [("chosen", order[:k], CHOSEN, 7), ("not chosen", order[k:], OTHER, 4)]
    data = []
    for title, columns, colour, size in groups:
        shown = _thinned(columns[np.isfinite(scores[columns])], MOST_POINTS // 2)
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": title,
                "x": selector.ranking_[shown].tolist(),
                "y": rounded(scores[shown]),
                "text": [label(names[i]) for i in shown],
                "hovertemplate": "%{text}<br>rank %{x}, score %{y}<extra></extra>",
                "marker": {"color": colour, "size": size},
            }
        )
    layout = {"xaxis": {"title": "rank"}, "yaxis": {"title": "score"}, "showlegend": True}
    caption = "The larger the score, the more the method wants the feature. Names are shown at the pointer."
    return Figure("scores", "Score of every feature", caption, data, layout)


def _thinned(columns: Any, limit: int) -> Any:
    if len(columns) <= limit:
        return columns
    return columns[np.unique(np.linspace(0, len(columns) - 1, limit).astype(int))]


def correlation_figure(analysis: Analysis, names: Sequence[str]) -> Figure | None:
    """Draw the correlations among the chosen features, similar ones side by side."""
    if len(analysis.selected) < 2:
        return None
    chosen = analysis.selected[:MOST_CELLS]
    G = analysis.sample.Z[:, chosen]
    table = np.clip(G.T @ G / len(G), -1, 1)
    order = _seriated(table)
    ticks = [label(names[i]) for i in chosen[order]]
    caption = "Pale cells off the diagonal mean that the chosen features do not repeat each other."
    if len(analysis.selected) > MOST_CELLS:
        caption += f" The best {MOST_CELLS} of {len(analysis.selected)} are shown."
    heat = _heat(table[np.ix_(order, order)], ticks, ticks, (-1, 1), "RdBu")
    return Figure("correlations", "Correlation of the chosen", caption, [heat], _square(len(chosen)))


def _seriated(table: Array) -> list[int]:
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(table) < 3:
        return list(range(len(table)))
    distances = 1 - np.abs((table + table.T) / 2)
    np.fill_diagonal(distances, 0.0)
    return leaves_list(linkage(squareform(np.maximum(distances, 0), checks=False), "average")).tolist()


def sample_figures(analysis: Analysis, labels: Any = None) -> list[Figure]:
    """Draw the samples on two principal components of the chosen and of all features."""
    views = [
        ("view-chosen", "Samples on the chosen features", analysis.view_chosen),
        ("view-all", "Samples on all features", analysis.view_all),
    ]
    colouring = "label" if labels is not None else "place along the first component of all features"
    caption = f"Two principal components; colour is the {colouring}. Alike pictures mean that little was lost."
    known = None if labels is None else np.asarray(labels)[analysis.sample.rows]
    layout = {"xaxis": {"title": "component 1"}, "yaxis": {"title": "component 2"}, "showlegend": labels is not None}
    layout |= {"legend": {"font": {"size": 11}}, "height": 400}
    return [Figure(n, t, caption, _points(view, analysis, known), dict(layout)) for n, t, view in views]


def _points(view: Array, analysis: Analysis, known: Any) -> list[dict[str, Any]]:
    limit = min(len(view), MOST_POINTS // 2)
    if known is None:
        shade = {"color": rounded(analysis.view_all[:limit, 0], 3), "colorscale": "Viridis", "size": 5}
        return [_cloud(view[:limit], shade, "samples")]
    values, counts = np.unique(known[:limit].astype(str), return_counts=True)
    common = values[np.argsort(-counts, kind="stable")][:MOST_LABELS]
    groups = [(value, known[:limit].astype(str) == value) for value in sorted(common)]
    if len(common) < len(values):
        groups.append(("other labels", ~np.isin(known[:limit].astype(str), common)))
    marks = ["circle", "diamond", "square", "cross", "triangle-up", "x"]
    return [
        _cloud(
            view[:limit][rows],
            {"color": LABEL_COLOURS[i % len(LABEL_COLOURS)], "symbol": marks[i % len(marks)], "size": 6},
            label(value) or "(none)",
        )
        for i, (value, rows) in enumerate(groups)
    ]


def _cloud(view: Array, marker: dict[str, Any], name: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": rounded(view[:, 0], 3),
        "y": rounded(view[:, 1], 3),
        "marker": {**marker, "opacity": 0.8},
        "hoverinfo": "name" if name != "samples" else "skip",
    }


def error_figure(analysis: Analysis) -> Figure | None:
    """Draw how well the features that were not chosen are predicted, against one random list."""
    others = analysis.others
    if not len(others):
        return None
    edges = np.linspace(0, 1.2, 41)
    data = []
    for name, errors, colour in (
        ("from the chosen", analysis.errors[others], CHOSEN),
        ("from a random list", analysis.random_errors[others], OTHER),
    ):
        counts, _ = np.histogram(np.clip(errors[errors > 0], 0, edges[-1]), bins=edges)
        centres = (edges[1:] + edges[:-1]) / 2
        shape = {"shape": "hvh", "color": colour, "width": 2}
        trace = {"type": "scatter", "mode": "lines", "name": name, "x": rounded(centres), "y": counts.tolist()}
        data.append(trace | {"line": shape} | ({"fill": "tozeroy"} if colour == CHOSEN else {}))
    caption = (
        "Error of every feature that was not chosen, predicted on samples held out: 0 is perfect, 1 is no better than "
        "the mean. The further left, the more of the table the chosen features hold."
    )
    layout = {"xaxis": {"title": "relative error"}, "yaxis": {"title": "features"}, "showlegend": True}
    return Figure("errors", "Reconstruction of the rest", caption, data, layout)


def pixel_figures(
    selector: Any, analysis: Analysis, mean: Array, shape: tuple[int, int], names: Sequence[str]
) -> list[Figure]:
    """Draw the chosen pixels over the mean image, and how well every pixel is predicted."""
    rows, columns = np.unravel_index(np.asarray(selector.selected_), shape)
    marks = {
        "type": "scatter",
        "mode": "markers",
        "x": columns.tolist(),
        "y": rows.tolist(),
        "text": [label(names[i]) for i in selector.selected_],
        "hovertemplate": "%{text}: row %{y}, column %{x}<extra></extra>",
        "marker": {"symbol": "square-open", "size": 9, "color": THIRD, "line": {"width": 2}},
    }
    image = {"type": "heatmap", "z": [rounded(row, 3) for row in mean.reshape(shape)], "colorscale": "Greys"}
    explained = np.clip(1 - analysis.errors, 0, 1).reshape(shape)
    share = {
        "type": "heatmap",
        "z": [rounded(row, 2) for row in explained],
        "colorscale": "Viridis",
        "zmin": 0,
        "zmax": 1,
    }
    layout = {"yaxis": {"autorange": "reversed", "scaleanchor": "x"}, "xaxis": {"constrain": "domain"}, "height": 420}
    return [
        Figure(
            "pixels",
            "Chosen pixels",
            "Orange squares on the mean image.",
            [image | {"showscale": False}, marks],
            layout,
        ),
        Figure(
            "explained", "Share predicted", "How much of every pixel the chosen ones predict.", [share], dict(layout)
        ),
    ]


def score_lines(
    sizes: Sequence[int], scores: Sequence[dict[str, float]], usual: Sequence[dict[str, float]]
) -> list[Figure]:
    """Draw every score over the number of features, against random lists."""
    figures = []
    for score in scores[0]:
        data = [
            _line("chosen", sizes, [entry[score] for entry in scores], CHOSEN),
            _line("random lists", sizes, [entry[score] for entry in usual], OTHER),
        ]
        layout = {"xaxis": {"title": "number of features"}, "yaxis": {"title": score}, "showlegend": True}
        figures.append(
            Figure(f"curve-{score}", score.capitalize() if score != "J" else "J", MEANINGS[score], data, layout)
        )
    return figures


def _line(name: str, x: Sequence[int], y: Sequence[float], colour: str) -> dict[str, Any]:
    mark = {"color": colour, "size": 8}
    line = {"color": colour, "dash": "solid" if colour == CHOSEN else "dot"}
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": list(x),
        "y": rounded(y),
        "marker": mark,
        "line": line,
    }


def score_bars(methods: Sequence[str], scores: Sequence[dict[str, float]]) -> list[Figure]:
    """Draw every score as a bar per method."""
    names = [label(method) for method in methods]
    figures = []
    for score in scores[0]:
        bars = {
            "type": "bar",
            "x": names,
            "y": rounded([entry[score] for entry in scores]),
            "marker": {"color": CHOSEN},
        }
        layout = {"yaxis": {"title": score}, "showlegend": False}
        title = score.capitalize() if score != "J" else "J"
        figures.append(Figure(f"bars-{score}", title, MEANINGS[score], [bars], layout))
    return figures


def overlap_figure(methods: Sequence[str], shares: Array) -> Figure:
    """Draw how many features methods share."""
    names = [label(method) for method in methods]
    caption = "Share of the chosen features that two methods have in common."
    return Figure(
        "overlap", "Agreement", caption, [_heat(shares, names, names, (0, 1), "Viridis")], _square(len(names))
    )


MEANINGS = {
    "explained": "Share of the variance of the other features, predicted on samples held out; more is better.",
    "smoothness": "How much neighbouring samples agree; more is better.",
    "J": "log(1 − explained) − log(smoothness); less is better.",
    "redundancy": "Mean correlation of a chosen feature with the nearest other one; less is better.",
    "accuracy": "Clusters of k-means matched with the labels, which took no part in choosing; more is better.",
    "seconds": "Time of the fit.",
}
"""What each score tells, in words."""
