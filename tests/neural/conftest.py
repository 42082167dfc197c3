import pytest
import torch

from tamis.neural.diffusion import Graph
from tamis.neural.objective import GraphRecipe, Objective, Term, reconstruction, redundancy, smoothness


class TableRows:
    """Rows of a table in memory that note which ones were taken."""

    def __init__(self, table):
        self.table, self.n_rows, self.taken = table, len(table), []

    def take(self, rows):
        self.taken.append(list(range(self.n_rows)) if rows is None else rows.tolist())
        return self.table if rows is None else self.table[rows]


@pytest.fixture
def table_rows():
    return TableRows


@pytest.fixture
def default_objective():
    """The objective of LSCAE with its default parameters."""
    terms = {
        "reconstruction": Term(reconstruction),
        "score": Term(smoothness, maximise=True),
        "redundancy": Term(redundancy, balanced=False),
    }
    return Objective(terms, GraphRecipe(Graph("mean", 0.05), decodes=True))


@pytest.fixture
def standardised():
    """Give a planted table as a tensor of columns with mean 0 and standard deviation 1."""

    def scale(table):
        x = torch.from_numpy(table.X)
        return ((x - x.mean(dim=0)) / x.std(dim=0, correction=0)).float()

    return scale
