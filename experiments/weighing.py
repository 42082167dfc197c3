"""How columns are weighed, admitted and judged: on planted tables and on digits, one rule changed at a time.

Run: python -m experiments.weighing          (does what is missing; TAMIS_DATA names the folder that holds MNIST)
     python -m experiments.weighing page      (writes docs/design-notes/weighing.md and its plot)
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
from tamis.neural import judge, polish, preparation, screening, structure
from tamis.paper.noisy_digits import noisy_digits

SEEDS, PIXELS = range(100, 102), (15, 25)
DIGITS = "digits"
DEFAULTS = "the defaults"

CHANGES: dict[str, list[tuple[Any, str, float]]] = {
    DEFAULTS: [],
    "weights in proportion to structure": [(structure, "POWER", 1.0)],
    "weights its fourth root": [(structure, "POWER", 0.25)],
    "three rows of all samples together": [(screening, "FEWEST_ROWS", 3 / judge.SAMPLES)],
    "the graph alone judges": [(polish, "LINEAR_UP_TO", 0)],
    "screening never taken back": [(preparation, "MOST_CANDIDATES", 0)],
    "screening always taken back": [(preparation, "CLEAR", 0.0)],
    "the former defaults": [
        (structure, "POWER", 1.0),
        (screening, "FEWEST_ROWS", 3 / judge.SAMPLES),
        (polish, "LINEAR_UP_TO", 0),
        (preparation, "MOST_CANDIDATES", 0),
    ],
}


def work(change: str, table: str, k: int, seed: int) -> dict[str, Any]:
    """Fit once, and compare with the planted answer or look where on the digits the selection lies."""
    with ExitStack() as changed:
        for module, name, value in CHANGES[change]:
            changed.enter_context(patch.object(module, name, value))
        clearness = changed.enter_context(_noted(preparation, "clearness"))
        found = _on_digits(k, seed) if table == DIGITS else _on_planted(table, k, seed)
    return found | {"clearness": [round(value, 5) for value in clearness]}


@contextmanager
def _noted(module: Any, name: str) -> Iterator[list[float]]:
    """Note what a function gives while the context lasts."""
    values: list[float] = []
    function = getattr(module, name)

    def noting(*arguments: Any) -> float:
        values.append(function(*arguments))
        return values[-1]

    with patch.object(module, name, noting):
        yield values


def _on_planted(table: str, k: int, seed: int) -> dict[str, Any]:
    planted = TABLES[table](seed)
    selector = LSCAE(k, random_state=seed, check_stability=False).fit(planted.X)
    return {"right": bool(planted.is_solved_by(selector.selected_))}


def _on_digits(k: int, seed: int) -> dict[str, Any]:
    images = noisy_digits(0, quick=False, clean=True)
    chosen = LSCAE(k, random_state=seed, check_stability=False).fit(images.X).support_
    accuracies = kmeans_accuracies(
        images.X[:, chosen], images.labels, n_runs=20, random_state=0,
        X_test=images.X_test[:, chosen], labels_test=images.labels_test,
    )  # fmt: skip
    return {"accuracy": round(float(accuracies.mean()), 4), "selected": np.flatnonzero(chosen).tolist()}


def trials() -> list[dict[str, Any]]:
    """List the fits: planted tables with as many units as groups, and digits."""
    groups = {table: len(set(make(0).groups.tolist()) - {-1}) for table, make in TABLES.items()}
    sized = [*groups.items(), *((DIGITS, k) for k in PIXELS)]
    return [
        {"change": change, "table": table, "k": k, "seed": seed}
        for change, (table, k), seed in product(CHANGES, sized, SEEDS)
    ]


def page() -> None:
    """Show where selections lie on the digits, and list how often planted tables were solved and the accuracies."""
    rows = ledger.read("weighing")
    _draw(rows)
    titles = ["", "planted tables solved"]
    titles += [f"digits, k = {k}: {what}" for k in PIXELS for what in ("in the upper half", "accuracy in percent")]
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for change in CHANGES:
        own = [row for row in rows if row["trial"]["change"] == change]
        right = [row["right"] for row in own if "right" in row]
        cells = [change, f"{sum(right)} of {len(right)}"]
        cells += [cell for k in PIXELS for cell in _cells(_digits(own, k))]
        lines.append(f"| {' | '.join(cells)} |")
    write_page("weighing", "\n".join([*lines, "", *_clearness_table(rows)]))


def _clearness_table(rows: list[dict[str, Any]]) -> list[str]:
    """List how clear structure is on the wider graph, as a share of what it is on the narrower one."""
    lines = ["| table | structure on up to 256 candidates / on 8 a unit, by seed | come back |", "|---|---|---|"]
    kinds = dict.fromkeys((row["trial"]["table"], row["trial"]["k"]) for row in rows if row["clearness"])
    for table, k in kinds:
        own = [row for row in rows if [row["trial"][n] for n in ("change", "table", "k")] == [DEFAULTS, table, k]]
        shares = [wide / narrow for wide, narrow in (row["clearness"] for row in own)]
        name = f"{table}, k = {k}" if table == DIGITS else table
        back = f"{sum(share >= preparation.CLEAR for share in shares)} of {len(shares)}"
        lines.append(f"| {name} | {', '.join(f'{share:.2f}' for share in shares)} | {back} |")
    return lines


def _digits(rows: list[dict[str, Any]], k: int) -> list[dict[str, Any]]:
    return [row for row in rows if (row["trial"]["table"], row["trial"]["k"]) == (DIGITS, k)]


def _cells(rows: list[dict[str, Any]]) -> list[str]:
    places = np.concatenate([row["selected"] for row in rows])
    accuracies = ", ".join(f"{100 * row['accuracy']:.1f}" for row in rows)
    return [f"{100 * np.mean(places < 784 // 2):.0f} %", accuracies]


def _draw(rows: list[dict[str, Any]]) -> None:
    figure, axes = plt.subplots(len(PIXELS), len(CHANGES), figsize=(12, 3.6), layout="constrained")
    for (k, change), axis in zip(product(PIXELS, CHANGES), axes.flat, strict=True):
        image = np.zeros(784)
        for row in _digits(rows, k):
            if row["trial"]["change"] == change:
                image[row["selected"]] += 1
        axis.imshow(image.reshape(28, 28), cmap="Blues", vmin=0, vmax=len(SEEDS))
        axis.axhline(13.5, color="#D55E00", lw=0.8)
        axis.set(xticks=[], yticks=[])
        if k == PIXELS[0]:
            axis.set_title("\n".join(wrap(change, 18)), fontsize=8)
        if change == DEFAULTS:
            axis.set_ylabel(f"k = {k}", fontsize=9)
    figure.savefig(NOTES / "weighing.png", dpi=130)


def main() -> None:
    """Run what is missing and print the rows, or write the page."""
    if sys.argv[1:] == ["page"]:
        return page()
    for row in ledger.run("weighing", trials(), work):
        print(*row["trial"].values(), row.get("right", row.get("accuracy")), flush=True)


if __name__ == "__main__":
    main()
