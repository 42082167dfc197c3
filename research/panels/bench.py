"""A trial of the panels bench: lists of four sizes by one way on one set, and their scores."""

import time
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

import tamis
from research.data import using_folder
from research.ledger import Ledger, Row, Trial
from research.panels.rivals import LABELLED, WAYS
from research.panels.sets import load
from research.runner import Outcome, Runner
from tamis.single_cell.expression import read_expression
from tamis.single_cell.scores import partitions, principal_components

RESULTS = Path(__file__).parent / "results" / "panels.jsonl"
SIZES = (20, 50, 100, 200)
ALL = "all genes"
"""The way that leaves none out, of which only clusters are compared with cell types."""

SCORES = {
    "f1": "macro F1, logistic",
    "f1_knn": "macro F1, 15-NN",
    "f1_rare": "F1 of rare types",
    "kmeans": "k-means NMI",
    "leiden": "Leiden NMI",
    "knn_overlap": "kNN overlap",
    "r2": "R² per gene",
    "r2_total": "R² total",
}
"""Name of a score in a row, and what pages call it; larger is better in all."""


def trials_of(ways: Sequence[str], sets: Sequence[str]) -> list[Trial]:
    """Return the trials of some ways on some sets."""
    return [{"way": way, "set": name} for name in sets for way in ways]


def run(trials: Sequence[Trial], results: Path = RESULTS, data_dir: Path | None = None) -> Iterator[Outcome]:
    """Run the trials that have no row yet."""
    yield from Runner(Ledger(results), partial(work, data_dir)).run(trials)


def work(data_dir: Path | None, trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Select genes of a set, without its cell types, and score them with these."""
    with using_folder(data_dir):
        adata = load(trial["set"])
    X, types = read_expression(adata).sample, adata.obs["type"].to_numpy()
    if trial["way"] == ALL:
        return {"shape": list(adata.shape), "scores": _cluster_scores(X, types)}
    begun = time.perf_counter()
    with warnings.catch_warnings():
        # Doubts about a selection are scored here, not read.
        warnings.simplefilter("ignore")
        lists = (WAYS | LABELLED)[trial["way"]](adata, SIZES)
        seconds = round(time.perf_counter() - begun, 2)
        names = {str(size): adata.var_names[genes].tolist() for size, genes in zip(SIZES, lists, strict=True)}
        table = tamis.compare_panels(adata, names, cell_type_key="type", references=False, clusters=False)
    scores = table.round(5).to_dict("index")
    for size, genes in zip(SIZES, lists, strict=True):
        scores[str(size)] |= _cluster_scores(X[:, genes], types)
    return {"shape": list(adata.shape), "select_seconds": seconds, "scores": scores}


def _cluster_scores(X: np.ndarray, types: np.ndarray) -> dict[str, float]:
    """Return the mutual information of types with clusters: five runs of k-means, and Leiden's of as many clusters."""
    components = principal_components(X, 0)
    n_types = len(np.unique(types))
    runs = [KMeans(n_types, n_init=1, random_state=seed).fit_predict(components) for seed in range(5)]
    leiden = partitions(components, 0)
    nearest = leiden[min(leiden, key=lambda number: (abs(number - n_types), number))]
    return {
        "kmeans": round(float(np.mean([normalized_mutual_info_score(types, run) for run in runs])), 5),
        "leiden": round(float(normalized_mutual_info_score(types, nearest)), 5),
    }


def describe(row: Row) -> str:
    """Return a line about a row."""
    trial, at = row["trial"], row["scores"].get("100", row["scores"])
    return f"{trial['way']} {trial['set']} (k=100): " + " ".join(
        f"{name}={at[name]:.3f}" for name in SCORES if name in at
    )
