"""Accuracy against the number of selected features, a panel for each data set."""

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from research.pages import Rows, select_rows
from research.paper.experiment import values_of
from research.paper.experiments.data_statistics import described_name
from research.paper.printed import METHODS
from research.paper.sources import DATASETS
from research.style import COLOURS, MARKS, figure

COLUMNS = 3


def draw(rows: Rows, folder: Path) -> list[Path]:
    """Draw the methods of the paper; bands are the range over seeds."""
    path = folder / "table-results"
    there = values_of(rows, "data")
    data = [one.name for one in DATASETS if one.name in there] or there
    lines = ceil(len(data) / COLUMNS)
    with figure(path, lines, COLUMNS, 1.9 * lines + 0.5) as axes:
        for axis, name in zip(axes, data, strict=False):
            _panel(axis, select_rows(rows, data=name))
            axis.set_title(described_name(name))
        handles, labels = axes[0].get_legend_handles_labels()
        for axis in axes[len(data) :]:
            axis.set_axis_off()
        axes[0].figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        for axis in axes[max(0, len(data) - COLUMNS) : len(data)]:
            axis.set_xlabel("selected features k")
        for axis in axes[: len(data) : COLUMNS]:
            axis.set_ylabel("accuracy in percent")
    return [path.with_suffix(".png")]


def _panel(axis: Any, rows: Rows) -> None:
    order = ["LS-CAE", *(label for label in METHODS if label != "LS-CAE")]
    for number, label in enumerate(order):
        found = select_rows(rows, method=METHODS[label])
        sizes = values_of(found, "k")
        groups = [[100 * row["accuracy"] for row in select_rows(found, k=k)] for k in sizes]
        if not groups:
            continue
        colour = COLOURS[number]
        axis.fill_between(sizes, [min(g) for g in groups], [max(g) for g in groups], color=colour, alpha=0.15, lw=0)
        means = [np.mean(g) for g in groups]
        axis.plot(sizes, means, color=colour, marker=MARKS[number], markersize=3, linewidth=1, label=label)
