import pytest
import torch
from torch import nn

from tamis.neural import adam
from tamis.neural.adam import Adam


def parameters():
    generator = torch.Generator().manual_seed(0)
    return [nn.Parameter(torch.randn(3, 4, generator=generator)), nn.Parameter(torch.randn(2, generator=generator))]


def loss(first, second):
    return (first.square().sum() - first[0].prod()) * second.exp().sum()


@pytest.mark.parametrize("fused", [True, False])
def test_it_takes_the_steps_of_torch(fused, monkeypatch):
    if not fused:
        monkeypatch.setattr(adam, "FUSED", None)
    mine, theirs = parameters(), parameters()
    optimiser = Adam([(mine[:1], 0.1), (mine[1:], 0.01)])
    reference = torch.optim.Adam([{"params": theirs[:1], "lr": 0.1}, {"params": theirs[1:], "lr": 0.01}])
    for _ in range(20):
        loss(*mine).backward()
        optimiser.step()
        reference.zero_grad()
        loss(*theirs).backward()
        reference.step()
    for one, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(one, other)


def test_what_has_no_gradient_stays():
    used, unused = parameters()
    before = unused.detach().clone()
    optimiser = Adam([((used, unused), 0.1)])
    used.sum().backward()
    optimiser.step()
    assert used.grad is None
    torch.testing.assert_close(unused.detach(), before)


def test_a_parameter_can_shrink():
    whole, part = parameters()[0], nn.Parameter(parameters()[0].detach()[:, [0, 2]])
    adams = [Adam([((whole,), 0.1)]), Adam([((whole,), 0.1)])]
    positions = torch.tensor([0, 2])
    whole.square().sum().backward()
    gradient = whole.grad.clone()
    adams[0].step()
    part.data = whole.detach()[:, [0, 2]].clone()
    adams[0].replace(whole, part, positions)
    part.grad = gradient[:, [0, 2]].clone()
    adams[0].step()
    reference = parameters()[0]
    adams[1] = Adam([((reference,), 0.1)])
    for _ in range(2):
        reference.grad = gradient.clone()
        adams[1].step()
    torch.testing.assert_close(part.detach(), reference.detach()[:, [0, 2]])
