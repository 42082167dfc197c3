import importlib.util

import pytest
from sklearn.datasets import make_moons

from research.paper import spectral
from research.paper.spectral import FALLBACK, SPECTRALNET, spectral_clusters
from tamis.metrics import clustering_accuracy


def test_without_spectralnet_the_fallback_is_named(monkeypatch):
    monkeypatch.setattr(spectral, "find_spec", lambda name: None)
    X, y = make_moons(200, noise=0.05, random_state=0)
    clusters, name = spectral_clusters(X, 2, 0)
    assert name == FALLBACK
    assert clustering_accuracy(y, clusters) == 1


@pytest.mark.skipif(
    importlib.util.find_spec("spectralnet") is None, reason="spectralnet (extra paper) is not installed"
)
def test_spectralnet_clusters_and_leaves_the_global_generator_alone():
    import torch

    X, y = make_moons(120, noise=0.02, random_state=0)
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    clusters, name = spectral_clusters(X, 2, 0, epochs=2)
    assert name == SPECTRALNET
    assert clusters.shape == y.shape
    assert torch.rand(1) == expected
