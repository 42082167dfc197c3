"""The classical selectors against skfeature-chappers: same table, same parameters, in turns.

TOX-171 where TAMIS_DATA names its folder, else a random table of the same shape.
"""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from research.data import MissingDataError, find_file
from research.ledger import Row, Trial
from research.pages import Table, replace_parts
from research.speed.measure import Measure
from tamis import MCFS, NDFS, SPEC, UDFS, LaplacianScore

SHAPE, K, CLUSTERS = (171, 5748), 50, 4
TURNS, SLOW_TURNS, LIMIT = 9, 1, 40
"""Turns of the quick methods and of those whose peer takes minutes, and seconds after which a run is stopped."""

SIGMA = 70.0
"""Width of the heat kernel, about the distance between neighbours of z-scored TOX-171."""

GRAPH: dict[str, Any] = {"n_neighbors": 5, "bandwidth": SIGMA, "scale": None}
Job = Callable[[Any], object]
METHODS = ("Laplacian score", "SPEC, phi2", "SPEC, phi3", "MCFS", "UDFS", "NDFS")
SLOW = ("UDFS", "NDFS")


def trials() -> list[Trial]:
    """Return a trial per method."""
    return [{"method": method} for method in METHODS]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Alternate both sides; keep the best times, and whether the peer ended within the limit."""
    name = trial["method"]
    ours, theirs = own_jobs()[name], peer_jobs()[name]
    X, data = _table()
    best, ended = [np.inf, np.inf], True
    for _ in range(SLOW_TURNS if name in SLOW else TURNS):
        for side, job in enumerate((ours, theirs)):
            given = X.copy()
            begun = time.perf_counter()
            ended = run_limited(job, given, LIMIT) and ended
            best[side] = min(best[side], time.perf_counter() - begun)
    return {"data": data, "ours": best[0], "peer": best[1], "peer_ended": ended}


def _table() -> tuple[Any, str]:
    """Return a z-scored table, so that neither side has to scale it, and what it is."""
    try:
        from scipy.io import loadmat

        X, name = loadmat(find_file("TOX-171.mat"))["X"].astype(float), "TOX-171"
    except MissingDataError:
        X, name = np.random.default_rng(0).normal(size=SHAPE), "noise"
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0)), name


def run_limited(job: Job, X: Any, limit: int) -> bool:
    """Run a job, and stop it after so many seconds, as soon as it returns from compiled code."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(limit)
    try:
        job(X)
    except TimeoutError:
        return False
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return True


def own_jobs() -> dict[str, Job]:
    """Return the fits of tamis; it does all its rounds, while the peer stops by a tolerance of its own."""
    return {
        "Laplacian score": lambda X: LaplacianScore(K, **GRAPH).fit(X),
        "SPEC, phi2": lambda X: SPEC(K, **GRAPH).fit(X),
        "SPEC, phi3": lambda X: SPEC(K, ranking="phi3", n_clusters=CLUSTERS, **GRAPH).fit(X),
        "MCFS": lambda X: MCFS(K, n_eigenvectors=5, **GRAPH).fit(X),
        "UDFS": lambda X: UDFS(K, n_clusters=CLUSTERS, n_neighbors=5, ridge=0.1, sparsity=0.1, tol=0, scale=None).fit(
            X
        ),
        "NDFS": lambda X: NDFS(K, n_clusters=CLUSTERS, alpha=1, beta=1, gamma=1e9, tol=0, **GRAPH).fit(X),
    }


def peer_jobs() -> dict[str, Job]:
    """Return the calls of the peer. Its UDFS has one parameter for ridge and sparsity, not relative to the table."""
    from skfeature.function.similarity_based.lap_score import lap_score
    from skfeature.function.similarity_based.SPEC import spec
    from skfeature.function.sparse_learning_based.MCFS import mcfs
    from skfeature.function.sparse_learning_based.NDFS import ndfs
    from skfeature.function.sparse_learning_based.UDFS import udfs

    return {
        "Laplacian score": lambda X: lap_score(X, mode="index", W=_peer_graph(X)),
        "SPEC, phi2": lambda X: spec(X, mode="index", style=0, W=_peer_graph(X)),
        "SPEC, phi3": lambda X: spec(X, mode="index", style=CLUSTERS, W=_peer_graph(X)),
        "MCFS": lambda X: mcfs(X, n_selected_features=K, mode="index", n_clusters=5, W=_peer_graph(X)),
        "UDFS": lambda X: udfs(X, mode="index", gamma=0.1, k=5, n_clusters=CLUSTERS),
        "NDFS": lambda X: ndfs(X, mode="index", n_clusters=CLUSTERS, alpha=1, beta=1, gamma=1e9, W=_peer_graph(X)),
    }


def _peer_graph(X: Any) -> Any:
    from skfeature.utility.construct_W import construct_W

    return construct_W(X, metric="euclidean", neighbor_mode="knn", weight_mode="heat_kernel", k=5, t=SIGMA)


def write(rows: list[Row], docs: Path) -> list[Path]:
    """Write the table of ratios."""
    lines = [
        [row["trial"]["method"], row["data"], f"{'' if row['peer_ended'] else '> '}{row['peer'] / row['ours']:.1f}"]
        for row in rows
    ]
    table = Table("baselines", "Classical selectors", ["method", "table", "ratio"], lines)
    return [replace_parts(docs / "baselines.md", {"speed": table.markdown()})]


MEASURE = Measure("baselines", "classical selectors against skfeature-chappers", trials, work, write)
