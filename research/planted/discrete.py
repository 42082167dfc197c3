"""Informative features of planted tables that are binary, counts, sparse, or have long tails; see :mod:`blocks`."""

import numpy as np

from research.planted.blocks import Block, each_its_own, factor, factors, labels_of, separated


def binary_classes(rng: np.random.Generator, n: int, m: int) -> Block:
    """Binary features whose rates differ between hidden classes."""
    n_classes = int(rng.integers(2, 5))
    m = max(2 * n_classes, m)
    rates = np.where(rng.random((n_classes, m)) < 0.5, rng.uniform(0.05, 0.25), rng.uniform(0.75, 0.95))
    flat = np.ptp(rates, axis=0) == 0
    rates[0, flat] = 1 - rates[0, flat]
    return each_its_own((rng.random((n, m)) < rates[labels_of(rng, n, n_classes)]).astype(float))


def counts(rng: np.random.Generator, n: int, m: int) -> Block:
    """Poisson counts whose means differ between hidden classes."""
    n_classes = int(rng.integers(2, 5))
    m = max(2 * n_classes, m)
    means = rng.uniform(0.5, 3, m) * np.exp(np.log(rng.uniform(3, 8)) * (rng.random((n_classes, m)) < 0.5))
    flat = np.ptp(means, axis=0) == 0
    means[0, flat] *= 5
    return each_its_own(rng.poisson(means[labels_of(rng, n, n_classes)]).astype(float))


def topics(rng: np.random.Generator, n: int, m: int) -> Block:
    """Words that texts of one topic hold more often, zero in most rows."""
    n, m, n_topics = max(n, 400), max(6, m), int(rng.integers(2, 5))
    inside = labels_of(rng, n, n_topics)[:, None] == np.arange(m) % n_topics
    return each_its_own(rng.poisson(np.where(inside, rng.uniform(0.5, 1.5), 0.04)).astype(float))


def rare_together(rng: np.random.Generator, n: int, m: int) -> Block:
    """Features that are zero but in the same three percent of the rows."""
    n = max(n, 400)
    rows = rng.random(n) < 0.03
    rows[:10] = True
    shown = rows[:, None] & (rng.random((n, max(3, m))) < 0.85)
    stray = rng.random(shown.shape) < 0.005
    return each_its_own((shown | stray) * rng.lognormal(0, 0.5, shown.shape))


def lognormal_clusters(rng: np.random.Generator, n: int, m: int) -> Block:
    """Clusters on a logarithmic scale."""
    return each_its_own(np.exp(separated(rng, n, max(3, m), int(rng.integers(2, 5)), 4.0, 9.0)))


def ordinal(rng: np.random.Generator, n: int, m: int) -> Block:
    """Answers on a scale of three to seven levels that follow one or two attitudes."""
    m = max(4, m)
    base, _ = factors(rng, n, max(m, 6)) if rng.random() < 0.5 else factor(rng, n, m)
    levels = rng.integers(3, 8, base.shape[1])
    ranks = np.argsort(np.argsort(base, axis=0), axis=0) / n
    return each_its_own(np.floor(ranks ** rng.uniform(0.6, 1.6, base.shape[1]) * levels))
