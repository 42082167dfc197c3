"""The page itself: the template filled in, with Plotly inside, written in one piece."""

import json
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from tamis._version import __version__
from tamis.columns import summarise_columns
from tamis.extras import require
from tamis.io.files import write_text
from tamis.io.readers.table import Table
from tamis.report import plots
from tamis.report.analysis import Analysis
from tamis.report.table import rows
from tamis.verdict import Verdict

MOST_BYTES = 5_900_000
ROW_LIMITS = (1500, 500, 100, 10)


def write_report(
    path: str | Path,
    selector: Any,
    table: Table,
    analysis: Analysis,
    verdict: Verdict,
    *,
    title: str = "",
    image_shape: tuple[int, int] | None = None,
) -> Path:
    """Write the page of a selection.

    Parameters
    ----------
    path : str or Path
        Where to; one HTML file that needs nothing else.
    selector : FeatureSelector
        Fitted.
    table : Table
        The data it was fitted on; only bounded extracts get into the page.
    analysis, verdict : Analysis, Verdict
        From :func:`analyse`, and what may be trusted.
    title : str
        What the data are called.
    image_shape : (int, int), optional
        Height and width, if the features are the pixels of images.

    Returns
    -------
    Path
        The path.
    """
    figures = _figures(selector, analysis, table, image_shape)
    for limit in ROW_LIMITS:
        # Names may be of any length; the page is to stay small enough to be sent.
        page = _selection_page(selector, table, analysis, verdict, figures, limit, title)
        if len(page.encode()) <= MOST_BYTES:
            break
    return write_text(path, page)


def _selection_page(
    selector: Any,
    table: Table,
    analysis: Analysis,
    verdict: Verdict,
    figures: list[plots.Figure],
    limit: int,
    title: str,
) -> str:
    listed = rows(selector, analysis, table.feature_names.tolist(), limit)
    return _render(
        "page.html",
        figures,
        title=title or "Selected features",
        method=type(selector).__name__,
        shape=table.shape,
        chosen=[row for row in listed if row.chosen],
        k=len(selector.selected_),
        verdict=verdict,
        scores=analysis.scores,
        random={score: analysis.random_mean(score) for score in analysis.scores},
        sampled=None if len(analysis.sample.rows) == table.shape[0] else len(analysis.sample.rows),
        rows=listed,
        left_out=max(0, table.shape[1] - limit),
        parameters=_parameters(selector),
    )


def write_scores(
    path: str | Path,
    figures: list[plots.Figure],
    headings: Sequence[str],
    cells: Sequence[Sequence[str]],
    *,
    title: str,
    lead: str,
) -> Path:
    """Write a page of plots and one table of scores, for several selections side by side."""
    return write_text(path, _render("scores.html", figures, headings=headings, rows=cells, title=title, lead=lead))


def _render(template: str, figures: list[plots.Figure], **values: Any) -> str:
    require("A page", "jinja2", "plotly")
    return (
        _environment()
        .get_template(template)
        .render(
            **values,
            figures=figures,
            figure_data=_json({figure.name: {"data": figure.data, "layout": figure.layout} for figure in figures}),
            version=__version__,
            style=_resource("page.css"),
            script=_resource("page.js"),
            plotly=plotly_script(),
        )
    )


def _figures(
    selector: Any, analysis: Analysis, table: Table, image_shape: tuple[int, int] | None
) -> list[plots.Figure]:
    names: Sequence[str] = table.feature_names.tolist()
    found = [
        *(_pixels(selector, analysis, table, image_shape) if image_shape else []),
        *plots.sample_figures(analysis, table.y),
        plots.score_figure(selector, names),
        plots.error_figure(analysis),
        plots.correlation_figure(analysis, names),
        plots.probability_figure(selector, names),
        *plots.training_figures(selector),
    ]
    return [figure for figure in found if figure is not None]


def _pixels(selector: Any, analysis: Analysis, table: Table, shape: tuple[int, int]) -> list[plots.Figure]:
    mean = summarise_columns(table.X).mean
    return plots.pixel_figures(selector, analysis, mean, shape, table.feature_names.tolist())


def _parameters(selector: Any) -> dict[str, str]:
    skipped = ("callbacks", "must_keep", "never")
    return {name: repr(value) for name, value in selector.get_params(deep=False).items() if name not in skipped}


def _json(value: Any) -> Any:
    """Give JSON that may stand inside a script element: no character of it can end the element."""
    from markupsafe import Markup

    text = json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain)
    for sign in "<>&'":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in a page.")


@cache
def plotly_script() -> Any:
    """Give Plotly's JavaScript, as its Python package brings it."""
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs().replace("</script", "<\\/script"))


def _resource(name: str) -> Any:
    from markupsafe import Markup

    return Markup((files("tamis.report") / name).read_text(encoding="utf-8"))


@cache
def _environment() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    loader = FunctionLoader(lambda name: (files("tamis.report") / name).read_text(encoding="utf-8"))
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["number"] = _number
    environment.filters["percent"] = lambda value: f"{100 * max(0.0, value):.0f}%"
    return environment


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"
