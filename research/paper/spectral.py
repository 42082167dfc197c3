"""Clustering by SpectralNet where it is installed, else by scikit-learn's spectral clustering."""

import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

SPECTRALNET, FALLBACK = "SpectralNet", "scikit-learn's SpectralClustering"
HINT = (
    "SpectralNet was not installed, so scikit-learn's SpectralClustering took its place; "
    "pip install -r research/paper/requirements.txt."
)


def spectral_clusters(
    X: NDArray[Any], n_clusters: int, seed: int, *, epochs: int = 100
) -> tuple[NDArray[np.intp], str]:
    """Cluster the rows, and say what did it."""
    if find_spec("spectralnet") is None:
        from sklearn.cluster import SpectralClustering

        model = SpectralClustering(n_clusters, affinity="nearest_neighbors", n_neighbors=10, random_state=seed)
        with warnings.catch_warnings():
            # Clusters that are far apart make a graph of several parts, which is what is looked for.
            warnings.simplefilter("ignore", UserWarning)
            return model.fit_predict(X), FALLBACK
    return _spectralnet(X, n_clusters, seed, epochs), SPECTRALNET


def _spectralnet(X: NDArray[Any], n_clusters: int, seed: int, epochs: int) -> NDArray[np.intp]:
    """Train SpectralNet; torch's global generator, which it draws from, is put back.

    The settings are those of five tried, its own defaults among them, with the highest accuracy on the two clean moon
    coordinates (three or four draws each), so labels chose them. They have no say in selection.
    """
    import torch
    from spectralnet import SpectralNet

    rows = torch.tensor(np.asarray(X), dtype=torch.float32)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    try:
        torch.manual_seed(seed)
        with warnings.catch_warnings(), _silence():
            warnings.simplefilter("ignore")
            model = SpectralNet(
                n_clusters,
                spectral_hiddens=[128, 128, n_clusters],
                spectral_batch_size=min(256, len(rows)),
                spectral_epochs=epochs,
                spectral_n_nbg=10,
                spectral_scale_k=5,
            )
            model.fit(rows)
            return np.asarray(model.predict(rows), dtype=np.intp)
    finally:
        torch.set_rng_state(state)
        torch.set_num_threads(threads)


def _silence() -> Any:
    """SpectralNet draws its own progress bars."""
    import io
    from contextlib import ExitStack, redirect_stderr, redirect_stdout

    stack = ExitStack()
    stack.enter_context(redirect_stdout(io.StringIO()))
    stack.enter_context(redirect_stderr(io.StringIO()))
    return stack
