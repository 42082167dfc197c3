import torch
from torch import nn

from tamis.lscae.train.adam import Adam


def parameters():
    generator = torch.Generator().manual_seed(0)
    return {
        name: nn.Parameter(torch.randn(shape, generator=generator)) for name, shape in {"a": (3, 4), "b": 2}.items()
    }


def test_it_takes_the_steps_of_torch():
    mine, theirs = parameters(), parameters()
    optimiser = Adam({"a": 0.1, "b": 0.01})
    reference = torch.optim.Adam([{"params": theirs["a"], "lr": 0.1}, {"params": theirs["b"], "lr": 0.01}])
    for _ in range(20):
        for each in (mine, theirs):
            ((each["a"].square().sum() - each["a"][0].prod()) * each["b"].exp().sum()).backward()
        optimiser.step(mine)
        reference.step()
        reference.zero_grad()
    for name, value in mine.items():
        assert value.grad is None
        torch.testing.assert_close(value, theirs[name])


def test_what_has_no_gradient_stays():
    given = parameters()
    before = given["b"].detach().clone()
    given["a"].sum().backward()
    Adam({"a": 0.1, "b": 0.1}).step(given)
    torch.testing.assert_close(given["b"].detach(), before)
