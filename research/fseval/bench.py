"""The trials of FSEVAL, and the work of one: rank the features of a set once, then score 20 sizes by ``sdufseval``.

The published rows were made with a random forest of 100 trees (the default of the package at the time), five-fold
cross-validation with five seeds and ten k-means runs, on features as they are; so are these.
"""

import math
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.data import find_file, using_folder
from research.fseval.published import sizes
from research.ledger import Ledger, Row, Trial
from research.methods import takes_seed
from research.runner import Outcome, Runner
from tamis import SELECTORS

RESULTS = Path(__file__).with_name("results")

FILES: Mapping[str, str] = {
    "ALLAML": "ALLAML", "COIL20": "COIL20", "GLIOMA": "GLIOMA", "Isolet": "Isolet", "ORL": "ORL",
    "Prostate_GE": "Prostate-GE", "TOX_171": "TOX-171", "Yale": "Yale", "colon": "colon",
    "lung_discrete": "lung_small", "madelon": "madelon", "pixraw10P": "pixraw10P", "warpPIE10P": "warpPIE10P",
}  # fmt: skip
"""Sets of FSEVAL that are at hand, and what their .mat files are called here."""

METHODS = ("lscae", "structure-pursuit", "random", "variance")
PARTS = ("clustering", "classification")

MAX_FIT_SIZE = 200
"""A selector is asked for the largest size, but for no more features than this; the others follow in its ranking."""

N_KMEANS, N_FOLDS, N_FOLD_SEEDS, N_TREES = 10, 5, 5, 100


def known_methods(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the names that the registry has, and those it has not."""
    names = list(names)
    return [name for name in names if name in SELECTORS], [name for name in names if name not in SELECTORS]


def trials_of(method: str, sets: Iterable[str], parts: Iterable[str] = PARTS, repeats: int = 1) -> list[Trial]:
    """Return the trials of a method; classification starts from the ranking of the clustering's row."""
    wanted = [
        {"method": method, "set": name, "part": part, "repeat": repeat}
        for name in sets
        for repeat in range(repeats)
        for part in dict.fromkeys(("clustering", *parts))
    ]
    return wanted


def parent_of(trial: Trial) -> Trial | None:
    """Return the trial that ranked the features, or None if this one does."""
    return None if trial["part"] == "clustering" else trial | {"part": "clustering"}


def run(
    method: str, trials: Iterable[Trial], *, results: Path = RESULTS, data_dir: Path | None = None, jobs: int = 1
) -> Iterator[Outcome]:
    """Run the trials of one method that have no row yet."""
    yield from Runner(Ledger(results / f"{method}.jsonl"), partial(work, data_dir), parent_of, jobs).run(trials)


def work(data_dir: Path | None, trial: Trial, parent: Row | None) -> Row:
    """Rank the features, or take the parent's ranking, and score its beginnings."""
    with using_folder(data_dir):
        X, y = load(trial["set"])
        counts = [max(1, math.ceil(share * X.shape[1])) for share in sizes()]
    if parent is None:
        begun = time.perf_counter()
        ranking = rank(trial["method"], X, max(counts), trial["repeat"])
        fitted: Row = {"fit_seconds": round(time.perf_counter() - begun, 3), "ranking": ranking.tolist()}
        return fitted | clustering_scores(X, y, ranking, counts)
    return classification_scores(X, y, np.array(parent["ranking"]), counts)


def load(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read a set as ``sdufseval`` does."""
    path = find_file(f"{FILES[name]}.mat")
    from sdufseval import load_dataset

    with redirect_stdout(StringIO()):
        return load_dataset(path.stem, str(path.parent))


def rank(method: str, X: NDArray[Any], count: int, seed: int) -> NDArray[np.intp]:
    """Fit a selector once and return its best features, best first."""
    kind = SELECTORS[method]
    seeded: dict[str, Any] = {"random_state": seed} if takes_seed(kind) else {}
    with warnings.catch_warnings():
        # Doubts about a selection are scored here, not read.
        warnings.simplefilter("ignore")
        selector = kind(min(count, MAX_FIT_SIZE), **seeded).fit(X)
    return np.argsort(selector.ranking_)[:count]


def clustering_scores(X: NDArray[Any], y: NDArray[Any], ranking: NDArray[np.intp], counts: list[int]) -> Row:
    """Score k-means clusterings: ``CLSACC`` and ``NMI`` per size."""
    from sdufseval import unsupervised_eval_batch

    scores = unsupervised_eval_batch(_subsets(X, ranking, counts), y, avg_steps=N_KMEANS, n_jobs=1, random_state=0)
    return {metric.upper(): _rounded(scores[count][metric] for count in counts) for metric in ("clsacc", "nmi")}


def classification_scores(X: NDArray[Any], y: NDArray[Any], ranking: NDArray[np.intp], counts: list[int]) -> Row:
    """Score random forests on rows held out: ``ACC`` and ``AUC`` per size."""
    from sdufseval import supervised_eval_batch
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_estimators=N_TREES)
    scores = supervised_eval_batch(
        _subsets(X, ranking, counts), y, classifier=forest, cv=N_FOLDS, avg_steps=N_FOLD_SEEDS, n_jobs=1, random_state=0
    )
    means = {count: next(iter(by_classifier.values())) for count, by_classifier in scores.items()}
    return {metric.upper(): _rounded(means[count][metric] for count in counts) for metric in ("acc", "auc")}


def _subsets(X: NDArray[Any], ranking: NDArray[np.intp], counts: list[int]) -> dict[int, NDArray[Any]]:
    return {count: X[:, ranking[:count]] for count in counts}


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), 6) for value in values]


def describe(row: Row) -> str:
    """Return a line about a row."""
    trial = row["trial"]
    means = [f"{name}={np.mean(row[name]):.3f}" for name in ("CLSACC", "NMI", "ACC", "AUC") if name in row]
    return f"{trial['method']} {trial['set']} repeat={trial['repeat']}: {' '.join(means)} in {row['seconds']:.0f} s"
