"""Whether a lower accuracy means less structure: the purity of more clusters than there are labels, on real tables.

Run: python -m experiments.finer_groups          (does what is missing; TAMIS_DATA names the folder of the tables)
     python -m experiments.finer_groups page      (writes docs/design-notes/finer-groups.md and its plot)
"""

import sys
import time
from itertools import product
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans

from experiments import ledger
from experiments.pages import COLOURS, NOTES, write_page
from tamis import LSCAE, LaplacianScore, RandomSubset
from tamis.metrics import clustering_accuracy
from tamis.paper.datasets import load, z_scores

SETS = ("Yale", "TOX-171", "Prostate-GE", "ALLAML", "pixraw10P", "COIL20", "pollen", "goolam")
METHODS = {"LSCAE": LSCAE, "LaplacianScore": LaplacianScore, "RandomSubset": RandomSubset}
SEEDS, K, RUNS = range(3), 100, 10
MULTIPLES = (1, 2, 3, 4)


def purity(clusters: np.ndarray, labels: np.ndarray) -> float:
    """Give the share of rows whose label is the most frequent one of their cluster."""
    table = np.zeros((clusters.max() + 1, labels.max() + 1))
    np.add.at(table, (clusters, labels), 1)
    return float(table.max(axis=1).sum() / len(labels))


def work(data: str, method: str, seed: int) -> dict[str, Any]:
    """Select once; cluster into once to four times as many groups as there are labels, ten times each."""
    X, y = load(data)
    labels = np.unique(y, return_inverse=True)[1]
    X = np.asarray(z_scores(X.toarray() if hasattr(X, "toarray") else X))
    seeded = {"random_state": seed} if "random_state" in METHODS[method]().get_params() else {}
    start = time.perf_counter()
    chosen = X[:, METHODS[method](K, **seeded).fit(X).support_]
    found: dict[str, Any] = {"seconds": round(time.perf_counter() - start, 2), "labels": int(labels.max()) + 1}
    for times in MULTIPLES:
        runs = [KMeans(times * found["labels"], n_init=1, random_state=run).fit_predict(chosen) for run in range(RUNS)]
        found[f"purity {times}"] = round(float(np.mean([purity(clusters, labels) for clusters in runs])), 4)
        if times == 1:
            found["accuracy"] = round(float(np.mean([clustering_accuracy(labels, run) for run in runs])), 4)
    return found


def page() -> None:
    """Draw purity against the number of clusters for every table, and list it with the accuracy."""
    rows = ledger.read("finer_groups")
    figure, axes = plt.subplots(2, 4, figsize=(10, 5), layout="constrained", sharey=True)
    columns = " | ".join(f"purity, {times} × as many" for times in MULTIPLES)
    lines = [f"| table | labels | method | accuracy | {columns} |", "|---" * (4 + len(MULTIPLES)) + "|"]
    for axis, data in zip(axes.flat, SETS, strict=True):
        for method, colour in zip(METHODS, COLOURS, strict=False):
            found = [row for row in rows if (row["trial"]["data"], row["trial"]["method"]) == (data, method)]
            means = [100 * np.mean([row[f"purity {times}"] for row in found]) for times in MULTIPLES]
            axis.plot(MULTIPLES, means, "o-", color=colour, label=method)
            accuracy = 100 * np.mean([row["accuracy"] for row in found])
            numbers = " | ".join(f"{value:.1f}" for value in (accuracy, *means))
            lines.append(f"| {data} | {found[0]['labels']} | {method} | {numbers} |")
        axis.set(title=data, xticks=MULTIPLES)
    figure.supxlabel("clusters, as multiples of the number of labels")
    figure.supylabel("purity in percent")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(NOTES / "finer-groups.png", dpi=130)
    write_page("finer-groups", "\n".join(lines))


def main() -> None:
    """Run what is missing and print the rows, or write the page."""
    if sys.argv[1:] == ["page"]:
        return page()
    trials = [
        {"data": data, "method": method, "seed": seed}
        for data, method, seed in product(SETS, METHODS, SEEDS)
        if seed == 0 or method != "LaplacianScore"
    ]
    for row in ledger.run("finer_groups", trials, work):
        print(*row["trial"].values(), row["accuracy"], *(row[f"purity {times}"] for times in MULTIPLES), flush=True)


if __name__ == "__main__":
    main()
