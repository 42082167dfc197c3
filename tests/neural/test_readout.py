import pytest
import torch

from tamis.neural.readout import STRENGTH, Readout, leave_one_out, with_ones


def ridge(hidden, goal):
    """Ridge regression written out, for one restart."""
    design = with_ones(hidden)
    moment = design.T @ design
    strength = STRENGTH * moment.diagonal().mean()
    return torch.linalg.inv(moment + strength * torch.eye(design.shape[1])) @ design.T @ goal


@pytest.mark.parametrize("width", [4, 20])
def test_leave_one_out_is_what_it_says(width):
    hidden, goal = torch.randn(2, 12, width), torch.randn(12, 3)
    predicted = leave_one_out(hidden, goal)
    for restart in range(2):
        strength = STRENGTH * (with_ones(hidden[restart]).square().sum() / (width + 1))
        for row in range(12):
            others = torch.arange(12) != row
            design = with_ones(hidden[restart, others])
            weights = torch.linalg.solve(design.T @ design + strength * torch.eye(width + 1), design.T @ goal[others])
            torch.testing.assert_close(
                predicted[restart, row], with_ones(hidden[restart, row : row + 1])[0] @ weights, rtol=1e-3, atol=1e-4
            )


def test_rows_cannot_be_learnt_by_heart():
    noise = torch.randn(20, 200)
    assert (leave_one_out(torch.randn(1, 20, 50), noise) - noise).square().mean() > 0.9


def test_a_readout_over_batches_is_that_of_all_rows():
    hidden, goal = torch.randn(30, 4), torch.randn(30, 6)
    readout = Readout()
    for rows in torch.arange(30).split(8):
        readout.add(hidden[rows], goal[rows])
    torch.testing.assert_close(readout.solve(), ridge(hidden, goal), rtol=1e-3, atol=1e-4)
