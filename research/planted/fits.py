"""The trials of the planted bench: one method on one random table, and how much of the answer it found."""

import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.ledger import Ledger, Row, Trial
from research.methods import takes_seed
from research.planted.bench import RESULTS
from research.planted.kinds import KINDS, MIXED, PlantedTable, planted_table
from research.planted.rivals import RIVALS
from research.runner import Outcome, Runner
from tamis import SELECTORS

FOLDER = RESULTS / "fits"
N_SEEDS = 5
ALL_KINDS = (*KINDS, *MIXED)
TESTED = ("lscae", "structure-pursuit")
"""Methods that test for structure, and whose verdicts are counted."""

METHODS = (*TESTED, "laplacian-score", "variance", "pca-loadings", "correlation", "kmeans-f", "random", "cae")
"""The methods that run by default; the slowest is the last."""

MAX_CELLS_OF = {"cae": 400_000}
"""Larger tables are left out for slow methods; their rows say so."""


def check_names(methods: Iterable[str], kinds: Iterable[str]) -> None:
    """Raise an error that names the first method or kind that does not exist."""
    for names, known, what in ((methods, (*SELECTORS, *RIVALS), "method"), (kinds, ALL_KINDS, "kind")):
        for name in names:
            if name not in known:
                close = get_close_matches(name, known, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise ValueError(f"--{what}s: there is no {what} {name!r}.{hint} Known: {', '.join(known)}.")


def trials_of(method: str, kinds: Iterable[str], seeds: Iterable[int]) -> list[Trial]:
    """Return the trials of a method, all kinds of the first seed first."""
    return [{"method": method, "kind": kind, "seed": seed} for seed, kind in product(seeds, kinds)]


def run(method: str, trials: Sequence[Trial], *, folder: Path = FOLDER, jobs: int = 1) -> Iterator[Outcome]:
    """Run the trials of one method that have no row yet; each method has its own file."""
    yield from Runner(Ledger(folder / f"{method}.jsonl"), work, jobs=jobs).run(trials)


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Draw the table, select as many features as it has informative groups, and compare with the answer."""
    table = planted_table(trial["kind"], trial["seed"])
    found: Row = {"shape": list(table.X.shape), "k": table.k, "n_informative": int((table.groups >= 0).sum())}
    limit = MAX_CELLS_OF.get(trial["method"])
    if limit is not None and table.X.size > limit:
        return found | {"skipped": f"the table has more than {limit:,} cells"}
    with warnings.catch_warnings():
        # Doubts about a selection are counted here, not read.
        warnings.simplefilter("ignore")
        begun = time.perf_counter()
        selected, selector = _select(trial["method"], table.X, table.k, trial["seed"])
        found["fit_seconds"] = round(time.perf_counter() - begun, 3)
        found |= compare_picks(table, selected)
        if trial["method"] in TESTED:
            found |= compare_structure(table, selected, selector.structure_.structured)
            found["trusted"] = bool(selector.verdict_.trusted)
    return found


def _select(method: str, X: NDArray[np.float64], k: int, seed: int) -> tuple[NDArray[np.intp], Any]:
    if method in RIVALS:
        return RIVALS[method](X, k, seed), None
    kind: Any = SELECTORS[method]
    selector = kind(k, random_state=seed) if takes_seed(kind) else kind(k)
    return selector.fit(X).selected_, selector


def compare_picks(table: PlantedTable, selected: NDArray[np.intp]) -> Row:
    """Return what was found and how much noise was picked, with how much of it while informative features were left."""
    n_noise, n_left = table.n_noise(selected), int((np.delete(table.groups, selected) >= 0).sum())
    share = table.share_found(selected)
    return {
        "share_found": share,
        "share_of_structures": table.share_of_structures(selected),
        "n_noise": n_noise,
        "n_noise_while_left": min(n_noise, n_left),
        "right": share == 1 and n_noise == 0,
    }


def compare_structure(table: PlantedTable, selected: NDArray[np.intp], structured: NDArray[np.bool_]) -> Row:
    """Return how many features were called structured, the share of noise among them, and the share found.

    Noise picks are counted again: those made while an informative feature that was called structured was left.
    """
    informative, n_structured = table.groups >= 0, int(structured.sum())
    n_left = int(np.delete(informative & structured, selected).sum())
    return {
        "n_structured": n_structured,
        "false_share": float((structured & ~informative).sum() / max(n_structured, 1)),
        "power": float(structured[informative].mean()),
        "n_noise_while_structured_left": min(table.n_noise(selected), n_left),
    }


def describe(row: Row) -> str:
    """Return a line about a row."""
    what = f"{' '.join(map(str, row['trial'].values()))} ({row['shape'][0]} × {row['shape'][1]}, k = {row['k']}):"
    if "skipped" in row:
        return f"{what} skipped: {row['skipped']}"
    return f"{what} found {row['share_found']:.2f}, noise {row['n_noise']}, {row['fit_seconds']:.1f} s"
