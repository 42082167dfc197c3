"""The trials of the quality bench, and the work of one: select on a real set, then score the selection."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from research.data import using_folder
from research.ledger import Ledger, Row, Trial
from research.methods import NESTED, takes_seed
from research.quality.limits import TooSlowError, known_as_too_slow, time_limit
from research.quality.scores import SCORES, score_selection
from research.quality.sets import load
from research.runner import Outcome, Runner
from tamis import SELECTORS

RESULTS = Path(__file__).with_name("results")
KS = (10, 20, 50, 100)
N_SEEDS, N_SEEDS_RANDOM = 3, 10

Ranking = Callable[[Any, int, int], Any]
"""``ranking(X, k, seed)`` returns k features, best first."""


def ranking_of(method: str) -> Ranking:
    """Return the selection by a registered name, or the function that ``package.module:function`` names."""
    module, colon, function = method.partition(":")
    if colon:
        return getattr(import_module(module), function)
    return partial(_fit, SELECTORS[method])


def _fit(kind: Any, X: Any, k: int, seed: int) -> Any:
    selector = kind(k, random_state=seed) if takes_seed(kind) else kind(k)
    return selector.fit(X).selected_


def seeds_of(method: str) -> range:
    """Return the seeds of a method's trials; they seed the scores, too, so deterministic methods have as many."""
    return range(N_SEEDS_RANDOM if method == "random" else N_SEEDS)


def parent_of(trial: Trial) -> Trial | None:
    """Return the trial whose selection this one begins with, or None if it has to be fitted."""
    method, parent = trial["method"], dict(trial)
    if method in NESTED:
        parent["k"] = max(KS)
    if ":" not in method and not takes_seed(SELECTORS[method]):
        parent["seed"] = 0
    return None if parent == trial else parent


def trials_of(method: str, sets: Iterable[str], ks: Sequence[int] = KS, seeds: Iterable[int] | None = None) -> list:
    """Return the trials of a method, with those that others start from."""
    chosen = seeds_of(method) if seeds is None else list(seeds)
    wanted = [{"method": method, "set": name, "k": k, "seed": seed} for name in sets for seed in chosen for k in ks]
    parents = [parent for trial in wanted if (parent := parent_of(trial))]
    return list({tuple(trial.items()): trial for trial in [*parents, *wanted]}.values())


def ledger_of(method: str, results: Path = RESULTS) -> Ledger:
    """Return the results file of a method; each has its own, so that several runs can go on at a time."""
    return Ledger(results / f"{method.replace(':', '.')}.jsonl")


def run(
    method: str, trials: Sequence[Trial], *, results: Path = RESULTS, data_dir: Path | None = None, jobs: int = 1
) -> Iterator[Outcome]:
    """Run the trials of one method that have no row yet."""
    ledger = ledger_of(method, results)
    yield from Runner(ledger, partial(work, ledger, data_dir), parent_of, jobs).run(trials)


def work(ledger: Ledger, data_dir: Path | None, trial: Trial, parent: Row | None) -> Row:
    """Select on a set, or take the beginning of the parent's selection, and score it."""
    with using_folder(data_dir):
        X, y = load(trial["set"])
    found: Row = {"shape": list(X.shape)}
    picks = _select(X, trial, ledger) if parent is None else _inherited(parent)
    found |= picks
    if "skipped" not in picks:
        found |= score_selection(X, y, picks["selected"][: trial["k"]], trial["seed"])
    if parent is not None:
        found.pop("selected", None)  # The parent's row has it.
    return found


def _inherited(parent: Row) -> Row:
    return {name: parent[name] for name in ("selected", "fit_seconds", "skipped") if name in parent}


def _select(X: Any, trial: Trial, ledger: Ledger) -> Row:
    known = known_as_too_slow(ledger.rows(), trial["method"], X.shape)
    if known:
        return {"skipped": known}
    ranking = ranking_of(trial["method"])
    begun = time.perf_counter()
    try:
        with time_limit(), warnings.catch_warnings():
            # Doubts about a selection are scored here, not read.
            warnings.simplefilter("ignore")
            selected = np.asarray(ranking(X, trial["k"], trial["seed"])).tolist()
    except TooSlowError as error:
        return {"skipped": str(error)}
    return {"selected": selected, "fit_seconds": round(time.perf_counter() - begun, 3)}


def describe(row: Row) -> str:
    """Return a line about a row."""
    trial = row["trial"]
    what = f"{trial['method']} {trial['set']} k={trial['k']} seed={trial['seed']}:"
    if "skipped" in row:
        return f"{what} skipped: {row['skipped']}"
    return f"{what} " + " ".join(f"{name}={row[name]:.3f}" for name in SCORES) + f" fit={row['fit_seconds']:.1f}s"
