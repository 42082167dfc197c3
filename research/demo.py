"""A first look at tamis: ``python -m research.demo`` picks two moons out of nuisance and copied features."""

from pathlib import Path

import numpy as np
from rich.console import Console

from tamis import LSCAE, ProgressBar
from tamis.io.readers import Table
from tamis.report import analyse, write_report
from tamis.synthetic import moons_with_copies

OUTPUT = Path("demo-output")


def main(output: Path = OUTPUT) -> Path:
    """Fit LSCAE with its defaults on the built-in table, print what it chose, and write a page."""
    console = Console()
    made = moons_with_copies(6, seed=0)
    console.print(
        f"A table of {made.X.shape[0]} rows and {made.X.shape[1]} features: two moons, a noisy copy of both "
        "coordinates, six nuisance features and their copies. Which two features carry its structure?"
    )
    with ProgressBar(console) as bar:
        selector = LSCAE(n_features_to_select=2, callbacks=bar, random_state=0).fit(made.X)
    console.print(str(selector.verdict_))
    table = Table(made.X, np.array(made.names, dtype=object), y=made.labels)
    analysis = analyse(selector, table, selector.structure_)
    output.mkdir(parents=True, exist_ok=True)
    page = write_report(output / "report.html", selector, table, analysis, selector.verdict_, title="Two moons")
    names = ", ".join(made.names[feature] for feature in selector.selected_)
    console.print(f"Chosen features: [bold]{names}[/bold]\nPage: {page}", soft_wrap=True)
    return page


if __name__ == "__main__":
    main()
