"""How columns are weighed, admitted and judged: on planted tables and on digits, one rule changed at a time.

Run: python -m experiments.weighing          (does what is missing; TAMIS_DATA names the folder that holds MNIST)
     python -m experiments.weighing page      (writes docs/design-notes/weighing.md and its plot)
"""

import sys
from contextlib import ExitStack
from itertools import product
from textwrap import wrap
from typing import Any
from unittest.mock import patch

import numpy as np
from matplotlib import pyplot as plt

from experiments import ledger
from experiments.pages import NOTES, write_page
from experiments.recovery import TABLES
from tamis import LSCAE
from tamis.metrics import kmeans_accuracies
from tamis.neural import judge, polish, screening, structure
from tamis.paper.noisy_digits import noisy_digits

SEEDS, PIXELS = range(100, 102), 25
DIGITS = "digits"
DEFAULTS = "the defaults"

CHANGES: dict[str, list[tuple[Any, str, float]]] = {
    DEFAULTS: [],
    "weights in proportion to structure": [(structure, "POWER", 1.0)],
    "weights its fourth root": [(structure, "POWER", 0.25)],
    "three rows of all samples together": [(screening, "FEWEST_ROWS", 3 / judge.SAMPLES)],
    "the graph alone judges": [(polish, "LINEAR_UP_TO", 0)],
    "all three, the former defaults": [
        (structure, "POWER", 1.0),
        (screening, "FEWEST_ROWS", 3 / judge.SAMPLES),
        (polish, "LINEAR_UP_TO", 0),
    ],
}


def work(change: str, table: str, k: int, seed: int) -> dict[str, Any]:
    """Fit once, and compare with the planted answer or look where on the digits the selection lies."""
    with ExitStack() as changed:
        for module, name, value in CHANGES[change]:
            changed.enter_context(patch.object(module, name, value))
        return _on_digits(k, seed) if table == DIGITS else _on_planted(table, k, seed)


def _on_planted(table: str, k: int, seed: int) -> dict[str, Any]:
    planted = TABLES[table](seed)
    selector = LSCAE(k, random_state=seed, check_stability=False).fit(planted.X)
    return {"right": bool(planted.is_solved_by(selector.selected_))}


def _on_digits(k: int, seed: int) -> dict[str, Any]:
    images = noisy_digits(0, quick=False, clean=True)
    chosen = LSCAE(k, random_state=seed, check_stability=False).fit(images.X).support_
    accuracies = kmeans_accuracies(
        images.X[:, chosen], images.labels, n_runs=5, random_state=0,
        X_test=images.X_test[:, chosen], labels_test=images.labels_test,
    )  # fmt: skip
    return {"accuracy": round(float(accuracies.mean()), 4), "selected": np.flatnonzero(chosen).tolist()}


def trials() -> list[dict[str, Any]]:
    """List the fits: planted tables with as many units as groups, and digits."""
    groups = {table: len(set(make(0).groups.tolist()) - {-1}) for table, make in TABLES.items()}
    sized = [*groups.items(), (DIGITS, PIXELS)]
    return [
        {"change": change, "table": table, "k": k, "seed": seed}
        for change, (table, k), seed in product(CHANGES, sized, SEEDS)
    ]


def page() -> None:
    """Show where selections lie on the digits, and list how often planted tables were solved and the accuracies."""
    rows = ledger.read("weighing")
    _draw(rows)
    titles = ["", "planted tables solved", f"digits, k = {PIXELS}: in the upper half", "their accuracy in percent"]
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for change in CHANGES:
        own = [row for row in rows if row["trial"]["change"] == change]
        right = [row["right"] for row in own if "right" in row]
        cells = [change, f"{sum(right)} of {len(right)}", _upper(own), _accuracy(own)]
        lines.append(f"| {' | '.join(cells)} |")
    write_page("weighing", "\n".join(lines))


def _draw(rows: list[dict[str, Any]]) -> None:
    figure, axes = plt.subplots(1, len(CHANGES), figsize=(11, 2.5), layout="constrained")
    for axis, change in zip(axes, CHANGES, strict=True):
        image = np.zeros(784)
        for row in rows:
            if (row["trial"]["change"], row["trial"]["table"]) == (change, DIGITS):
                image[row["selected"]] += 1
        axis.imshow(image.reshape(28, 28), cmap="Blues", vmin=0, vmax=len(SEEDS))
        axis.axhline(13.5, color="#D55E00", lw=0.8)
        axis.set(xticks=[], yticks=[])
        axis.set_title("\n".join(wrap(change, 22)), fontsize=8)
    figure.savefig(NOTES / "weighing.png", dpi=130)


def _accuracy(rows: list[dict[str, Any]]) -> str:
    return ", ".join(f"{100 * row['accuracy']:.1f}" for row in rows if "accuracy" in row)


def _upper(rows: list[dict[str, Any]]) -> str:
    places = [place for row in rows if row["trial"]["table"] == DIGITS for place in row["selected"]]
    return f"{100 * np.mean(np.array(places) < 784 // 2):.0f} %"


def main() -> None:
    """Run what is missing and print the rows, or write the page."""
    if sys.argv[1:] == ["page"]:
        return page()
    for row in ledger.run("weighing", trials(), work):
        print(*row["trial"].values(), row.get("right", row.get("accuracy")), flush=True)


if __name__ == "__main__":
    main()
