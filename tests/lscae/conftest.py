import numpy as np
import pytest
import torch

from tamis.lscae.problem import Problem, Targets
from tamis.lscae.rows import MemoryRows, Scaling

CPU = torch.device("cpu")


def as_they_are(n_features):
    """Return a scaling that changes nothing."""
    return Scaling(np.arange(n_features), np.zeros(n_features), np.ones(n_features))


def state(x, n_units, kept=(), candidates=None, loadings=None, seed=0):
    n_features = x.shape[1]
    scaling, targets = as_they_are(n_features), Targets()
    if loadings is not None:
        scaling, targets = scaling._replace(loadings=loadings), Targets(n_directions=loadings.shape[1])
    return Problem(
        MemoryRows(np.asarray(x), scaling, CPU),
        torch.arange(n_features),
        n_units,
        torch.tensor(kept, dtype=torch.long),
        torch.tensor([j for j in range(n_features) if j not in kept] if candidates is None else candidates),
        targets,
        seed,
    )


@pytest.fixture
def problem_of():
    """Return a problem on a table whose features are used as they are."""
    return state


@pytest.fixture
def multiples():
    """A feature and three multiples of it, and a feature on its own."""
    base = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    return torch.stack([base[:, 0], -base[:, 0], base[:, 1], base[:, 0], base[:, 0]], dim=1)
