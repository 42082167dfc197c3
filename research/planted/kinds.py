"""Planted tables: kinds of structure in some features, noise in the others, everything else drawn at random.

:func:`planted_table` draws the sizes, adds noise features of random laws and scales, and shuffles
the order of the features.
"""

from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from research.planted import blocks, discrete
from research.planted.blocks import Array, Block

Kind = Callable[[np.random.Generator, int, int], Block]

MAX_CELLS = 2_500_000
"""Largest number of cells of a table, so that the bench runs in bounded time."""


@dataclass(frozen=True)
class PlantedTable:
    """A table and its answer: the group of every feature, -1 for noise, and the structure each group belongs to."""

    kind: str
    X: Array
    groups: NDArray[np.intp]
    structures: NDArray[np.intp]

    @property
    def k(self) -> int:
        """Number of informative groups, which is the number of features to ask for."""
        return len(set(self.groups[self.groups >= 0].tolist()))

    def share_found(self, selected: NDArray[np.intp]) -> float:
        """Return the share of the informative groups that the selected features represent."""
        return len(set(self.groups[selected].tolist()) - {-1}) / self.k

    def n_noise(self, selected: NDArray[np.intp]) -> int:
        """Return the number of noise features among the selected ones."""
        return int((self.groups[selected] < 0).sum())

    def share_of_structures(self, selected: NDArray[np.intp]) -> float:
        """Return the share of the independent structures that the selected features represent."""
        there = set(self.structures[self.structures >= 0].tolist())
        return len(set(self.structures[selected].tolist()) - {-1}) / len(there)


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


# ------------------------------------------------------------------------------------------------------------ the table

KINDS: dict[str, Kind] = {
    kind.__name__: kind
    for kind in (
        *(
            blocks.two_clusters,
            blocks.clusters,
            blocks.partial_clusters,
            blocks.nested_clusters,
            blocks.rare_cluster,
            blocks.rare_events,
            blocks.clusters_with_copies,
        ),
        *(
            blocks.classification,
            blocks.one_multimodal,
            blocks.modes_beside_factor,
            blocks.curve,
            blocks.spiral,
            blocks.moons,
            blocks.rings,
            blocks.sphere,
            blocks.cross,
            blocks.parabola,
            blocks.roll,
            blocks.manifold,
        ),
        *(
            blocks.factor,
            blocks.weak_factor,
            blocks.factors,
            blocks.many_factors,
            blocks.unequal_blocks,
            blocks.clusters_beside_factors,
            blocks.block_and_pairs,
            blocks.far_factors,
            blocks.gross_cells,
            blocks.heavy_factor,
            blocks.shocks,
            blocks.faint_factor,
            blocks.crowd,
            blocks.chain,
            blocks.shared_scale,
            blocks.interaction,
        ),
        *(
            discrete.binary_classes,
            discrete.counts,
            discrete.topics,
            discrete.rare_together,
            discrete.lognormal_clusters,
            discrete.ordinal,
        ),
    )
}
"""Kinds of one structure among independent noise."""

SIZED = (
    *("rare_events", "shocks", "faint_factor", "crowd", "unequal_blocks", "clusters_beside_factors"),
    *("modes_beside_factor", "block_and_pairs", "far_factors", "gross_cells"),
)
"""Kinds that need a number of rows of their own; they are not mixed with others."""

MIXED = (
    *("mixed_structures", "copied_nuisance", "correlated_nuisance", "moons_copied_nuisance", "lognormal_noise"),
    *("censored_noise", "factor_nuisance", "slow_nuisance", "slow_factor"),
)
"""Kinds that are made of others, or that have a nuisance of their own."""

COPIED_NUISANCE = ("copied_nuisance", "moons_copied_nuisance", "correlated_nuisance")
"""Kinds whose nuisance features are copies, or depend on their neighbours."""

STRUCTURED_NUISANCE = ("factor_nuisance",)
"""Kinds whose nuisance has a structure of its own, which nothing but its meaning tells from what is looked for."""

LAWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "uniform": lambda rng, size: rng.uniform(size=size),
    "t(3)": lambda rng, size: rng.standard_t(3, size=size),
    "log-normal": lambda rng, size: rng.lognormal(size=size),
    "binary": lambda rng, size: (rng.random(size) < rng.uniform(0.05, 0.95, size[1])).astype(float),
    "Poisson": lambda rng, size: rng.poisson(rng.uniform(0.2, 5, size[1]), size).astype(float),
}


def noise_features(rng: np.random.Generator, n: int, d: int, law: str | None = None) -> Array:
    """Draw independent noise features of one law, or of a random mixture of laws (one table in three)."""
    names = list(LAWS)
    if law is None:
        law = "mixture" if rng.random() < 1 / 3 else names[rng.integers(len(names))]
    if law != "mixture":
        return LAWS[law](rng, (n, d))
    every = [LAWS[name](rng, (n, d)) for name in names]
    return np.choose(rng.integers(len(names), size=d)[None], every)


def planted_table(kind: str, seed: int) -> PlantedTable:
    """Draw a table of a kind: sizes, strength, noise laws and scales at random, the order of features shuffled."""
    rng = np.random.default_rng([crc32(kind.encode()), seed])
    n, m = int(log_uniform(rng, 100, 3000)), int(log_uniform(rng, 1, 30.99))
    block, groups, structures, law = _informative(kind, rng, n, m)
    n, m = block.shape
    d = int(log_uniform(rng, max(10, 1.5 * m), max(20, 2 * m, min(5000, MAX_CELLS / n))))
    nuisance = _nuisance(kind, rng, n, max(3, d - m), law)
    X = np.hstack([block, nuisance]) * np.exp(rng.uniform(-3, 3, m + nuisance.shape[1]))
    missing = np.full(nuisance.shape[1], -1)
    order = rng.permutation(X.shape[1])
    return PlantedTable(kind, X[:, order], np.r_[groups, missing][order], np.r_[structures, missing][order])


def _informative(kind: str, rng: np.random.Generator, n: int, m: int) -> tuple[Array, NDArray, NDArray, str | None]:
    """Return the informative features, their groups and structures, and the law of the noise if the kind has one."""
    if kind == "mixed_structures":
        return *_several(rng, max(n, 500)), None
    source = {
        "copied_nuisance": blocks.clusters,
        "correlated_nuisance": blocks.two_clusters,
        "moons_copied_nuisance": blocks.moons,
        "lognormal_noise": discrete.lognormal_clusters,
        "censored_noise": blocks.factor,
        "factor_nuisance": blocks.clusters,
        "slow_nuisance": blocks.clusters_in_order,
        "slow_factor": blocks.slow_factor,
    }.get(kind)
    block, groups = (source or KINDS[kind])(rng, max(n, 300) if source is not None else n, min(m, 8) if source else m)
    law = "log-normal" if kind == "lognormal_noise" else "normal" if source is not None else None
    return block, groups, np.zeros(len(groups), np.intp), law


def _several(rng: np.random.Generator, n: int) -> tuple[Array, NDArray, NDArray]:
    """Draw two to four independent structures side by side."""
    left_out = ("one_multimodal", "weak_factor", "clusters_with_copies", "many_factors", *SIZED)
    names = [name for name in KINDS if name not in left_out]
    blocks, structures = [], []
    for number, name in enumerate(rng.choice(names, size=int(rng.integers(2, 5)), replace=False)):
        block, _ = KINDS[name](rng, n, int(rng.integers(2, 8)))
        blocks.append(block[rng.permutation(len(block))[:n]])
        structures += [number] * block.shape[1]
    rows = min(map(len, blocks))
    return np.hstack([block[:rows] for block in blocks]), np.arange(len(structures)), np.array(structures)


def _nuisance(kind: str, rng: np.random.Generator, n: int, d: int, law: str | None) -> Array:
    if kind in ("copied_nuisance", "moons_copied_nuisance"):
        once = noise_features(rng, n, max(2, min(d, 400) // 4), law)
        copies = once + rng.uniform(0, 0.2) * once.std(axis=0) * rng.standard_normal(once.shape)
        return np.hstack([once, copies, noise_features(rng, n, max(2, min(d, 400) // 2), law)])
    if kind == "correlated_nuisance":  # as in the paper: neighbours have the correlation -0.25
        places = np.arange(min(d, 300))
        root = np.linalg.cholesky((-0.25) ** np.abs(places[:, None] - places))
        return rng.standard_normal((n, len(places))) @ root.T
    if kind in ("slow_nuisance", "slow_factor"):  # neighbouring rows are alike, as in a time series
        return blocks.series(rng, n, min(d, 300), rng.uniform(0.9, 0.98))
    noise = noise_features(rng, n, d, law)
    if kind == "factor_nuisance":  # some features share a factor that nobody asked for
        some = slice(min(d // 2, int(rng.integers(10, 31))))
        noise[:, some] = rng.standard_normal((n, 1)) + rng.uniform(0.5, 1.5) * noise[:, some]
    return _censored(rng, noise) if kind == "censored_noise" else noise


def _censored(rng: np.random.Generator, noise: Array) -> Array:
    """Return features with a limit of detection, a cap, or a preference for whole numbers, as a die decides."""
    low, high = (
        np.array([np.quantile(x, q) for x, q in zip(noise.T, share, strict=True)])
        for share in rng.uniform([[0.01], [0.94]], [[0.06], [0.99]], (2, noise.shape[1]))
    )
    heaped = np.where(rng.random(noise.shape) < rng.uniform(0.05, 0.4, noise.shape[1]), noise.round(), noise.round(2))
    return np.choose(rng.integers(3, size=noise.shape[1]), [np.maximum(noise, low), np.minimum(noise, high), heaped])
