import pytest
import torch

from tamis.lscae.problem import Targets

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
