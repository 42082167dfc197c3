"""The pages themselves: templates filled in, with Plotly inside, written in one piece."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from pkgutil import get_data
from typing import Any, NamedTuple

import numpy as np

from tamis._version import __version__
from tamis.columns import summarise_columns
from tamis.extras import require
from tamis.io.files import write_text
from tamis.io.readers.report import LEFT_OUT, ReadReport, listed, merged
from tamis.io.readers.table import Table
from tamis.report import plots
from tamis.report.analysis import Analysis, rows
from tamis.verdict import Verdict

MAX_BYTES = 5_900_000
ROW_LIMITS = (1500, 500, 100, 10)
UNTOLD = ("callbacks", "must_keep", "never")
MAX_GENES, MAX_MISSED = 1500, 30
SHARED = 200
"""So many features are laid side by side in a comparison of lists."""


def write_report(
    path: str | Path, selector: Any, table: Table, analysis: Analysis, verdict: Verdict, *,
    title: str = "Selected features", steps: Sequence[tuple[str, str]] = (),
    image_shape: tuple[int, int] | None = None,
) -> Path:  # fmt: skip
    """Write the page of a selection, and return its path.

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
    steps : sequence of (str, str)
        What to do next: a sentence, and a command or an empty string.
    image_shape : (int, int), optional
        Height and width, if the features are the pixels of images.
    """
    parameters = {name: repr(value) for name, value in selector.get_params(False).items() if name not in UNTOLD}
    values: dict[str, Any] = {"method": type(selector).__name__, "parameters": parameters, "a": analysis}
    values |= {"n_samples": table.shape[0], "read": table.report, "findings": finding_rows(table.report)}
    values |= {"verdict": verdict, "steps": steps, "meanings": plots.MEANINGS}
    values["details"] = [figure for figure in [plots.training_figure(selector)] if figure]
    figures = [plots.map_figure(analysis), *plots.sample_figures(analysis, table.y), plots.prediction_figure(analysis)]
    if image_shape:
        mean = summarise_columns(table.X).mean
        figures[:0] = plots.pixel_figures(selector.selected_, analysis, mean, image_shape)
    for limit in ROW_LIMITS:
        # Names may be of any length; the page is to stay small enough to be sent.
        page = render("selection.html", figures, title=title, rows=rows(analysis, limit), **values)
        if len(page.encode()) <= MAX_BYTES:
            break
    return write_text(path, page)


def finding_rows(report: ReadReport) -> list[tuple[str, str, str]]:
    """Return what was noticed, left out and assumed: the kind, a phrase, and the option that changes it."""
    found = []
    for finding in sorted(merged(report.findings), key=lambda one: one.kind, reverse=True):
        names = listed(finding.features)
        text = f"{names}: {finding.text}" if finding.kind == LEFT_OUT else finding.text + f" in {names}" * bool(names)
        found.append((finding.kind, text, finding.option))
    return found


class Entry(NamedTuple):
    """One of several lists: its name, size and features, its scores, those of random lists, and the fit's seconds."""

    name: str
    method: str
    k: int
    seed: int
    selected: list[str]
    scores: dict[str, float]
    random: dict[str, float]
    seconds: float | None


def write_comparison(
    path: str | Path, entries: Sequence[Entry], *, title: str, lead: str, read: ReadReport, start: int | None = None
) -> Path:
    """Write the page of several lists: of several sizes with a slider, or of several methods side by side.

    The lead is what follows, in one sentence; the slider starts at a size, and None lays methods side by side.
    """
    sizes = [entry.k for entry in entries]
    x = [entry.name for entry in entries] if start is None else sizes
    figures = plots.score_figures(x, entries)
    counts = Counter(name for entry in entries for name in entry.selected)
    shared = [name for name, _ in counts.most_common(SHARED)]
    values: dict[str, Any] = {"entries": entries, "title": title, "lead": lead, "meanings": plots.MEANINGS}
    values |= {"shared": shared, "n_shared": len(counts), "counts": counts}
    values |= {"read": read, "findings": finding_rows(read)}
    place = None if start is None else int(np.argmin(np.abs(np.array(sizes) - start)))
    return write_text(path, render("comparison.html", figures, place=place, **values))


def render(template: str, figures: Sequence[plots.Figure | None], details: Sequence[Any] = (), **values: Any) -> str:
    """Return the page of a template, with its figures, those of the details apart."""
    require("A page", "jinja2", "plotly")
    drawn = [figure for figure in figures if figure]
    data = {figure.name: {"data": figure.data, "layout": figure.layout} for figure in [*drawn, *details]}
    values |= {"figures": drawn, "details": details, "figure_data": data, "version": __version__}
    values |= {"style": _resource("page.css"), "script": _resource("page.js"), "plotly": plotly_script()}
    return str(_environment().get_template(template).render(**values))


def plotly_script() -> str:
    """Return Plotly's JavaScript, as its Python package brings it."""
    script = get_data("plotly", "package_data/plotly.min.js") or b""
    return script.decode().replace("</script", "<\\/script")


def _resource(name: str) -> str:
    return (get_data("tamis.report", name) or b"").decode()


def _environment() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    blocks: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(loader=FunctionLoader(_resource), autoescape=True, undefined=StrictUndefined, **blocks)
    environment.filters["number"] = lambda x, n=3: "–" if x is None or not math.isfinite(x) else f"{x:.{n}g}"
    environment.filters["percent"] = lambda x: f"{x:.0%}" if math.isfinite(x) else "–"
    return environment


def write_panel(path: str | Path, genes: Any, programmes: Any, *, title: str) -> Path:
    """Write the page of a panel, and return its path.

    The genes are those of ``tamis.select_genes(..., inplace=False)``, with a row of ``programme_table`` per programme.
    """
    plain = genes.rename(columns=lambda name: name.removeprefix("tamis_")).reset_index(names="name")
    ranked = plain.sort_values("rank")
    structured = ranked[ranked["structured"]]
    lost = structured["score"] - structured["explained"].clip(upper=structured["score"])
    missed = ranked.loc[lost[lost > 0.1].sort_values(ascending=False).index[:MAX_MISSED]]
    covered = float(1 - lost.sum() / max(structured["score"].sum(), 1e-12))
    values: dict[str, Any] = {"title": title, "n_genes": len(genes), "k": int(genes["tamis_selected"].sum())}
    values |= {"rows": ranked[:MAX_GENES].to_dict("records"), "missed": missed.to_dict("records"), "covered": covered}
    values |= {"programmes": programmes.reset_index(names="name").to_dict("records")}
    values["others"] = ranked["name"][ranked["selected"] & (ranked["programme"].astype(str) == "")].tolist()
    values |= {"notes": genes.attrs, "read": {"n_rows": 0}}
    return write_text(path, render("panel.html", [plots.coverage_figure(programmes)] * bool(len(programmes)), **values))
