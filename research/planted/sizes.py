"""How many features are suggested for tables with a known number of groups of independent structure."""

import warnings
from collections.abc import Iterable, Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from research.ledger import Row, Trial
from research.planted.kinds import log_uniform, noise_features
from research.planted.seeds import seeds_of
from tamis.sizes import NoStructureError, choose_k

Array = NDArray[np.float64]
GROUPS = range(1, 16)
N_SEEDS, N_SEEDS_NOISE = 4, 20


def grouped_table(n_groups: int, seed: int) -> Array:
    """Draw groups of two to six features, each showing one factor or two clusters of its own, among noise.

    One feature of every group represents all of them, so that the number of groups is the smallest useful k.
    """
    rng = np.random.default_rng([crc32(b"sizes"), n_groups, seed])
    n, n_noise = int(log_uniform(rng, 200, 2000)), int(log_uniform(rng, 5, 300))
    X = np.hstack([_group(rng, n) for _ in range(n_groups)] + [noise_features(rng, n, n_noise)])
    return (X * np.exp(rng.uniform(-3, 3, X.shape[1])))[:, rng.permutation(X.shape[1])]


def _group(rng: np.random.Generator, n: int) -> Array:
    m = int(rng.integers(2, 7))
    signs, noise = rng.choice([-1, 1], m), rng.standard_normal((n, m))
    if rng.random() < 0.5:
        loadings = rng.uniform(0.7, 0.95, m)
        return signs * loadings * rng.standard_normal((n, 1)) + np.sqrt(1 - loadings**2) * noise
    inside = rng.random((n, 1)) < rng.uniform(0.25, 0.75)
    return signs * rng.uniform(3, 8) * inside + noise


def trials(half: str | None, named: Sequence[int] = ()) -> list[Trial]:
    """Return the tables with groups, then those of noise alone."""
    seeds, noise_seeds = seeds_of(half, N_SEEDS, named), seeds_of(half, N_SEEDS_NOISE, named)
    return _tables(GROUPS, seeds) + _tables([0], noise_seeds)


def _tables(groups: Iterable[int], seeds: Iterable[int]) -> list[Trial]:
    return [{"groups": g, "seed": seed} for seed in seeds for g in groups]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Ask for the number of features; it is None where no structure was found."""
    X = grouped_table(trial["groups"], trial["seed"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            k: int | None = choose_k(X).k
        except NoStructureError:
            k = None
    return {"shape": list(X.shape), "k": k}


def describe(row: Row) -> str:
    """Return a line about a row."""
    return f"{row['trial']['groups']} groups, seed {row['trial']['seed']} {row['shape']}: k = {row['k']}"
