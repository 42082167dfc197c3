"""Narrowing: columns that no unit wants leave the race, so that a step costs less and less."""

from dataclasses import dataclass

import torch

from tamis.neural.adam import Adam
from tamis.neural.concrete import ConcreteLayer


@dataclass(frozen=True)
class Narrowing:
    """Keep ever fewer candidates, in equal ratios over the middle of training.

    Until ``start`` all are kept; at ``end``, and after, ``per_unit`` for each free unit of each restart. Candidates are
    ranked by the largest probability that any unit gives them.
    """

    start: float = 0.2
    end: float = 0.7
    per_unit: int = 8
    rounds: int = 8

    def candidates(self, progress: float, at_first: int, at_last: int) -> int:
        """Give how many candidates are kept at some progress."""
        share = min(1.0, max(0.0, (progress - self.start) / (self.end - self.start)))
        share = int(share * self.rounds) / self.rounds
        return max(at_last, int(at_first ** (1 - share) * at_last**share))

    @torch.no_grad()
    def apply(self, layer: ConcreteLayer, optimiser: Adam, progress: float) -> None:
        """Drop what must be dropped at this progress, from the layer and from the optimiser's memory."""
        restarts, units, left = layer.shape
        first = layer.n_features - len(layer.kept)
        wanted = self.candidates(progress, first, min(first, self.per_unit * units * restarts))
        if left <= wanted or not units:
            return
        best = layer.probabilities().amax(dim=(0, 1))
        positions = best.topk(wanted).indices.sort().values
        for before, after in layer.keep_candidates(positions):
            optimiser.replace(before, after, positions)
