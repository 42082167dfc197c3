"""Pages of docs/design-notes: hand-written words around a table and a plot that a command makes."""

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("agg")
from matplotlib import pyplot as plt

NOTES = Path(__file__).parent.parent / "docs" / "design-notes"
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"]
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def bar_chart(shares: dict[str, dict[str, list[float]]], label: str, name: str) -> None:
    """Draw a group of horizontal bars for every entry, one bar for every series, means of the values."""
    series = list(next(iter(shares.values())))
    figure, axis = plt.subplots(figsize=(8, 0.42 * len(shares) + 1.2), layout="constrained")
    places = np.arange(len(shares))
    height = 0.8 / len(series)
    for number, one in enumerate(series):
        means = [np.mean(entry[one]) for entry in shares.values()]
        axis.barh(places + number * height, means, height, label=one, color=COLOURS[number])
    axis.set_yticks(places + 0.4 - height / 2, list(shares))
    axis.margins(y=0.02)
    axis.invert_yaxis()
    axis.set(xlabel=label, xlim=(0, 1))
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(NOTES / name, dpi=130)
    plt.close(figure)


def write_page(name: str, table: str) -> None:
    """Put the table between the marks of a page, leaving the words around them alone."""
    path = NOTES / f"{name}.md"
    text = path.read_text()
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    path.write_text(f"{text[:start]}\n{table}\n{text[end:]}")
