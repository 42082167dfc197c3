"""Small tables that ``--quick`` runs use in place of the real data sets, so that they need no download."""

import numpy as np

from research.paper.formats import Labelled
from tamis.synthetic import blobs_with_copies

QUICK_TABLES = ("bundled-digits", "bundled-wine", "made-blobs")
"""Two sets that scikit-learn brings along, and a made one."""


def quick_table(name: str) -> Labelled:
    """Return a small table without constant features."""
    if name == "made-blobs":
        blobs = blobs_with_copies(30, seed=0, n_samples=150)
        return Labelled(blobs.X, blobs.labels)
    from sklearn.datasets import load_digits, load_wine

    X, y = (load_wine if name == "bundled-wine" else load_digits)(return_X_y=True)
    X, y = X[:300], y[:300]
    return Labelled(X[:, np.ptp(X, axis=0) > 0], y)
