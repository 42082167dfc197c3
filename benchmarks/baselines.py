"""Time the classical selectors against skfeature-chappers: same table, same parameters, in turns.

``python -m benchmarks.baselines [--data-dir FOLDER]`` prints one table. Without TOX-171.mat in the folder (or in
``TAMIS_DATA``) a random table of the same shape is used. The peer is needed: ``pip install skfeature-chappers``.
"""

import argparse
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat

from tamis import MCFS, NDFS, SPEC, UDFS, LaplacianScore

SHAPE = (171, 5748)
K = 50
CLUSTERS = 4
Job = Callable[[np.ndarray], object]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("TAMIS_DATA"))
    parser.add_argument("--repeats", type=int, default=5, help="turns of the quick methods")
    parser.add_argument("--slow-repeats", type=int, default=1, help="turns of UDFS and NDFS")
    parser.add_argument("--limit", type=int, default=600, help="seconds after which a run is broken off")
    parser.add_argument("--only", nargs="*", help="names of methods")
    options = parser.parse_args(arguments)
    X = table(options.data_dir)
    print(f"{X.shape[0]} x {X.shape[1]}, seconds, best of several turns\n")
    print("| method | tamis | skfeature-chappers | ratio |")
    print("|---|---|---|---|")
    for name, (ours, peer, slow) in jobs().items():
        if options.only and name not in options.only:
            continue
        mine, theirs, ended = in_turns(ours, peer, X, options.slow_repeats if slow else options.repeats, options.limit)
        sign = "" if ended else "> "
        print(f"| {name} | {mine:.3f} | {sign}{theirs:.3f} | {sign}{theirs / mine:.1f} |", flush=True)


def table(folder: Path | None) -> np.ndarray:
    """Give the z-scored table, so that neither side has to scale it."""
    path = Path(folder or ".") / "TOX-171.mat"
    X = loadmat(path)["X"].astype(float) if path.exists() else np.random.default_rng(0).normal(size=SHAPE)
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0))


def in_turns(ours: Job, peer: Job, X: np.ndarray, repeats: int, limit: int) -> tuple[float, float, bool]:
    """Give the best times of both, and whether the peer ended within the limit."""
    best, ended = [np.inf, np.inf], True
    for _ in range(repeats):
        for side, job in enumerate((ours, peer)):
            given = X.copy()
            start = time.perf_counter()
            ended = run(job, given, limit) and ended
            best[side] = min(best[side], time.perf_counter() - start)
    return best[0], best[1], ended


def run(job: Job, X: np.ndarray, limit: int) -> bool:
    """Run a job, and break it off after so many seconds, as soon as it returns from compiled code."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(limit)
    try:
        job(X)
    except TimeoutError:
        return False
    finally:
        signal.alarm(0)
    return True


def jobs() -> dict[str, tuple[Job, Job, bool]]:
    """Give for each method our job, the peer's, and whether the peer takes minutes."""
    quick = {name: (*pair, False) for name, pair in graph_jobs().items()}
    return quick | {name: (*pair, True) for name, pair in sparse_learning_jobs().items()}


def peer_graph(X: np.ndarray) -> object:
    from skfeature.utility.construct_W import construct_W

    return construct_W(X, metric="euclidean", neighbor_mode="knn", weight_mode="heat_kernel", k=5, t=SIGMA)


def graph_jobs() -> dict[str, tuple[Job, Job]]:
    from skfeature.function.similarity_based.lap_score import lap_score
    from skfeature.function.similarity_based.SPEC import spec
    from skfeature.function.sparse_learning_based.MCFS import mcfs

    return {
        "Laplacian score": (
            lambda X: LaplacianScore(K, **GRAPH).fit(X),
            lambda X: lap_score(X, mode="index", W=peer_graph(X)),
        ),
        "SPEC, phi2": (
            lambda X: SPEC(K, **GRAPH).fit(X),
            lambda X: spec(X, mode="index", style=0, W=peer_graph(X)),
        ),
        "SPEC, phi3": (
            lambda X: SPEC(K, ranking="phi3", n_clusters=CLUSTERS, **GRAPH).fit(X),
            lambda X: spec(X, mode="index", style=CLUSTERS, W=peer_graph(X)),
        ),
        "MCFS": (
            lambda X: MCFS(K, n_eigenvectors=5, **GRAPH).fit(X),
            lambda X: mcfs(X, n_selected_features=K, mode="index", n_clusters=5, W=peer_graph(X)),
        ),
    }


def sparse_learning_jobs() -> dict[str, tuple[Job, Job]]:
    from skfeature.function.sparse_learning_based.NDFS import ndfs
    from skfeature.function.sparse_learning_based.UDFS import udfs

    # The peer stops when its objective changes by less than 0.001, however large it is; tamis does all its rounds. In
    # UDFS the peer has one parameter for both the ridge and the sparsity, and that of tamis is relative to the table.
    return {
        "UDFS": (
            lambda X: UDFS(K, n_clusters=CLUSTERS, n_neighbors=5, ridge=0.1, sparsity=0.1, tol=0, scale=None).fit(X),
            lambda X: udfs(X, mode="index", gamma=0.1, k=5, n_clusters=CLUSTERS),
        ),
        "NDFS": (
            lambda X: NDFS(K, n_clusters=CLUSTERS, alpha=1, beta=1, gamma=1e9, tol=0, **GRAPH).fit(X),
            lambda X: ndfs(X, mode="index", n_clusters=CLUSTERS, alpha=1, beta=1, gamma=1e9, W=peer_graph(X)),
        ),
    }


SIGMA = 70.0
"""Width of the heat kernel, about the distance between neighbours of z-scored TOX-171."""

GRAPH: dict[str, Any] = {"n_neighbors": 5, "bandwidth": SIGMA, "scale": None}


if __name__ == "__main__":
    main()
