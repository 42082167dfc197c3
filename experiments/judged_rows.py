"""On how many rows a selection must be judged: samples of 512 rows of noisy digits, and J in rows that were not seen.

Run: python -m experiments.judged_rows          (does what is missing; TAMIS_DATA names the folder that holds MNIST)
     python -m experiments.judged_rows page      (writes docs/design-notes/judged-rows.md and its plot)
"""

import sys
import time
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from matplotlib import pyplot as plt

from experiments import ledger
from experiments.pages import COLOURS, NOTES, write_page
from tamis import LSCAE
from tamis.metrics import kmeans_accuracies
from tamis.neural import judge, restarts
from tamis.neural.batching import sample_batches
from tamis.neural.judge import Judge
from tamis.neural.objective import Sample
from tamis.neural.polish import objectives
from tamis.paper.noisy_digits import noisy_digits

SEEDS, SIZES, SAMPLES = range(3), (5, 15, 25), (1, 2, 4, 8)
UNSEEN = 12
"""So many further samples tell J elsewhere."""


class Remembered(Judge):
    """A judge that draws, beside its samples, some that it does not look at."""

    def __init__(
        self, rows: Any, objective: Any, batch_size: int, n_features: int, targets: Any, weights: Any, source: Any
    ):
        super().__init__(rows, objective, batch_size, n_features, targets, weights, source)
        drawn = sample_batches(rows, judge.ROWS, torch.Generator().manual_seed(999), UNSEEN)
        Remembered.elsewhere = [Sample.of(x, targets, weights) for x in drawn]
        Remembered.objective = objective


def work(samples: int, k: int, seed: int) -> dict[str, Any]:
    """Fit once; give J where it was judged and elsewhere, with the same weights, and the accuracy on test images."""
    digits = noisy_digits(seed, quick=False)
    start = time.perf_counter()
    with patch.object(judge, "SAMPLES", samples), patch.object(restarts, "Judge", Remembered):
        selector = LSCAE(k, random_state=seed, check_stability=False).fit(digits.X)
    seconds, chosen = round(time.perf_counter() - start, 2), np.flatnonzero(selector.support_)
    places = torch.from_numpy(np.searchsorted(selector.active_, chosen))
    elsewhere = objectives(Remembered.elsewhere, places[None], Remembered.objective)
    accuracies = kmeans_accuracies(
        digits.X[:, chosen], digits.labels, n_runs=5, random_state=0,
        X_test=digits.X_test[:, chosen], labels_test=digits.labels_test,
    )  # fmt: skip
    found = {"judged": selector.objective_, "elsewhere": float(elsewhere[0]), "accuracy": float(accuracies.mean())}
    return {name: round(value, 4) for name, value in found.items()} | {"seconds": seconds}


def page() -> None:
    """Draw J where it was judged and elsewhere, and list both with the accuracies."""
    means = {(k, samples): _means(k, samples) for k, samples in product(SIZES, SAMPLES)}
    figure, axes = plt.subplots(1, len(SIZES), figsize=(9, 3), layout="constrained")
    for axis, k in zip(axes, SIZES, strict=True):
        for name, colour in zip(("judged", "elsewhere"), COLOURS, strict=False):
            values = [means[k, samples][name] for samples in SAMPLES]
            axis.plot(SAMPLES, values, "o-", color=colour, label=f"J {'where it was ' * (name == 'judged')}{name}")
        axis.set(title=f"k = {k}", xlabel="samples of 512 rows", xscale="log", xticks=SAMPLES, xticklabels=SAMPLES)
        axis.minorticks_off()
    axes[0].set_ylabel("J, mean over three seeds")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(NOTES / "judged-rows.png", dpi=130)
    lines = ["| k | samples | J where it was judged | J elsewhere | accuracy in percent |", "|---" * 5 + "|"]
    for (k, samples), found in means.items():
        numbers = f"{found['judged']:.3f} | {found['elsewhere']:.3f} | {100 * found['accuracy']:.1f}"
        lines.append(f"| {k} | {samples} | {numbers} |")
    write_page("judged-rows", "\n".join(lines))


def _means(k: int, samples: int) -> dict[str, float]:
    rows = [r for r in ledger.read("judged_rows") if (r["trial"]["k"], r["trial"]["samples"]) == (k, samples)]
    return {name: float(np.mean([row[name] for row in rows])) for name in ("judged", "elsewhere", "accuracy")}


def main() -> None:
    """Run what is missing and print the rows, or write the page."""
    if sys.argv[1:] == ["page"]:
        return page()
    trials = [{"samples": samples, "k": k, "seed": seed} for seed, k, samples in product(SEEDS, SIZES, SAMPLES)]
    for row in ledger.run("judged_rows", trials, work):
        print(*row["trial"].values(), row["judged"], row["elsewhere"], row["accuracy"], row["seconds"], flush=True)


if __name__ == "__main__":
    main()
