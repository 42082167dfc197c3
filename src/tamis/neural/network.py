"""A concrete layer and a decoder, and the two ways in which they look at a batch."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tamis.neural.concrete import ConcreteLayer
from tamis.neural.decoder import Decoder
from tamis.neural.objective import ALL_FEATURES, Objective, Targets, View
from tamis.neural.readout import leave_one_out


class Seen(NamedTuple):
    """What training looks at in a batch: the features that the layer may show, and what is to be reconstructed."""

    shown: Tensor
    goal: Tensor


class SelectorNetwork(nn.Module):
    """k concrete units in front of a decoder, for several restarts at once.

    Parameters
    ----------
    layer : ConcreteLayer
        The selecting layer.
    hidden_units : sequence of int
        Widths of the decoder's hidden layers.
    targets : Targets
        What the decoder reconstructs during training.
    solved_readout : bool
        Whether the decoder's last layer is solved for in every batch, each row predicted from the others, rather than
        trained.
    generator : torch.Generator
        Source of the decoder's initial weights.
    """

    def __init__(
        self,
        layer: ConcreteLayer,
        hidden_units: Sequence[int],
        targets: Targets = ALL_FEATURES,
        solved_readout: bool = True,
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        n_restarts, free_units, _ = layer.shape
        n_targets = targets.count(layer.n_features)
        self.layer, self.targets = layer, targets
        self.solved_readout = solved_readout
        self.decoder = Decoder(n_restarts, (free_units + len(layer.kept), *hidden_units, n_targets), generator)

    def see(self, x: Tensor) -> Seen:
        """Return what training looks at in a batch."""
        return Seen(self.layer.shown(x), self.targets.of(x))

    def soft_view(self, seen: Seen, objective: Objective, temperature: float, noise: Tensor) -> View:
        """See the batch through one noisy sample of the concrete layer."""
        sample = self.layer.sample(temperature, noise)
        shown, goal = seen
        codes = self.layer.codes(shown, sample) if objective.needs_codes else None
        return View(
            goal,
            objective.recipe,
            codes,
            self._decode(codes, goal, self.solved_readout) if objective.needs_decoder else None,
            shown=shown,
            gates=self.layer.gates(sample),
            probabilities=self.layer.probabilities(temperature) if objective.needs_probabilities else None,
        )

    def hard_view(self, x: Tensor, objective: Objective, columns: Tensor) -> View:
        """See a batch through fixed columns, (restarts, k), one for each unit, the readout refitted to it.

        Every row is decoded by a readout fitted on the other rows, so that few rows cannot be learnt by heart.
        """
        codes, goal = hard_codes(x, columns), self.targets.of(x)
        decoded = self._decode(codes, goal, solved=True) if objective.needs_decoder else None
        return View(goal, objective.recipe, codes, decoded)

    def _decode(self, codes: Tensor | None, goal: Tensor, solved: bool) -> Tensor:
        assert codes is not None
        return leave_one_out(self.decoder.hidden(codes), goal) if solved else self.decoder(codes)


def hard_codes(x: Tensor, columns: Tensor) -> Tensor:
    """Pick columns (restarts, k) of a batch: (restarts, rows, k)."""
    return x[:, columns].movedim(1, 0)


def distinct_columns(layer: ConcreteLayer) -> tuple[Tensor, Tensor]:
    """Give each unit its own column: the picks (restarts, k), kept ones first, and the number of collisions.

    Units choose in the order of their peak probability, ties by position; a unit whose favourite is taken gets its
    most probable free column.
    """
    n_restarts, free_units, _ = layer.shape
    if not free_units:  # and perhaps nothing to choose from
        return layer.kept.cpu().expand(n_restarts, -1), torch.zeros(n_restarts, dtype=torch.long)
    probabilities = layer.probabilities().detach().cpu()
    picks = torch.stack([choose_in_turn(unit_by_column) for unit_by_column in probabilities])
    collisions = (picks != probabilities.argmax(dim=-1)).sum(dim=-1)
    kept = layer.kept.cpu().expand(len(picks), -1)
    return torch.cat([kept, layer.candidates.cpu()[picks]], dim=-1), collisions


def choose_in_turn(probabilities: Tensor) -> Tensor:
    """Give each unit a position of its own, the surest unit first: (units,)."""
    wanted = probabilities.clone()
    picks = torch.zeros(len(wanted), dtype=torch.long)
    for unit in wanted.amax(dim=-1).argsort(descending=True, stable=True).tolist():
        picks[unit] = wanted[unit].argmax()
        wanted[:, picks[unit]] = -1.0
    return picks
