"""The concrete layer: k units that each learn which one feature to show."""

import torch
from torch import Tensor, nn


class ConcreteLayer(nn.Module):
    """Relaxed choice of one feature per unit.

    A sample is ``Z = softmax((Λ + G)/τ)`` over the candidates, with logits Λ, zero at first, and Gumbel noise G; the
    temperature τ is applied once. As τ falls, each row of Z tends to a one-hot vector drawn with probabilities
    ``softmax(Λ)``.

    Parameters
    ----------
    n_units : int
        Number of units that learn.
    candidates, kept : Tensor of int
        Features that the units may choose from, and features that are always shown.
    members : Tensor of int (groups, width), optional
        Features of each group, filled up with -1; if given, candidates and kept are groups.
    """

    def __init__(self, n_units: int, candidates: Tensor, kept: Tensor, members: Tensor | None = None):
        super().__init__()
        self.members = members
        self.candidates: Tensor
        self.kept: Tensor
        self.register_buffer("candidates", candidates)
        self.register_buffer("kept", kept)
        self.logits = nn.Parameter(torch.zeros(n_units, len(candidates)))

    def probabilities(self, temperature: float = 1.0, noise: Tensor | float = 0.0) -> Tensor:
        """Return ``softmax((Λ + G)/τ)`` (units, candidates): Z for noise G, and without it the noise-free weights.

        Without noise and at τ = 1, it is the chance of each candidate to be shown by each unit.
        """
        return torch.softmax((self.logits + noise) / temperature, dim=-1)

    def shown(self, x: Tensor) -> Tensor:
        """Return the features of a batch that the layer may show: the kept ones, then the candidates."""
        if self.members is None and len(self.candidates) == x.shape[1]:
            return x
        return x[:, features_of(torch.cat([self.kept, self.candidates]), self.members)]

    def codes(self, shown: Tensor, weights: Tensor) -> Tensor:
        """Return what the units show of a batch, ``C = X Zᵀ``, kept features first: (rows, units)."""
        n_kept = len(self.kept)
        return torch.cat([shown[:, :n_kept], shown[:, n_kept:] @ weights.mT], dim=-1)

    def gates(self, weights: Tensor) -> Tensor:
        """Return how openly each shown feature is shown, 1 for kept ones and ``g_j = max_i Z_ij``: (shown,)."""
        gates = torch.cat([weights.new_ones(len(self.kept)), weights.amax(dim=0)])
        if self.members is None:
            return gates
        sizes = (self.members[torch.cat([self.kept, self.candidates])] >= 0).sum(dim=1)
        return gates.repeat_interleave(sizes)


def features_of(items: Tensor, members: Tensor | None) -> Tensor:
    """Return the features of some groups, group by group; the items themselves without groups."""
    return items if members is None else members[items][members[items] >= 0]


def assign_distinct(probabilities: Tensor) -> Tensor:
    """Return a candidate of its own for each unit (units,): the surest unit chooses first, ties by position."""
    wanted = probabilities.clone()
    picks = torch.zeros(len(wanted), dtype=torch.long)
    if not len(wanted):  # and perhaps nothing to choose from
        return picks
    for unit in wanted.amax(dim=-1).argsort(descending=True, stable=True).tolist():
        picks[unit] = wanted[unit].argmax()
        wanted[:, picks[unit]] = -1.0
    return picks


def give_to_units(chosen: Tensor, probabilities: Tensor, candidates: Tensor) -> Tensor:
    """Return chosen features, the kept ones first, each at the place of the unit that wants it most.

    Exchanges may have brought in features that another unit than the one at their place had settled on.
    """
    n_kept = len(chosen) - len(probabilities)
    free = chosen[n_kept:].sort().values
    wanted = probabilities[:, torch.searchsorted(candidates, free)]
    return torch.cat([chosen[:n_kept], free[assign_distinct(wanted)]])
