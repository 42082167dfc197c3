"""The concrete layer: k units that each learn which one input column to show."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from tamis.neural.logits import DirectLogits, IndirectLogits, Logits


def gumbel_like(tensor: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Draw ``G = −log(−log U)`` with U uniform on (0, 1), shaped like the tensor."""
    uniform = torch.rand(tensor.shape, dtype=tensor.dtype, device=tensor.device, generator=generator)
    smallest = torch.finfo(tensor.dtype).tiny
    return uniform.clamp_min_(smallest).log_().neg_().clamp_min_(smallest).log_().neg_()


class GumbelPool:
    """Gumbel noise drawn once and reused in ever new alignments.

    Drawing noise costs more than all else that is done with large layers. A sample is a strided view into the pool,
    ``G_ij = pool[start + i·stride + j]`` with random start and stride: rows overlap, but never in the same place.

    Parameters
    ----------
    shape : (restarts, units, columns)
        The largest shape that will be drawn.
    generator : torch.Generator, optional
        Source of the noise, the starts and the strides.
    """

    LEAST = 2**16
    SPARE = 1.5

    def __init__(self, shape: Sequence[int], generator: torch.Generator | None = None):
        self.generator = generator
        self.device = None if generator is None else generator.device
        size = max(self.LEAST, int(self.SPARE * math.prod(shape)))
        self.pool = gumbel_like(torch.empty(size, device=self.device), generator)

    def place(self, shape: Sequence[int]) -> tuple[int, int]:
        """Draw a start and a stride for noise of a shape no larger than the pool's."""
        restarts, units, columns = shape
        later_rows, spare = max(1, restarts * units - 1), len(self.pool) - columns
        first, second = torch.rand(2, generator=self.generator, device=self.device).tolist()
        stride = 1 + int(first * (spare // later_rows - 1))
        return int(second * (spare - stride * later_rows + 1)), stride

    def draw(self, shape: Sequence[int]) -> Tensor:
        """Give noise of a shape no larger than the pool's, a view that must not be written to."""
        (start, stride), units = self.place(shape), shape[1]
        return self.pool.as_strided(tuple(shape), (units * stride, stride, 1), start)


class ConcreteLayer(nn.Module):
    """Relaxed choice of one column per unit.

    A sample is ``Z = softmax((Λ + G)/τ)`` over the candidates, with logits Λ and Gumbel noise G; the temperature τ is
    applied once. As τ falls, each row of Z tends to a one-hot vector drawn with probabilities ``softmax(Λ)``.

    Parameters
    ----------
    n_restarts, n_units, n_features : int
        Number of restarts R, of units k (the kept columns included) and of input columns d.
    candidates : Tensor of int, optional
        Columns the units may choose from; all by default.
    kept : sequence of int
        Columns that are always shown, each by a unit without logits.
    indirect_size : int or None
        Length of the vectors of :class:`IndirectLogits`; None makes every logit a parameter.
    generator : torch.Generator
        Source of the initial values of indirect logits.
    """

    def __init__(
        self,
        n_restarts: int,
        n_units: int,
        n_features: int,
        *,
        candidates: Tensor | None = None,
        kept: Sequence[int] = (),
        indirect_size: int | None = None,
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        self.n_features = n_features
        self.kept: Tensor
        self.candidates: Tensor
        self.register_buffer("kept", torch.as_tensor(kept, dtype=torch.long))
        self.register_buffer("candidates", torch.arange(n_features) if candidates is None else candidates)
        self.shape = (n_restarts, n_units - len(self.kept), len(self.candidates))
        self.source: Logits = (
            DirectLogits(*self.shape)
            if indirect_size is None
            else IndirectLogits(*self.shape, size=indirect_size, generator=generator)
        )

    @property
    def logits(self) -> Tensor:
        """The logits Λ: (restarts, free units, candidates)."""
        return self.source()

    def sample(self, temperature: float, noise: Tensor) -> Tensor:
        """Give Z for the noise G, of shape (restarts, free units, candidates)."""
        return torch.softmax((self.logits + noise) / temperature, dim=-1)

    def probabilities(self, temperature: float = 1.0) -> Tensor:
        """Give ``softmax(Λ/τ)``; at τ = 1, the chance of each candidate to be shown by each free unit."""
        return torch.softmax(self.logits / temperature, dim=-1)

    def shown(self, x: Tensor) -> Tensor:
        """Give the columns of a batch that the layer looks at: the kept ones, then the candidates."""
        if not len(self.kept) and len(self.candidates) == self.n_features:
            return x
        return x[:, torch.cat([self.kept, self.candidates])]

    def codes(self, shown: Tensor, weights: Tensor) -> Tensor:
        """Show the units' view ``C = X Zᵀ`` of a batch, of shape (restarts, rows, units), kept columns first."""
        n_kept = len(self.kept)
        chosen = shown[:, n_kept:] @ weights.mT
        if not n_kept:
            return chosen
        return torch.cat([shown[:, :n_kept].expand(len(chosen), -1, -1), chosen], dim=-1)

    def gates(self, weights: Tensor) -> Tensor:
        """Tell how openly each shown column is shown, 1 for kept ones and ``g_j = max_i Z_ij``: (restarts, shown)."""
        kept = weights.new_ones(len(weights), len(self.kept))
        if not weights.shape[1]:
            return torch.cat([kept, weights.new_zeros(len(weights), weights.shape[2])], dim=-1)
        return torch.cat([kept, weights.amax(dim=1)], dim=-1)

    def keep_candidates(self, positions: Tensor) -> list[tuple[nn.Parameter, nn.Parameter]]:
        """Go on with some of the candidates only; give each parameter that was cut, and what replaced it."""
        self.candidates = self.candidates[positions]
        self.shape = (*self.shape[:2], len(positions))
        replaced = []
        for name in self.source.per_column:
            before = getattr(self.source, name)
            after = nn.Parameter(before.detach()[..., positions].contiguous())
            setattr(self.source, name, after)
            replaced.append((before, after))
        return replaced
