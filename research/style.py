"""One look for all figures: quiet axes, colours that colour-blind readers can distinguish, SVG and PNG files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tamis.extras import require

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
"""The palette of Okabe and Ito, the darkest first."""

MARKS = ("o", "s", "^", "D", "v", "P", "X")
METHOD_COLOURS = {
    "lscae": "#0072B2",
    "lscae-paper": "#56B4E9",
    "cae": "#E69F00",
    "concrete-laplacian": "#009E73",
    "random": "#777777",
}
METHOD_MARKS = {"lscae": "o", "lscae-paper": "v", "cae": "s", "concrete-laplacian": "^", "random": "x"}
METHOD_LABELS = {
    "lscae": "LS-CAE",
    "lscae-paper": "LS-CAE, paper to the letter",
    "cae": "CAE",
    "concrete-laplacian": "LS (concrete)",
    "random": "random",
}

WIDTH = 7.0
"""Inches; the width of a page's text, so that letters keep their size in print."""

RULES: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "svg.fonttype": "none",
    "svg.hashsalt": "tamis",
    "savefig.dpi": 160,
    "figure.facecolor": "white",
}


@contextmanager
def figure(path: Path, rows: int, columns: int, height: float, **options: Any) -> Iterator[Any]:
    """Open a new figure, yield its axes as a flat list, and save it as ``path`` with .svg and .png."""
    require("A figure", "matplotlib")
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    with plt.rc_context(RULES):
        drawing, axes = plt.subplots(
            rows, columns, figsize=(WIDTH, height), layout="constrained", squeeze=False, **options
        )
        try:
            yield axes.ravel().tolist()
            path.parent.mkdir(parents=True, exist_ok=True)
            drawing.savefig(path.with_suffix(".svg"), metadata={"Date": None})
            drawing.savefig(path.with_suffix(".png"))
        finally:
            plt.close(drawing)


def plain_axis(axis: Any) -> None:
    """Remove ticks, grid and frame, for pictures of pixels."""
    axis.set_xticks([])
    axis.set_yticks([])
    axis.grid(False)
    for spine in axis.spines.values():
        spine.set_visible(True)
        spine.set_color("#bbbbbb")


def not_run_yet(axis: Any) -> None:
    """Write into an empty panel that there are no rows for it."""
    plain_axis(axis)
    axis.text(0.5, 0.5, "not run yet", ha="center", va="center", transform=axis.transAxes)
