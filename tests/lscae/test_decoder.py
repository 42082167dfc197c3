import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from torch import nn
from torch.nn.functional import pad

from tamis.columns import summarise_columns
from tamis.lscae import parallel
from tamis.lscae.decoder import (
    MAX_FREEDOM,
    RIDGE,
    RIDGES,
    Decoder,
    Moments,
    batch_moments,
    fit_readout,
    leave_one_out,
    load_decoder,
    sparse_moments,
)
from tamis.lscae.rows import Scaling


def decoder(*sizes):
    return Decoder(sizes, torch.Generator().manual_seed(4))


def test_it_is_an_ordinary_perceptron():
    made, codes = decoder(3, 5, 4), torch.randn(7, 3)
    first, last = nn.Linear(3, 5), nn.Linear(5, 4)
    for layer, weight, bias in zip((first, last), made.weights, made.biases, strict=True):
        layer.weight.data, layer.bias.data = weight.data.T, bias.data
    torch.testing.assert_close(made(codes), last(nn.functional.leaky_relu(first(codes), 0.2)))


def test_the_generator_decides_the_weights_and_torch_s_own_is_left_alone():
    state = torch.get_rng_state()
    first, second = decoder(2, 3), decoder(2, 3)
    torch.testing.assert_close(first.weights[0], second.weights[0])
    assert first.weights[0].abs().max() <= 1 / 2**0.5
    assert torch.equal(torch.get_rng_state(), state)


def test_no_inputs_leave_the_bias():
    assert decoder(0, 3)(torch.empty(4, 0)).tolist() == [[0, 0, 0]] * 4


def test_a_decoder_is_loaded_from_its_weights():
    made, codes = decoder(3, 5, 6, 4), torch.randn(7, 3)
    torch.testing.assert_close(load_decoder(made.state_dict())(codes), made(codes))


@pytest.mark.parametrize("width", [4, 20])
def test_leave_one_out_is_what_it_says(width):
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(12, width, generator=generator, dtype=torch.float64)
    goal = torch.randn(12, 3, generator=generator, dtype=torch.float64)
    predicted = leave_one_out(hidden, goal)
    penalty = RIDGE * pad(hidden, (0, 1), value=1.0).square().sum() / (width + 1)
    for row in range(12):
        others = torch.arange(12) != row
        design = pad(hidden[others], (0, 1), value=1.0)
        weights = torch.linalg.solve(design.T @ design + penalty * torch.eye(width + 1), design.T @ goal[others])
        torch.testing.assert_close(predicted[row], pad(hidden[row : row + 1], (0, 1), value=1.0)[0] @ weights)


def test_rows_cannot_be_learnt_by_heart():
    noise = torch.randn(20, 200)
    assert (leave_one_out(torch.randn(20, 50), noise) - noise).square().mean() > 0.9


@pytest.mark.parametrize("solved", [True, False])
def test_a_goal_is_decoded_by_a_solved_readout_or_by_the_own_one(solved):
    made, codes, goal = decoder(3, 5, 2), torch.randn(9, 3), torch.randn(9, 2)
    expected = leave_one_out(made.hidden(codes), goal) if solved else made(codes)
    torch.testing.assert_close(made.decode(codes, goal, solved), expected)


def chosen_by_loops(H, Y):
    """Try every penalty: the error is ‖Y − A Y‖² / (1 − trace A / n)², with A the hat matrix."""
    errors = {}
    for share in RIDGES:
        penalty = share * (H.T @ H).diagonal().mean() * torch.eye(H.shape[1])
        inverse = torch.linalg.inv(H.T @ H + penalty)
        hat = H @ inverse @ H.T
        freedom = hat.trace() / len(H)
        if freedom < MAX_FREEDOM or share == RIDGES[-1]:
            errors[float((Y - hat @ Y).square().sum() / (1 - freedom) ** 2)] = inverse @ H.T @ Y
    return errors[min(errors)]


@pytest.mark.parametrize("noise", [0.01, 3.0])
@pytest.mark.parametrize("n_rows", [6, 60])
def test_the_penalty_is_chosen_by_generalised_cross_validation(noise, n_rows):
    generator = torch.Generator().manual_seed(1)
    H = torch.randn(n_rows, 5, generator=generator, dtype=torch.float64)
    Y = H[:, :2] + noise * torch.randn(n_rows, 2, generator=generator, dtype=torch.float64)
    found = fit_readout(Moments(H.T @ H, H.T @ Y, Y.square().sum(), torch.tensor(float(n_rows))))
    torch.testing.assert_close(found, chosen_by_loops(H, Y))


def test_a_readout_over_batches_decodes_all_features(multiples):
    made = decoder(1, 6, 2)
    fitted, whole = (
        fit_readout(batch_moments(made, batches, torch.tensor([0]), 5)).float()
        for batches in (multiples.split(15), [multiples])
    )
    torch.testing.assert_close(fitted, whole)
    decoded = pad(made.hidden(multiples[:, :1]), (0, 1), value=1.0) @ fitted
    errors = (decoded - multiples).square().mean(dim=0)
    assert (errors[[0, 1, 3, 4]] < 0.05).all()
    assert errors[2] > 0.5


@pytest.mark.parametrize("scale", ["standard", "center", None])
def test_a_sparse_table_has_the_moments_of_the_same_table_in_batches(rng, scale):
    X = csr_matrix(rng.poisson(0.4, (60, 9)) * np.arange(9.0))
    scaling, features = Scaling(*summarise_columns(X).scaling(scale)), np.array([3, 1])
    dense = batch_moments(None, [scaling.apply(X[:, scaling.features])], torch.from_numpy(features), 8)
    for found, expected in zip(sparse_moments(X, scaling, features), dense, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-4)


def test_processes_that_share_a_fit_choose_the_penalty_of_all_rows(monkeypatch):
    """Noise on few rows, where the penalty depends on their number."""
    x = torch.randn(24, 9, generator=torch.Generator().manual_seed(0))
    moments = batch_moments(None, [x], torch.arange(6), 9)
    alone = fit_readout(moments)
    monkeypatch.setattr(parallel, "rank_and_size", lambda: (0, 2))
    monkeypatch.setattr(parallel, "mean", lambda part: part / 2)  # each process had half of the rows
    torch.testing.assert_close(fit_readout(moments), alone)
