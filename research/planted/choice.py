"""The picture of docs/which.md: ``python -m research.planted.choice`` draws it from the rows of the planted bench."""

from pathlib import Path
from statistics import fmean, median
from typing import Any

from research.ledger import Ledger
from research.planted import tables
from research.planted.bench import DOCS
from research.planted.fits import FOLDER
from research.planted.seeds import HALVES
from research.style import COLOURS, figure

PICTURE = DOCS / "images" / "choice"
OURS = ("lscae", "structure-pursuit")
BELOW = ("laplacian-score", "structure-pursuit")
"""Methods whose names are below their points, because others are above."""


def main(folder: Path = FOLDER, picture: Path = PICTURE) -> Path:
    """Draw the share of informative features that each method finds against its seconds, confirming seeds."""
    kept = {path.stem: tables.in_half(Ledger(path).rows(), HALVES[1]) for path in sorted(folder.glob("*.jsonl"))}
    with figure(picture, 1, 1, 3.2) as (axes,):
        for name, rows in kept.items():
            if len(tables.of_method(rows, name)) < max(map(len, kept.values())):
                continue  # Other tables would be compared.
            seconds, found = median(row["fit_seconds"] for row in rows), fmean(row["share_found"] for row in rows)
            _mark(axes, name, max(seconds, 1e-3), found)
        axes.set(xscale="log", xlabel="seconds a fit, median", ylabel="share of informative features found")
        axes.set(xlim=(5e-4, 5), ylim=(0, 1.08))
    return picture.with_suffix(".svg")


def _mark(axes: Any, name: str, seconds: float, found: float) -> None:
    colour = COLOURS[0] if name in OURS else "#777777"
    axes.plot(seconds, found, "o", color=colour, markersize=7)
    shift = (0, -13 if name in BELOW else 7)
    axes.annotate(name, (seconds, found), shift, textcoords="offset points", ha="center", color=colour)


if __name__ == "__main__":
    print(main())
