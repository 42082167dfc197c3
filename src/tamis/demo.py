"""A first look at tamis: ``python -m tamis.demo`` picks two moons out of nuisance and copied features."""

from pathlib import Path
from typing import Any

import numpy as np

from tamis.extras import require
from tamis.synthetic import PlantedTable, moons_with_copies

OUTPUT = Path("demo-output")


def main(output: Path = OUTPUT) -> Path:
    """Fit LSCAE with its defaults on the built-in table, print what it chose, and draw it."""
    require("The demo", "rich", "matplotlib", "jinja2", "plotly")
    from rich.console import Console

    from tamis import LSCAE, ProgressBar

    console = Console()
    table = moons_with_copies(6, seed=0)
    console.print(
        f"A table of {table.X.shape[0]} rows and {table.X.shape[1]} features: two moons, a noisy copy of both "
        "coordinates, six nuisance features and their copies. Which two features carry its structure?"
    )
    with ProgressBar(console) as bar:
        selector = LSCAE(n_features_to_select=2, callbacks=bar, random_state=0).fit(table.X)
    console.print(_chosen(selector, table))
    console.print(str(selector.verdict_))
    path = draw(selector, table, output)
    names = ", ".join(table.names[column] for column in selector.selected_)
    console.print(f"Chosen features: [bold]{names}[/bold]\nPicture: {path}", soft_wrap=True)
    console.print(f"Page: {report(selector, table, output)}", soft_wrap=True)
    return path


def report(selector: Any, table: PlantedTable, output: Path) -> Path:
    """Write the page that ``tamis select`` would write."""
    from tamis.io.readers import Table
    from tamis.report import analyse, write_report

    read = Table(table.X, np.array(table.names, dtype=object), y=table.labels)
    analysis = analyse(selector, read, selector.structure_)
    return write_report(output / "report.html", selector, read, analysis, selector.verdict_, title="Two moons")


def _chosen(selector: Any, table: PlantedTable) -> Any:
    from rich.table import Table

    printed = Table(title="Chosen features")
    for heading in ("rank", "feature", "selection probability"):
        printed.add_column(heading)
    for rank, column in enumerate(selector.selected_, start=1):
        printed.add_row(str(rank), table.names[column], f"{selector.scores_[column]:.2f}")
    return printed


def draw(selector: Any, table: PlantedTable, output: Path) -> Path:
    """Draw the rows on the chosen features, on two others, and the training curve."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    _scatter(axes[0], table, selector.selected_, "chosen by tamis")
    _scatter(axes[1], table, np.argsort(selector.ranking_)[-2:], "ranked last")
    history = selector.history_
    axes[2].plot(history["epoch"], history["objective"], color="#0072B2")
    axes[2].set(title="training", xlabel="epoch", ylabel="objective J (smaller is better)")
    output.mkdir(parents=True, exist_ok=True)
    path = output / "two-moons.png"
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return path


def _scatter(axis: Any, table: PlantedTable, columns: Any, title: str) -> None:
    first, second = columns
    colours = np.where(table.labels == 0, "#0072B2", "#E69F00")
    axis.scatter(table.X[:, first], table.X[:, second], s=4, c=colours, linewidths=0)
    axis.set(title=title, xlabel=table.names[first], ylabel=table.names[second])


if __name__ == "__main__":
    main()
