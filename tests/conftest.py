import numpy as np
import pytest

from tamis.synthetic import blobs_with_copies


@pytest.fixture(scope="session")
def blobs():
    """A small planted table: two informative columns, a copy of each, six nuisance columns."""
    return blobs_with_copies(6, seed=0, n_samples=90, n_informative=2, n_clusters=3, n_copies=1)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


QUICK = {"max_epochs": 12, "random_state": 0}


@pytest.fixture
def quick():
    """Parameters that make a fit of a concrete selector take milliseconds."""
    return dict(QUICK)
