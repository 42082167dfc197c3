import pytest
import torch

from tamis.neural.restarts import Problem
from tamis.neural.screening import Screening
from tamis.neural.stability import found_again
from tamis.synthetic import moons_with_copies


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def problem(standardised, table_rows):
    return Problem(table_rows(standardised(moons_with_copies(6, 0))), n_features=16, n_units=2)


def test_the_moons_are_found_again_and_nuisance_is_not(problem, default_objective):
    for columns in ([0, 1], [2, 3]):  # copies explain each other
        found = found_again(torch.tensor(columns), problem, default_objective, Screening(), True, generator())
        assert (found > 0.9).all()
    found = found_again(torch.tensor([7, 11]), problem, default_objective, Screening(), True, generator())
    assert (found < 0.2).all()


def test_columns_kept_by_request_are_not_looked_for(problem, default_objective):
    candidates = torch.tensor([j for j in range(16) if j != 7])
    kept = Problem(problem.rows, 16, 2, kept=[7], candidates=candidates)
    assert found_again(torch.tensor([7, 1]), kept, default_objective, None, False, generator()).shape == (1,)


def test_the_generator_decides(problem, default_objective):
    first, second, other = (
        found_again(torch.tensor([0, 8]), problem, default_objective, None, True, generator(s)) for s in (0, 0, 1)
    )
    torch.testing.assert_close(first, second, rtol=0, atol=0)
    assert not torch.equal(first, other)
