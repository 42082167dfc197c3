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

    def at_last(self, layer: ConcreteLayer) -> int:
        """Give how many candidates are kept in the end."""
        restarts, units, _ = layer.shape
        return min(layer.n_features - len(layer.kept), self.per_unit * units * restarts)

    def drops_from(self, layer: ConcreteLayer) -> bool:
        """Tell whether any candidate will have to leave."""
        return layer.shape[2] > self.at_last(layer) and layer.shape[1] > 0

    @torch.no_grad()
    def apply(self, layer: ConcreteLayer, optimiser: Adam, progress: float) -> None:
        """Drop what must be dropped at this progress, from the layer and from the optimiser's memory."""
        if not self.drops_from(layer):
            return
        wanted = self.candidates(progress, layer.n_features - len(layer.kept), self.at_last(layer))
        if layer.shape[2] <= wanted:
            return
        best = layer.probabilities().amax(dim=(0, 1))
        positions = best.topk(wanted).indices.sort().values
        for before, after in layer.keep_candidates(positions):
            optimiser.replace(before, after, positions)
