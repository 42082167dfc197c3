"""The six panels of the two-moons figure."""

from pathlib import Path
from typing import Any

import numpy as np

from research.pages import Rows, select_rows
from research.paper.experiment import values_of
from research.style import COLOURS, figure, not_run_yet


def draw(rows: Rows, folder: Path) -> list[Path]:
    """Draw the moons, the two eigenvalues, the eigenvectors, PCA, and the clusters after selection."""
    path = folder / "fig-twomoons"
    graph = select_rows(rows, kind="graph")
    with figure(path, 3, 2, 7.6) as axes:
        _moons(axes[0], rows[0]["trial"])
        _curve(axes[1], graph, "eigenvalue", "second eigenvalue of D⁻¹W")
        _curve(axes[2], graph, "connectivity", "second eigenvalue of D − W")
        _entries(axes[3], [row for row in graph if "entries" in row])
        for row in [row for row in select_rows(rows, kind="pca") if "x" in row]:
            _scatter(axes[4], row["x"], row["y"], row["labels"])
            title = f"PCA with {row['trial']['nuisance']} nuisance features"
            axes[4].set(xlabel="first direction", ylabel="second direction", title=title)
        _selected(axes[5], [row for row in select_rows(rows, kind="select") if "clusters" in row])
    return [path.with_suffix(".png")]


def _moons(axis: Any, trial: dict[str, Any]) -> None:
    from research.synthetic import moons_with_uniform

    planted = moons_with_uniform(0, 0, n_samples=trial["n"])
    _scatter(axis, planted.X[:, 0], planted.X[:, 1], "".join(map(str, planted.labels)))
    axis.set(xlabel="moon_x", ylabel="moon_y", title="two moons")


def _scatter(axis: Any, x: Any, y: Any, labels: str) -> None:
    colours = [COLOURS[int(label)] for label in labels]
    axis.scatter(x, y, s=4, c=colours, linewidths=0, rasterized=True)


def _curve(axis: Any, rows: Rows, name: str, title: str) -> None:
    """Draw mean and range over the seeds."""
    sizes = values_of(rows, "nuisance")
    values = [[row[name] for row in select_rows(rows, nuisance=size)] for size in sizes]
    axis.fill_between(
        sizes, [min(v) for v in values], [max(v) for v in values], color=COLOURS[0], alpha=0.2, linewidth=0
    )
    axis.plot(sizes, [np.mean(v) for v in values], "o-", color=COLOURS[0])
    axis.set(xlabel="nuisance features", title=title)


def _entries(axis: Any, rows: Rows) -> None:
    """Draw the entries of the eigenvector by cluster, one group of two stripes for each number of features."""
    rng = np.random.default_rng(0)
    ordered = sorted(rows, key=lambda row: row["trial"]["nuisance"])
    for place, row in enumerate(ordered):
        labels = np.array([int(label) for label in row["labels"]])
        entries = np.array(row["entries"])
        spread = place + 0.22 * (2 * labels - 1) + 0.15 * (rng.random(len(labels)) - 0.5)
        _scatter(axis, spread, entries / np.abs(entries).max(), row["labels"])
    axis.set_xticks(range(len(ordered)), [str(row["trial"]["nuisance"]) for row in ordered])
    axis.set(xlabel="nuisance features", title="entries of ψ₂, by cluster", ylabel="entry / largest")
    axis.grid(False, axis="x")


def _selected(axis: Any, rows: Rows) -> None:
    for row in rows:
        _scatter(axis, row["x"], row["y"], row["clusters"])
        title = f"LS-CAE's features, clustered by\n{row['clustered_by']}"
        axis.set(xlabel=row["names"][0], ylabel=row["names"][1], title=title)
    if not rows:
        not_run_yet(axis)
