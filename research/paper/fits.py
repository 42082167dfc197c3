"""Fitting a selector by its name, and what a row keeps of it."""

import inspect
import time
import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from research.ledger import Row
from research.methods import takes_seed
from research.paper.datasets import z_scores
from tamis.base import FeatureSelector
from tamis.metrics import kmeans_accuracies
from tamis.selectors import SELECTORS
from tamis.selectors.lscae import LSCAE

TO_THE_LETTER, PUBLIC_CODE = "lscae-paper", "lscae-public-code"
PRESETS = {TO_THE_LETTER: "paper", PUBLIC_CODE: "public-code"}
"""LSCAE with the settings that the paper prints, and with those of its authors' package, and their recipes."""

KEPT_OUT = ("callbacks", "groups", "must_keep", "never", "random_state", "n_features_to_select", "recipe")
"""Parameters that a row does not repeat."""

QUICK_SETTINGS: dict[str, Any] = {"max_epochs": 30}
"""What makes a fit of a concrete selector take a moment; its picks are not to be trusted."""


def make_selector(method: str, k: int, seed: int, *, quick: bool = False, **settings: Any) -> FeatureSelector:
    """Make a selector; the seed and the quick settings go to those that take them, fields to the recipe."""
    kind = _kind(method)
    known = inspect.signature(kind).parameters
    offered = {"random_state": seed, "recipe": PRESETS.get(method), **(QUICK_SETTINGS if quick else {})}
    selector = kind(k, **{name: value for name, value in offered.items() if name in known})
    return selector.set_params(**{n if n in known else f"recipe__{n}": value for n, value in settings.items()})


def is_seeded(method: str) -> bool:
    """Tell whether a method's picks depend on a seed."""
    return takes_seed(_kind(method))


def _kind(method: str) -> type[FeatureSelector]:
    return SELECTORS["lscae" if method in PRESETS else method]


def fit(method: str, X: Any, k: int, seed: int, *, quick: bool = False, **settings: Any) -> tuple[FeatureSelector, Row]:
    """Fit a selector and give it with what a row keeps: settings, picks (best first), objective, verdict and time."""
    selector = make_selector(method, k, seed, quick=quick, **settings)
    begun = time.perf_counter()
    with warnings.catch_warnings():
        # The verdict says as much, and a warning of a worker process would be seen by nobody.
        warnings.simplefilter("ignore")
        selector.fit(X)
    seconds = time.perf_counter() - begun
    return selector, {
        "settings": _plain_settings(selector),
        "selected": selector.selected_.tolist(),
        "objective": getattr(selector, "objective_", None),
        "verdict": str(selector.verdict_),
        "fit_seconds": round(seconds, 3),
    }


STARTS = {"accuracy": "k-means++", "accuracy_random_start": "random"}
"""Accuracies of one scaling, and the start of k-means they belong to."""


def clustering_scores(X: Any, labels: Any, n_runs: int = 20) -> Row:
    """Cluster the rows from both kinds of starts; accuracies are means and standard deviations over the runs."""
    Z, scores = X.toarray() if issparse(X) else X, {}
    for name, init in STARTS.items():
        with warnings.catch_warnings():
            # Columns that are nearly constant leave fewer distinct rows than classes; the accuracy tells.
            warnings.simplefilter("ignore", ConvergenceWarning)
            accuracies = kmeans_accuracies(Z, labels, n_runs=n_runs, init=init, random_state=0)
        scores[name] = round(float(accuracies.mean()), 5)
        scores[f"{name}_sd"] = round(float(accuracies.std(ddof=1)), 5)
    return scores


WAYS = {
    "accuracy": "z-scored, k-means++",
    "accuracy_random_start": "z-scored, random start",
    "unscaled_accuracy": "as they are, k-means++",
    "unscaled_accuracy_random_start": "as they are, random start",
}
"""Accuracies in a row, and how features were scaled and k-means was started; the paper says neither."""


def scores_of_all_ways(X: Any, labels: Any, n_runs: int = 20) -> Row:
    """Cluster on z-scored features and on features as they are."""
    unscaled = {f"unscaled_{name}": value for name, value in clustering_scores(X, labels, n_runs).items()}
    return {**clustering_scores(z_scores(X), labels, n_runs), **unscaled}


def _plain_settings(selector: FeatureSelector) -> dict[str, Any]:
    """Return the parameters, and the fields of the recipe, as JSON can hold them."""
    settings = {name: value for name, value in selector.get_params(deep=False).items() if name not in KEPT_OUT}
    if isinstance(selector, LSCAE):
        settings |= selector.resolved_recipe().get_params()
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in settings.items()}
