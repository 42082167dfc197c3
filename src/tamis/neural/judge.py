"""The judge of hard selections: which restart is best, and whether its choice can be improved."""

from dataclasses import dataclass

import torch
from torch import Tensor

from tamis.neural import ranks
from tamis.neural.batching import RowSource, batches, sample_batches
from tamis.neural.exchange import exchange_features, objectives
from tamis.neural.network import SelectorNetwork
from tamis.neural.objective import Objective, Sample, Targets

ROWS = 512
"""Rows in a sample on whose graph a selection is judged."""

SAMPLES = 8
"""At most so many samples, without common rows, judge a selection whose decoder is the graph.

Of one sample alone, exchanges learn by heart what is not true of other rows.
"""

MOST_VALUES = 2**26
"""Of wide tables there are as many samples as have no more values than that."""

BATCHES = 8
"""At most so many batches judge a selection that a network decodes."""


@dataclass(frozen=True)
class Improved:
    """A hard selection (k,), its J, and how many features were exchanged."""

    columns: Tensor
    objective: float
    exchanges: int = 0


def samples_of(n_features: int) -> int:
    """Give the number of samples of a table with so many columns."""
    return max(1, min(SAMPLES, MOST_VALUES // (ROWS * n_features)))


class Judge:
    """Compute J of hard selections, always on the same rows where the graph decodes.

    Parameters
    ----------
    rows : RowSource
        The data.
    objective : Objective
        What is to be small.
    batch_size, n_features : int
        Rows in a batch of training, and columns of the table.
    targets : Targets
        What is to be reconstructed.
    generator : torch.Generator
        Source of the rows.
    """

    def __init__(
        self,
        rows: RowSource,
        objective: Objective,
        batch_size: int,
        n_features: int,
        targets: Targets,
        generator: torch.Generator | None,
    ):
        self.rows, self.objective, self.batch_size, self.generator = rows, objective, batch_size, generator
        size = batch_size if objective.needs_decoder else ROWS
        drawn = sample_batches(rows, size, generator, 1 if objective.needs_decoder else samples_of(n_features))
        self.samples = [Sample(x, targets.of(x)) for x in drawn]

    def objectives(self, network: SelectorNetwork, columns: Tensor) -> Tensor:
        """Give J of the hard columns (restarts, k) of a network's restarts, on the CPU."""
        if self.objective.needs_decoder:
            return ranks.mean(self._decoded_objectives(network, columns))
        return ranks.mean(objectives(self.samples, columns, self.objective).cpu())

    @torch.no_grad()
    def _decoded_objectives(self, network: SelectorNetwork, columns: Tensor) -> Tensor:
        values = []
        for x in batches(self.rows, self.batch_size, self.generator):
            values.append(self.objective(network.hard_view(x, self.objective, columns)).objective)
            if len(values) == BATCHES:
                break
        return torch.stack(values).mean(dim=0).cpu()

    def improve(self, columns: Tensor, value: float, candidates: Tensor, kept: Tensor) -> Improved:
        """Exchange features of a selection while J falls, where J needs nothing that has to be trained."""
        if self.objective.needs_decoder or self.objective.recipe.on != "gates" or len(columns) == len(kept):
            return Improved(columns, value)
        found, exchanges = exchange_features(
            self.samples, columns.to(candidates.device), len(kept), candidates, self.objective
        )
        value = float(objectives(self.samples, found[None], self.objective)[0])
        return Improved(found.cpu(), value, exchanges)
