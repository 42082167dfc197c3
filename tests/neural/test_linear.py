import pytest
import torch

from tamis.neural import linear
from tamis.neural.linear import linear_shares
from tamis.neural.objective import Sample


@pytest.fixture
def x():
    x = torch.randn(40, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    x[:, 5:] += x[:, :2]
    return x - x.mean(dim=0)


def share_by_loops(x, goal, columns):
    """Solve the ridge regression anew without each row, and predict that row."""
    error, penalty = 0.0, linear.RIDGE * x[:, columns].square().sum() / len(columns)
    for i in range(len(x)):
        others = torch.arange(len(x)) != i
        C = x[others][:, columns]
        coefficients = torch.linalg.solve(C.T @ C + penalty * torch.eye(len(columns)), C.T @ goal[others])
        error += float((goal[i] - x[i, columns] @ coefficients).square().sum())
    return error / float(goal.square().sum())


@pytest.mark.parametrize("columns", [[0], [1, 5], [6, 2, 0, 3]])
@pytest.mark.parametrize("n_targets", [7, 2, 11], ids=["all", "fewer", "more"])
def test_shares_are_those_of_regressions_without_each_row(x, columns, n_targets):
    loadings = torch.randn(7, n_targets, dtype=x.dtype, generator=torch.Generator().manual_seed(1))
    goal = x if n_targets == 7 else x @ loadings
    found = linear_shares(Sample(x, goal), torch.tensor([columns]))
    assert found.tolist() == pytest.approx([share_by_loops(x, goal, columns)])


def test_selections_do_not_mix(x):
    sample, selections = Sample(x, x), torch.tensor([[0, 1], [2, 3], [4, 6]])
    each = [linear_shares(sample, one[None])[0] for one in selections]
    torch.testing.assert_close(linear_shares(sample, selections), torch.stack(each))


def test_what_is_a_linear_map_of_the_selection_is_explained(x):
    table = torch.cat([x[:, :2], x[:, :1] - 3 * x[:, 1:2]], dim=1)
    assert linear_shares(Sample(table, table), torch.tensor([[0, 1]])).item() < 1e-4
    noise = x[:, 3:4]
    assert linear_shares(Sample(x, noise), torch.tensor([[0, 1]])).item() > 0.9


@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_units_do_not_matter(x, unit):
    selections, x = torch.tensor([[0, 5, 1], [2, 3, 6]]), x.float()
    expected = linear_shares(Sample(x, x), selections)
    torch.testing.assert_close(linear_shares(Sample(unit * x, unit * x), selections), expected)
    uneven = x * torch.tensor([1.0, 1, unit**2, 1, 1, 1, 1])
    assert torch.isfinite(linear_shares(Sample(uneven, x), selections)).all()


def test_columns_that_are_constant_explain_nothing(x):
    still = torch.zeros_like(x)
    assert linear_shares(Sample(still, x), torch.tensor([[0, 1]])).item() == pytest.approx(1)


def test_copies_and_as_many_columns_as_rows_give_finite_shares(x):
    few = x[:5]
    assert torch.isfinite(linear_shares(Sample(few, few), torch.tensor([[0, 1, 2, 3, 4, 5]]))).all()
    copied = x[:, [0, 0, 1]]
    assert torch.isfinite(linear_shares(Sample(copied, copied), torch.tensor([[0, 1]]))).all()
