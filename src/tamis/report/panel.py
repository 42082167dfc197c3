"""The page of a gene panel: programmes, their genes, how much of each is covered, and what the panel misses."""

from pathlib import Path
from typing import Any

from tamis.io.files import write_text
from tamis.report.page import render
from tamis.report.plots import CHOSEN, Figure, axes, label, rounded

MAX_ROWS, MAX_MISSED = 1500, 30


def write_panel(path: str | Path, genes: Any, programmes: Any, *, title: str) -> Path:
    """Write the page of a panel, and return its path.

    The genes are those of ``tamis.select_genes(..., inplace=False)``, with a row of ``programme_table`` per programme.
    """
    ranked = genes.sort_values("tamis_rank")
    structured = ranked[ranked["tamis_structured"]]
    lost = structured["tamis_score"] - structured["tamis_explained"].clip(upper=structured["tamis_score"])
    missed = lost[lost > 0.1].sort_values(ascending=False).index[:MAX_MISSED]
    covered = float(1 - lost.sum() / max(structured["tamis_score"].sum(), 1e-12))
    values: dict[str, Any] = {
        "title": title,
        "rows": _records(ranked[:MAX_ROWS]),
        "missed": _records(ranked.loc[missed]),
    }
    values |= {"programmes": programmes.reset_index(names="name").to_dict("records"), "covered": covered}
    values |= {"n_genes": len(genes), "k": int(genes["tamis_selected"].sum())}
    values |= {"notes": genes.attrs, "read": {"n_rows": 0}}
    return write_text(path, render("panel.html", [coverage_figure(programmes)], **values))


def _records(table: Any) -> list[dict[str, Any]]:
    """Return a record per gene, its columns without their prefix."""
    plain = table.rename(columns=lambda name: name.removeprefix("tamis_"))
    return list(plain.reset_index(names="name").to_dict("records"))


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
