"""DUFS: its loss against loops, and its picks."""

import math

import numpy as np
import pytest
import torch
from naive_baselines import blobs, distance

from tamis import DUFS
from tamis.selectors.dufs import gate_loss, gated_gram, gated_smoothness, open_share, sample_gates


def naive_loss(X, mu, noise, sigma, knn, factor, penalty):
    n, d = X.shape
    Z = [[min(max(0.5 + mu[j] + sigma * noise[i][j], 0), 1) for j in range(d)] for i in range(n)]
    G = [[X[i][j] * Z[i][j] for j in range(d)] for i in range(n)]
    squares = [[distance(a, b) ** 2 for b in G] for a in G]
    width = float(np.median([sorted(row)[knn - 1] for row in squares]))
    W = [[math.exp(-value / (factor * width)) for value in row] for row in squares]
    P = [[value / sum(row) for value in row] for row in W]
    P2 = [[sum(P[i][m] * P[m][j] for m in range(n)) for j in range(n)] for i in range(n)]
    score = 0.0
    for i in range(n):
        for j in range(d):
            score += G[i][j] * sum(P2[i][m] * G[m][j] for m in range(n))
    score /= n * d
    share = sum(0.5 * (1 + math.erf((m + 0.5) / (sigma * math.sqrt(2)))) for m in mu) / d + 1e-6
    return -score / share if penalty is None else -score + penalty * share


@pytest.mark.parametrize("penalty", [None, 0.3])
@pytest.mark.parametrize("per_row", [True, False])
@pytest.mark.parametrize(("knn", "factor"), [(2, 5.0), (4, 1.5)])
def test_loss_equals_loops(penalty, per_row, knn, factor):
    rng = np.random.default_rng(0)
    X, mu = rng.normal(size=(8, 5)), rng.normal(scale=0.3, size=5)
    noise = rng.normal(size=(8, 5) if per_row else 5)
    gates = sample_gates(torch.from_numpy(mu), torch.from_numpy(noise), 0.5)
    smoothness = gated_smoothness(gated_gram(torch.from_numpy(X), gates), knn, factor) / 5
    loss = gate_loss(smoothness, open_share(torch.from_numpy(mu), 0.5), penalty)
    expected = naive_loss(X, mu, np.broadcast_to(noise, (8, 5)), 0.5, knn, factor, penalty)
    assert loss.item() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("loss", ["parameter-free", "penalised"])
@pytest.mark.parametrize("gate_noise", ["feature", "sample"])
def test_informative_columns_come_first(loss, gate_noise):
    selector = DUFS(3, loss=loss, gate_noise=gate_noise, max_epochs=400, random_state=0)
    assert set(selector.fit(blobs(60, informative=(1, 4, 6))).selected_) == {1, 4, 6}
    assert selector.losses_[-20:].mean() < selector.losses_[:20].mean()


def test_penalty_closes_gates():
    few, many = (
        DUFS(2, loss="penalised", penalty=penalty, max_epochs=100, random_state=0).fit(blobs()).scores_.mean()
        for penalty in (10.0, 0.0)
    )
    assert few < many


def test_batches_of_sparse_rows_equal_those_of_dense_ones():
    from scipy.sparse import csr_array

    X = np.random.default_rng(0).poisson(1.0, size=(30, 6)).astype(float)
    settings = {"batch_size": 10, "max_epochs": 5, "random_state": 0}
    assert np.array_equal(DUFS(2, **settings).fit(X).scores_, DUFS(2, **settings).fit(csr_array(X)).scores_)


@pytest.mark.parametrize(
    "parameters",
    [{"loss": "l1"}, {"penalty": -1}, {"gate_noise": "none"}, {"sigma": 0}, {"n_neighbors": 1}, {"bandwidth": 0}],
)
def test_bad_parameters_are_named(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        DUFS(**parameters).fit(blobs())


def test_unknown_device_is_a_sentence():
    with pytest.raises(ValueError, match="device='abacus' cannot be used here"):
        DUFS(device="abacus").fit(blobs())


def test_rows_with_copies_have_a_gradient():
    x = torch.from_numpy(np.repeat(blobs(4, 5), 5, axis=0)).float()
    mu = torch.zeros(5, requires_grad=True)
    gated_smoothness(gated_gram(x, sample_gates(mu, torch.zeros(5), 0.5)), 2, 5.0).backward()
    assert torch.isfinite(mu.grad).all()
    assert (mu.grad != 0).all()
