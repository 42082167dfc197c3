"""Informative features of planted tables: one function for each kind of structure.

A kind is a function of a random generator, the number of rows and the number of informative features. It returns these
and, for each, the group it belongs to: features of one group are copies of each other, and one of them is enough.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from sklearn.datasets import make_classification, make_moons

Array = NDArray[np.float64]
Block = tuple[Array, NDArray[np.intp]]


def each_its_own(features: Array) -> Block:
    """Return the features with a group each."""
    return features, np.arange(features.shape[1])


# ------------------------------------------------------------------------------------------------------------- clusters


def labels_of(rng: np.random.Generator, n: int, n_clusters: int) -> NDArray[np.intp]:
    """Draw clusters of unequal sizes, none under a tenth of an equal share."""
    shares = rng.dirichlet(np.full(n_clusters, 4.0)) + 0.1 / n_clusters
    return rng.choice(n_clusters, size=n, p=shares / shares.sum())


def separated(
    rng: np.random.Generator, n: int, m: int, n_clusters: int, low: float, high: float, in_order: bool = False
) -> Array:
    """Draw clusters whose centres in every feature spread over ``separation`` standard deviations."""
    labels = labels_of(rng, n, n_clusters)
    labels = np.sort(labels) if in_order else labels
    separation = rng.uniform(low, high)
    centres = rng.permuted(np.tile(np.linspace(0, separation, n_clusters)[:, None], (1, m)), axis=0)
    return centres[labels] + rng.standard_normal((n, m))


def two_clusters(rng: np.random.Generator, n: int, m: int) -> Block:
    """Two clusters, shown by every feature."""
    return each_its_own(separated(rng, n, max(2, m), 2, 3.0, 8.0))


def clusters(rng: np.random.Generator, n: int, m: int) -> Block:
    """Three to six clusters with random centres."""
    return each_its_own(separated(rng, n, max(3, m), int(rng.integers(3, 7)), 5.0, 12.0))


def clusters_in_order(rng: np.random.Generator, n: int, m: int) -> Block:
    """Three to six clusters whose rows follow each other."""
    return each_its_own(separated(rng, n, max(3, m), int(rng.integers(3, 7)), 5.0, 12.0, in_order=True))


def partial_clusters(rng: np.random.Generator, n: int, m: int) -> Block:
    """Clusters each of which is set apart by features of its own, as marker genes do."""
    n_clusters = int(rng.integers(2, 6))
    m = max(2 * n_clusters, m)
    labels = labels_of(rng, n, n_clusters)
    own = np.arange(m) % n_clusters
    return each_its_own(rng.uniform(3, 7) * (labels[:, None] == own) + rng.standard_normal((n, m)))


def nested_clusters(rng: np.random.Generator, n: int, m: int) -> Block:
    """Clusters within clusters: half of the features tell the large ones apart, half the small ones within them."""
    m = max(4, m)
    outer, inner = rng.integers(2, size=(2, n))
    half = m // 2
    large = 8 * outer[:, None] + rng.standard_normal((n, half))
    small = rng.uniform(3, 5) * (2 * outer - 1)[:, None] * inner[:, None] + rng.standard_normal((n, m - half))
    return each_its_own(np.hstack([large, small]))


def rare_cluster(rng: np.random.Generator, n: int, m: int) -> Block:
    """Return a cluster of two to five percent of the rows, at least eight, with features of its own."""
    inside = np.zeros(n, bool)
    inside[rng.choice(n, size=max(8, int(n * rng.uniform(0.02, 0.05))), replace=False)] = True
    return each_its_own(rng.uniform(4, 7) * inside[:, None] + rng.standard_normal((n, max(2, m))))


def rare_events(rng: np.random.Generator, n: int, m: int) -> Block:
    """Events in a few rows of a thousand, at least eight, that move every feature."""
    n = int(max(n, np.exp(rng.uniform(np.log(500), np.log(6000)))))
    inside = np.zeros(n, bool)
    inside[rng.choice(n, size=max(8, int(n * rng.uniform(0.003, 0.02))), replace=False)] = True
    moved = rng.choice([-1, 1], max(3, m)) * rng.uniform(4, 7, max(3, m))
    return each_its_own(inside[:, None] * moved + rng.standard_normal((n, len(moved))))


def clusters_with_copies(rng: np.random.Generator, n: int, m: int) -> Block:
    """Clusters in few features, each with noisy copies."""
    m = min(max(3, m // 3), 8)
    base = separated(rng, n, m, int(rng.integers(3, 6)), 5.0, 10.0)
    copies = int(rng.integers(1, 5))
    noise = rng.uniform(0.05, 0.3) * base.std(axis=0)
    blocks = [base] + [base + noise * rng.standard_normal(base.shape) for _ in range(copies)]
    return np.hstack(blocks), np.tile(np.arange(m), copies + 1)


def classification(rng: np.random.Generator, n: int, m: int) -> Block:
    """scikit-learn's ``make_classification``: clusters on the corners of a cube, mixed linearly."""
    m = int(np.clip(m, 3, 15))
    seed = int(rng.integers(2**31))
    X, _ = make_classification(
        n, m, n_informative=m, n_redundant=0, n_clusters_per_class=2, class_sep=2.0, random_state=seed
    )
    return each_its_own(X)


def one_multimodal(rng: np.random.Generator, n: int, m: int) -> Block:  # noqa: ARG001
    """One feature of two or three modes that depends on nothing."""
    n_modes = int(rng.integers(2, 4))
    n = max(n, 150)
    return each_its_own(rng.uniform(5, 8) * labels_of(rng, n, n_modes)[:, None] + rng.standard_normal((n, 1)))


def modes_beside_factor(rng: np.random.Generator, n: int, m: int) -> Block:
    """Features of two or three modes that depend on nothing, beside many that share one factor."""
    n, own = max(n, 200), int(rng.integers(1, 5))
    labels = np.column_stack([labels_of(rng, n, int(rng.integers(2, 4))) for _ in range(own)])
    modes = rng.uniform(5, 8, own) * labels + rng.standard_normal((n, own))
    block = rng.standard_normal((n, 1)) + rng.uniform(0.3, 0.8) * rng.standard_normal((n, max(5, m)))
    return np.hstack([modes, block]), np.r_[np.arange(own), np.full(block.shape[1], own)]


# -------------------------------------------------------------------------------------------------- curves and surfaces


def curve(rng: np.random.Generator, n: int, m: int) -> Block:
    """Smooth waves of one hidden coordinate."""
    t = rng.uniform(size=(n, 1))
    m = max(3, m)
    waves = np.sin(2 * np.pi * (rng.uniform(0.4, 1.5, m) * t + rng.uniform(size=m)))
    return each_its_own(waves + rng.uniform(0.05, 0.25) * rng.standard_normal((n, m)))


def spiral(rng: np.random.Generator, n: int, m: int) -> Block:  # noqa: ARG001
    """Return a spiral in the plane."""
    n = max(n, 300)
    t = np.sqrt(rng.uniform(0.05, 1, n)) * 2 * np.pi * rng.uniform(1.0, 1.5)
    points = np.column_stack([t * np.cos(t), t * np.sin(t)])
    return each_its_own(points / t.max() + rng.uniform(0.01, 0.04) * rng.standard_normal((n, 2)))


def moons(rng: np.random.Generator, n: int, m: int) -> Block:  # noqa: ARG001
    """Two moons."""
    points, _ = make_moons(max(n, 200), noise=rng.uniform(0.05, 0.15), random_state=int(rng.integers(2**31)))
    return each_its_own(points)


def rings(rng: np.random.Generator, n: int, m: int) -> Block:  # noqa: ARG001
    """Two rings around one centre."""
    n = max(n, 400)
    radius = np.where(rng.random(n) < rng.uniform(0.3, 0.7), 1.0, rng.uniform(2.0, 3.0))
    angle = rng.uniform(0, 2 * np.pi, n)
    points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return each_its_own(points + rng.uniform(0.05, 0.2) * rng.standard_normal((n, 2)))


def sphere(rng: np.random.Generator, n: int, m: int) -> Block:  # noqa: ARG001
    """Return a sphere in three features."""
    n = max(n, 500)
    points = rng.standard_normal((n, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return each_its_own(points + rng.uniform(0.02, 0.1) * rng.standard_normal((n, 3)))


def cross(rng: np.random.Generator, n: int, m: int) -> Block:  # noqa: ARG001
    """Two lines that cross: the features are uncorrelated."""
    n = max(n, 200)
    t, sign = rng.uniform(-1, 1, n), rng.choice([-1, 1], n)
    return each_its_own(np.column_stack([t, sign * t]) + rng.uniform(0.02, 0.15) * rng.standard_normal((n, 2)))


def parabola(rng: np.random.Generator, n: int, m: int) -> Block:  # noqa: ARG001
    """Return a symmetric parabola: the features are uncorrelated."""
    n = max(n, 150)
    t = rng.uniform(-1, 1, n)
    return each_its_own(np.column_stack([t, t**2]) + rng.uniform(0.02, 0.2) * rng.standard_normal((n, 2)))


def roll(rng: np.random.Generator, n: int, m: int) -> Block:  # noqa: ARG001
    """Return the two coordinates in which a Swiss roll is rolled up."""
    n = max(n, 400)
    t = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n))
    points = np.column_stack([t * np.cos(t), t * np.sin(t)])
    return each_its_own(points + rng.uniform(0.1, 0.6) * rng.standard_normal((n, 2)))


def manifold(rng: np.random.Generator, n: int, m: int) -> Block:
    """Random smooth functions of two hidden coordinates."""
    m = max(4, m)
    hidden = np.tanh(rng.standard_normal((n, 2)) @ rng.standard_normal((2, 16)) * 1.5 + rng.standard_normal(16))
    values = hidden @ rng.standard_normal((16, m))
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    return each_its_own(values + rng.uniform(0.1, 0.5) * rng.standard_normal((n, m)))


# ------------------------------------------------------------------------------------------------- factors and networks


def factor(rng: np.random.Generator, n: int, m: int) -> Block:
    """One Gaussian factor behind all informative features."""
    m = max(3, m)
    loadings = rng.uniform(0.6, 0.95, m) * rng.choice([-1, 1], m)
    return each_its_own(_loaded(rng, rng.standard_normal((n, 1)), loadings[None]))


def series(rng: np.random.Generator, n: int, m: int, phi: float) -> Array:
    """Return autoregressive series ``x_t = φ x_(t−1) + noise``, each by itself."""
    return lfilter([1], [1, -phi], rng.standard_normal((n + 200, m)), axis=0)[200:]


def slow_factor(rng: np.random.Generator, n: int, m: int) -> Block:
    """Series in time that follow one of them, as sensors of one process do."""
    common, own = (series(rng, n, width, rng.uniform(0.9, 0.99)) for width in (1, max(3, m)))
    return each_its_own(common / common.std() + rng.uniform(0.2, 0.6) * own / own.std(axis=0))


def weak_factor(rng: np.random.Generator, n: int, m: int) -> Block:
    """One Gaussian factor of which every feature shows a little."""
    m = max(12, m)
    n = max(n, 300)
    return each_its_own(_loaded(rng, rng.standard_normal((n, 1)), rng.uniform(0.4, 0.6, (1, m))))


def factors(rng: np.random.Generator, n: int, m: int) -> Block:
    """Several Gaussian factors, every feature loading on two of them."""
    m, n_factors = max(6, m), int(rng.integers(2, 5))
    loadings = np.zeros((n_factors, m))
    for column in loadings.T:
        column[rng.choice(n_factors, 2, replace=False)] = rng.choice([-1, 1], 2) * rng.uniform(0.4, 0.68, 2)
    return each_its_own(_loaded(rng, rng.standard_normal((n, n_factors)), loadings))


def many_factors(rng: np.random.Generator, n: int, m: int) -> Block:
    """Four to thirty independent factors of unlike strength, three to ten features each; one of each is enough."""
    owner = np.repeat(np.arange(max(4, m)), rng.integers(3, 11, size=max(4, m)))
    strength = rng.uniform(1, 2, size=max(4, m))
    scores = strength * rng.standard_normal((n, len(strength)))
    return scores[:, owner] + rng.standard_normal((n, len(owner))), owner


def unequal_blocks(rng: np.random.Generator, n: int, m: int) -> Block:  # noqa: ARG001
    """One strong factor of many features beside weaker ones of few features; one of each is enough."""
    n, n_weak = max(n, 300), int(rng.integers(2, 7))
    owner = np.repeat(np.arange(n_weak + 1), np.r_[rng.integers(10, 31), rng.integers(3, 7, n_weak)])
    share = np.r_[rng.uniform(0.8, 0.95), rng.uniform(0.5, 0.75, n_weak)][owner]
    scores = rng.standard_normal((n, n_weak + 1))[:, owner]
    return np.sqrt(share) * scores + np.sqrt(1 - share) * rng.standard_normal(scores.shape), owner


def block_and_pairs(rng: np.random.Generator, n: int, m: int) -> Block:  # noqa: ARG001
    """One factor of very many features beside pairs that depend on each other; one feature of each is enough."""
    n, n_pairs, n_many = max(n, 300), int(rng.integers(3, 10)), int(rng.integers(30, 151))
    block = _loaded(rng, rng.standard_normal((n, 1)), rng.uniform(0.7, 0.95, (1, n_many)))
    first, rho = rng.standard_normal((n, n_pairs)), rng.uniform(0.5, 0.85, n_pairs)
    second = rho * first + np.sqrt(1 - rho**2) * rng.standard_normal(first.shape)
    pairs = np.arange(1, n_pairs + 1)
    return np.hstack([block, first, second]), np.r_[np.zeros(n_many, np.intp), pairs, pairs]


def far_factors(rng: np.random.Generator, n: int, m: int) -> Block:  # noqa: ARG001
    """Factors shown with Cauchy noise, or on the scale of a wide log-normal law; one feature of each is enough."""
    n, owner = max(n, 300), np.repeat(np.arange(int(rng.integers(3, 8))), 4)
    scores = rng.standard_normal((n, owner.max() + 1))[:, owner]
    if rng.random() < 0.5:
        return 3 * scores + rng.standard_cauchy(scores.shape), owner
    return np.exp(rng.uniform(1.5, 2.5) * (0.9 * scores + 0.4 * rng.standard_normal(scores.shape))), owner


def gross_cells(rng: np.random.Generator, n: int, m: int) -> Block:  # noqa: ARG001
    """Factors with two cells in a thousand that are thousands of times too large; one feature of each is enough."""
    n, owner = max(n, 300), np.repeat(np.arange(int(rng.integers(3, 8))), 4)
    X = 0.85 * rng.standard_normal((n, owner.max() + 1))[:, owner] + 0.5 * rng.standard_normal((n, len(owner)))
    return np.where(rng.random(X.shape) < 0.002, 1e4, 1) * X, owner


def clusters_beside_factors(rng: np.random.Generator, n: int, m: int) -> Block:  # noqa: ARG001
    """Two clusters that many features show, each a little, beside factors of few; one feature of each is enough."""
    n, n_factors, n_many = max(n, 300), int(rng.integers(3, 9)), int(rng.integers(10, 41))
    clusters = rng.uniform(1.3, 2.5) * rng.integers(2, size=(n, 1)) + rng.standard_normal((n, n_many))
    owner = np.repeat(np.arange(n_factors), rng.integers(3, 7, n_factors))
    factors = rng.standard_normal((n, n_factors))[:, owner] + rng.uniform(0.5, 1.0) * rng.standard_normal(
        (n, len(owner))
    )
    return np.hstack([clusters, factors]), np.r_[np.zeros(n_many, np.intp), 1 + owner]


def heavy_factor(rng: np.random.Generator, n: int, m: int) -> Block:
    """One factor with the tails of t(3)."""
    m = max(3, m)
    return each_its_own(_loaded(rng, rng.standard_t(3, (n, 1)), rng.uniform(0.7, 0.95, (1, m))))


def shocks(rng: np.random.Generator, n: int, m: int) -> Block:
    """Shocks of either sign and any size that a few rows in a hundred share."""
    n, m = max(n, 500), max(3, m)
    hit = rng.random((n, 1)) < rng.uniform(0.005, 0.03)
    size = rng.choice([-1, 1], (n, 1)) * rng.lognormal(1.5, 0.4, (n, 1))
    return each_its_own(hit * size * rng.choice([-1, 1], m) * rng.uniform(0.7, 1.3, m) + rng.standard_normal((n, m)))


def faint_factor(rng: np.random.Generator, n: int, m: int) -> Block:
    """One factor that only thousands of rows show: any two features have a correlation of about a tenth."""
    n, m = int(np.exp(rng.uniform(np.log(6000), np.log(20_000)))), int(rng.integers(4, 16))
    return each_its_own(_loaded(rng, rng.standard_normal((n, 1)), rng.uniform(0.22, 0.34, (1, m))))


def crowd(rng: np.random.Generator, n: int, m: int) -> Block:
    """Many features in few rows, all of which follow one factor faintly, so that no two are alike above chance."""
    n, m = int(rng.integers(100, 250)), int(rng.integers(20, 61))
    return each_its_own(_loaded(rng, rng.standard_normal((n, 1)), rng.uniform(0.35, 0.55, (1, m))))


def chain(rng: np.random.Generator, n: int, m: int) -> Block:
    """Return a chain in which every feature depends on the one before."""
    m = max(3, m)
    features = rng.standard_normal((n, m))
    strength = rng.uniform(0.5, 0.85)
    for j in range(1, m):
        features[:, j] = strength * features[:, j - 1] + np.sqrt(1 - strength**2) * features[:, j]
    return each_its_own(features)


def shared_scale(rng: np.random.Generator, n: int, m: int) -> Block:
    """Uncorrelated features whose sizes go together."""
    m = max(3, m)
    n = max(n, 300)
    return each_its_own(np.exp(rng.uniform(0.6, 1.2) * rng.standard_normal((n, 1))) * rng.standard_normal((n, m)))


def interaction(rng: np.random.Generator, n: int, m: int) -> Block:
    """Waves and powers of features that are themselves in the table."""
    x = rng.standard_normal((n, 2))
    made = [np.sin(2 * x[:, 0]), np.abs(x[:, 1]), x[:, 0] ** 3, x[:, 0] + x[:, 1], np.tanh(2 * x[:, 1])]
    count = int(np.clip(m - 2, 2, 5))
    noise = rng.uniform(0.1, 0.4) * rng.standard_normal((n, count))
    return each_its_own(np.hstack([x, np.column_stack(made[:count]) + noise]))


def _loaded(rng: np.random.Generator, scores: Array, loadings: Array) -> Array:
    own = np.sqrt(np.clip(1 - (loadings**2).sum(axis=0), 0.02, None))
    return scores @ loadings + own * rng.standard_normal((len(scores), loadings.shape[1]))
