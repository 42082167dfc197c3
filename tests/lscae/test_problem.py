from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tamis.lscae.problem import NOISE, ORDER, Targets

LOADINGS = torch.tensor([[0.5, 2.0, 0.0], [1.0, -1.0, 3.0]])


@pytest.mark.parametrize(
    ("targets", "expected", "count"),
    [
        (Targets(), lambda x: x, 4),
        (Targets(torch.tensor([3, 1])), lambda x: x[:, [3, 1]], 2),
        (Targets(torch.tensor([3, 1]), LOADINGS), lambda x: x[:, [3]] * LOADINGS[0] + x[:, [1]] * LOADINGS[1], 3),
        (Targets(loadings=torch.ones(4, 1)), lambda x: x.sum(dim=1, keepdim=True), 1),
    ],
    ids=["all", "some", "combinations", "a sum"],
)
def test_targets_are_features_or_combinations_of_them(targets, expected, count):
    x = torch.randn(7, 4, generator=torch.Generator().manual_seed(0))
    batch = targets.batch(x, center=False)
    torch.testing.assert_close(batch.goal, expected(x))
    assert batch.known is batch.weights is None
    assert targets.count(4) == count


def test_a_batch_may_be_centred_and_the_rows_are_left_as_they_were():
    x = torch.tensor([[1.0, 5.0], [3.0, 5.0]])
    assert Targets().batch(x, center=True).x.tolist() == [[-1, 0], [1, 0]]
    assert x.tolist() == [[1, 5], [3, 5]]


def test_missing_cells_are_0_and_do_not_count():
    nan = float("nan")
    batch = Targets().batch(torch.tensor([[1.0, 5.0], [nan, 7.0], [3.0, nan]]), center=True)
    assert batch.x.tolist() == [[-1, -1], [0, 1], [1, 0]]
    assert batch.known.tolist() == batch.weights.tolist() == [[1, 1], [0, 1], [1, 0]]
    errors = torch.tensor([[1.0, 0.0], [9.0, 1.0], [0.0, 9.0]])
    assert batch.error_share(errors).item() == pytest.approx(2 / 4)


def test_random_numbers_are_a_function_of_seed_purpose_restart_and_number(problem_of):
    x = torch.zeros(3, 2)
    asked = [(0, ORDER, 0, 0), (1, ORDER, 0, 0), (0, NOISE, 0, 0), (0, ORDER, 1, 0), (0, ORDER, 0, 1)]
    drawn = [problem_of(x, 1, seed=seed).rng(*rest).random() for seed, *rest in asked * 2]
    np.testing.assert_array_equal(drawn[:5], drawn[5:])
    assert len(set(drawn)) == 5


def test_noise_is_gumbel_noise_of_its_own_for_every_step(problem_of):
    problem = problem_of(torch.randn(5, 4), 2)
    drawn = problem.gumbel((200, 100), 0, 3)
    assert drawn.shape == (200, 100)
    assert drawn.mean().item() == pytest.approx(np.euler_gamma, abs=0.03)
    assert drawn.var().item() == pytest.approx(np.pi**2 / 6, abs=0.05)
    torch.testing.assert_close(problem.gumbel((200, 100), 0, 3), drawn)
    assert not torch.equal(problem.gumbel((200, 100), 0, 4), drawn)


def test_noise_is_finite_whatever_is_drawn(problem_of, monkeypatch):
    problem = problem_of(torch.randn(5, 4), 2)
    zeros = SimpleNamespace(standard_exponential=lambda shape, dtype: np.zeros(shape, dtype))
    monkeypatch.setattr(type(problem), "rng", lambda *_: zeros)
    assert problem.gumbel((2, 3), 0, 0).isfinite().all()
