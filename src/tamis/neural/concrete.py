"""The concrete layer: k units that each learn which one input column to show."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


def gumbel_like(tensor: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Draw ``G = −log(−log U)`` with U uniform on (0, 1), shaped like the tensor."""
    uniform = torch.rand(tensor.shape, dtype=tensor.dtype, device=tensor.device, generator=generator)
    smallest = torch.finfo(tensor.dtype).tiny
    return uniform.clamp_min_(smallest).log_().neg_().clamp_min_(smallest).log_().neg_()


class ConcreteLayer(nn.Module):
    """Relaxed choice of one column per unit.

    A sample is ``Z = softmax((Λ + G)/τ)`` over the columns, with logits Λ and Gumbel noise G; the temperature τ is
    applied once. As τ falls, each row of Z tends to a one-hot vector drawn with probabilities ``softmax(Λ)``.

    Parameters
    ----------
    n_restarts, n_units, n_features : int
        Number of restarts R, of units k (the kept columns included) and of input columns d.
    candidates : Tensor of int, optional
        Columns the units may choose from; all by default.
    kept : sequence of int
        Columns that are always shown, each by a unit without logits.
    """

    def __init__(
        self,
        n_restarts: int,
        n_units: int,
        n_features: int,
        *,
        candidates: Tensor | None = None,
        kept: Sequence[int] = (),
    ):
        super().__init__()
        self.n_features = n_features
        self.kept = torch.as_tensor(kept, dtype=torch.long)
        self.candidates = candidates
        n_choices = n_features if candidates is None else len(candidates)
        self.logits = nn.Parameter(torch.zeros(n_restarts, n_units - len(self.kept), n_choices))

    def sample(self, temperature: float, generator: torch.Generator | None = None) -> Tensor:
        """Draw Z, of shape (restarts, free units, candidates)."""
        return torch.softmax((self.logits + gumbel_like(self.logits, generator)) / temperature, dim=-1)

    def probabilities(self, temperature: float = 1.0) -> Tensor:
        """Give ``softmax(Λ/τ)``; at τ = 1, the chance of each column to be shown by each free unit."""
        return torch.softmax(self.logits / temperature, dim=-1)

    def codes(self, x: Tensor, weights: Tensor) -> Tensor:
        """Show the units' view ``C = X Zᵀ`` of a batch, of shape (restarts, rows, units), kept columns first."""
        chosen = self._choices(x) @ weights.mT
        if not len(self.kept):
            return chosen
        kept = x[:, self.kept].expand(len(chosen), -1, -1)
        return torch.cat([kept, chosen], dim=-1)

    def gates(self, weights: Tensor) -> Tensor:
        """Tell how openly each column is shown, ``g_j = max_i Z_ij`` and 1 for kept ones: (restarts, d)."""
        if self.candidates is None:
            return weights.amax(dim=1)
        gates = weights.new_zeros(len(weights), self.n_features)
        gates[:, self.kept] = 1.0
        if weights.shape[1]:
            gates = gates.index_copy(1, self.candidates, weights.amax(dim=1))
        return gates

    def _choices(self, x: Tensor) -> Tensor:
        return x if self.candidates is None else x[:, self.candidates]
