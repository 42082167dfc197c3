"""Tables without any structure: how often the test of structure finds some, and which verdicts trust a selection."""

import warnings
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from research.ledger import Row, Trial
from research.methods import takes_seed
from research.planted.blocks import series
from research.planted.kinds import log_uniform
from tamis import SELECTORS, find_structure

Array = NDArray[np.float64]
N_TABLES, N_VERDICTS = 100, 5
VERDICT_SHAPE, VERDICT_K = (150, 25), 5
FDR = 0.1

LAWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "uniform": lambda rng, size: rng.uniform(size=size),
    "t(2)": lambda rng, size: rng.standard_t(2, size=size),
    "log-normal": lambda rng, size: rng.lognormal(size=size),
    "binary": lambda rng, size: (rng.random(size) < rng.uniform(size=size[1])).astype(float),
    "Poisson": lambda rng, size: rng.poisson(rng.uniform(0.1, 10, size[1]), size).astype(float),
    "sparse 1 %": lambda rng, size: (rng.random(size) < 0.01) * rng.lognormal(size=size),
}
"""Laws of tables of random sizes; "binary" has all rates."""

SHAPES = ("wide", "narrow", "flags", "few among flags", "series", "rates")
"""Tables of any of the laws: 60 rows and 5,000 features, and 3 to 8 features; 1,000 to 3,000 flags that few rows carry,
and 5 to 50 normal features among as many; series in time, each by itself, of at least 200 rows; counts
divided by other counts."""


def noise_table(law: str, seed: int) -> Array:
    """Draw a table of one law whose features are independent of each other."""
    rng = np.random.default_rng([crc32(law.encode()), seed])
    n, d = int(log_uniform(rng, 60, 1000.99)), int(log_uniform(rng, 10, 300.99))
    if law.endswith("flags"):
        n, d = int(rng.integers(400, 1500)), int(rng.integers(1000, 3001))
        flags = (rng.random((n, d)) < log_uniform(rng, 0.005, 0.05)).astype(float)
        return flags if law == "flags" else np.hstack([flags, rng.standard_normal((n, int(rng.integers(5, 51))))])
    if law == "wide":
        n, d = 60, 5000
    if law == "series":
        return series(rng, max(n, 200), d, rng.uniform())
    if law == "rates":
        visits = rng.poisson(log_uniform(rng, 10, 100), (n, d)).clip(1)
        return cast(Array, rng.binomial(visits, rng.uniform(0.1, 0.5, d)) / visits)
    if law == "narrow":
        d = int(rng.integers(3, 9))
    drawn = list(LAWS)[rng.integers(len(LAWS))] if law in SHAPES else law
    return LAWS[drawn](rng, (n, d))


def trials(seeds: Iterable[int]) -> list[Trial]:
    """Return the tables of all laws."""
    return [{"law": law, "seed": seed} for law, seed in product((*LAWS, *SHAPES), seeds)]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Count the features that are called structured."""
    X = noise_table(trial["law"], trial["seed"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        structure = find_structure(X, fdr=FDR, random_state=trial["seed"])
    return {"shape": list(X.shape), "n_structured": structure.n_structured}


def describe(row: Row) -> str:
    """Return a line about a row."""
    return f"{row['trial']['law']} {row['trial']['seed']} {row['shape']}: {row['n_structured']} structured"


def verdict_trials(seeds: Iterable[int], methods: Iterable[str]) -> list[Trial]:
    """Return the tables on which the verdicts of methods are asked for, a law per seed."""
    laws = list(LAWS)
    return [{"method": m, "law": laws[seed % len(laws)], "seed": seed} for m, seed in product(methods, seeds)]


def verdict_work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Select features of noise, and ask whether the selection is trusted."""
    rng = np.random.default_rng([crc32(b"verdict"), trial["seed"]])
    X, kind = LAWS[trial["law"]](rng, VERDICT_SHAPE), cast(Any, SELECTORS[trial["method"]])
    selector = kind(VERDICT_K, random_state=trial["seed"]) if takes_seed(kind) else kind(VERDICT_K)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"trusted": bool(selector.fit(X).verdict_.trusted)}


def describe_verdict(row: Row) -> str:
    """Return a line about a row of a verdict."""
    return f"{' '.join(map(str, row['trial'].values()))}: {'trusted' if row['trusted'] else 'not trusted'}"
