"""AEFS: its loss against loops, and its picks."""

import math

import numpy as np
import pytest
import torch
from naive_baselines import blobs

from tamis import AEFS
from tamis.selectors.aefs import SparseAutoencoder


def naive_loss(X, W1, b1, W2, b2, alpha, beta):
    n, d = X.shape
    h = W1.shape[1]
    error = 0.0
    for x in X:
        hidden = [math.tanh(sum(x[j] * W1[j, u] for j in range(d)) + b1[u]) for u in range(h)]
        for j in range(d):
            error += (sum(hidden[u] * W2[u, j] for u in range(h)) + b2[j] - x[j]) ** 2
    lengths = sum(math.sqrt(sum(W1[j, u] ** 2 for u in range(h))) for j in range(d))
    decay = sum(value**2 for value in W1.ravel()) + sum(value**2 for value in W2.ravel())
    return error / (2 * n) + alpha * lengths + beta / 2 * decay


def test_loss_equals_loops():
    network = SparseAutoencoder(5, 3, torch.Generator().manual_seed(0)).double()
    with torch.no_grad():
        network.encoder_bias += 0.2
        network.decoder_bias -= 0.3
    X = np.random.default_rng(0).normal(size=(6, 5))
    parts = (network.encoder, network.encoder_bias, network.decoder, network.decoder_bias)
    expected = naive_loss(X, *(part.detach().numpy() for part in parts), 0.7, 0.2)
    assert network.loss(torch.from_numpy(X), 0.7, 0.2).item() == pytest.approx(expected, rel=1e-6)


def test_scores_are_the_lengths_of_the_first_layer():
    selector = AEFS(2, max_epochs=1, learning_rate=1e-12, random_state=0).fit(blobs(d=6))
    seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    first = SparseAutoencoder(6, 4, torch.Generator().manual_seed(seed)).encoder.detach().numpy()
    assert np.allclose(selector.scores_, np.sqrt((first**2).sum(axis=1)), atol=1e-6)


def test_columns_that_explain_others_come_first():
    selector = AEFS(3, n_hidden=1, random_state=0).fit(blobs(informative=(1, 4, 6)))
    assert set(selector.selected_) == {1, 4, 6}
    assert selector.losses_[-1] < selector.losses_[0]


def test_sparsity_shortens_all_rows():
    short, long = (AEFS(2, sparsity=alpha, random_state=0).fit(blobs()).scores_ for alpha in (10.0, 0.0))
    assert short.max() < long.min()


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_hidden": 0},
        {"sparsity": -1},
        {"weight_decay": -1},
        {"max_epochs": 0},
        {"batch_size": 1},
        {"learning_rate": 0},
    ],
)
def test_bad_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        AEFS(**parameters).fit(blobs())
