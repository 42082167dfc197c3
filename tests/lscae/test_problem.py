import pytest
import torch

from tamis.lscae.problem import Targets


@pytest.mark.parametrize(
    ("targets", "expected", "count"),
    [
        (Targets(), lambda x: x, 4),
        (Targets(torch.tensor([3, 1])), lambda x: x[:, [3, 1]], 2),
    ],
    ids=["all", "some"],
)
def test_targets_are_features(targets, expected, count):
    x = torch.randn(7, 4, generator=torch.Generator().manual_seed(0))
    batch = targets.batch(x, center=False)
    torch.testing.assert_close(batch.goal, expected(x))
    assert batch.known is batch.weights is None
    assert targets.count(4) == count


@pytest.mark.parametrize("center", [False, True])
def test_directions_come_after_the_features_with_what_is_known_of_them(center):
    x = torch.randn(7, 6, generator=torch.Generator().manual_seed(0))
    x[:, -1] = 1
    targets = Targets(n_directions=2)
    batch = targets.batch(x, center)
    shift = x.mean(dim=0) if center else torch.zeros(6)
    torch.testing.assert_close(batch.x, (x - shift)[:, :3])
    torch.testing.assert_close(batch.goal, (x - shift)[:, 3:5])
    assert batch.known is batch.weights is None
    assert targets.count(3) == 2
    x[0, 0], x[0, -1] = float("nan"), 0.5
    batch = targets.batch(x, center)
    assert batch.weights.ravel().tolist() == [0.5, *[1.0] * 6]
    assert batch.known[0].tolist() == [0, 1, 1]


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
