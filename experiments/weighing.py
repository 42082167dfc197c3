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

SEEDS, SIZES = range(100, 102), (25,)
DIGITS = ("digits", "noisy digits")
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
        return _on_digits(table, k, seed) if table in DIGITS else _on_planted(table, k, seed)


def _on_planted(table: str, k: int, seed: int) -> dict[str, Any]:
    planted = TABLES[table](seed)
    selector = LSCAE(k, random_state=seed, check_stability=False).fit(planted.X)
    return {"right": bool(planted.is_solved_by(selector.selected_))}


def _on_digits(table: str, k: int, seed: int) -> dict[str, Any]:
    images = noisy_digits(seed, quick=False, clean=table == "digits")
    chosen = LSCAE(k, random_state=seed, check_stability=False).fit(images.X).support_
    accuracies = kmeans_accuracies(
        images.X[:, chosen], images.labels, n_runs=5, random_state=0,
        X_test=images.X_test[:, chosen], labels_test=images.labels_test,
    )  # fmt: skip
    return {"accuracy": round(float(accuracies.mean()), 4), "selected": np.flatnonzero(chosen).tolist()}


def trials() -> list[dict[str, Any]]:
    """List the fits: planted tables with as many units as groups, and digits of both kinds."""
    groups = {table: len(set(make(0).groups.tolist()) - {-1}) for table, make in TABLES.items()}
    sized = [*groups.items(), *product(DIGITS, SIZES)]
    return [
        {"change": change, "table": table, "k": k, "seed": seed}
        for change, (table, k), seed in product(CHANGES, sized, SEEDS)
    ]


def page() -> None:
    """Show where selections lie on the digits, and list how often planted tables were solved and the accuracies."""
    rows = ledger.read("weighing")
    _draw(rows)
    sizes = list(product(DIGITS, SIZES))
    titles = ["", "planted tables solved", *(f"{kind}, k = {k}" for kind, k in sizes), "digits: in the upper half"]
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for change in CHANGES:
        own = [row for row in rows if row["trial"]["change"] == change]
        right = [row["right"] for row in own if "right" in row]
        cells = [change, f"{sum(right)} of {len(right)}", *(_accuracy(own, *size) for size in sizes), _upper(own)]
        lines.append(f"| {' | '.join(cells)} |")
    write_page("weighing", "\n".join(lines))


def _draw(rows: list[dict[str, Any]]) -> None:
    figure, axes = plt.subplots(1, len(CHANGES), figsize=(11, 2.4), layout="constrained")
    for axis, change in zip(axes, CHANGES, strict=True):
        image = np.zeros(784)
        for row in rows:
            if row["trial"]["change"] == change and (row["trial"]["table"], row["trial"]["k"]) == ("digits", SIZES[-1]):
                image[row["selected"]] += 1
        axis.imshow(image.reshape(28, 28), cmap="Blues", vmin=0, vmax=len(SEEDS))
        axis.axhline(13.5, color="#D55E00", lw=0.8)
        axis.set(xticks=[], yticks=[])
        axis.set_title("\n".join(wrap(change, 22)), fontsize=8)
    figure.savefig(NOTES / "weighing.png", dpi=130)


def _accuracy(rows: list[dict[str, Any]], table: str, k: int) -> str:
    values = [100 * r["accuracy"] for r in rows if (r["trial"]["table"], r["trial"]["k"]) == (table, k)]
    return ", ".join(f"{value:.1f}" for value in values)


def _upper(rows: list[dict[str, Any]]) -> str:
    places = [place for row in rows if row["trial"]["table"] == "digits" for place in row["selected"]]
    return f"{100 * np.mean(np.array(places) < 784 // 2):.0f} %"


def main() -> None:
    """Run what is missing and print the rows, or write the page."""
    if sys.argv[1:] == ["page"]:
        return page()
    for row in ledger.run("weighing", trials(), work):
        print(*row["trial"].values(), row.get("right", row.get("accuracy")), flush=True)


if __name__ == "__main__":
    main()
