"""Which columns carry structure: a memory of how smooth they were on the graphs seen during training."""

import torch
from torch import Tensor, nn

from tamis.neural.diffusion import TINY, chance_level, column_scores


class StructureMemory(nn.Module):
    """Mean, over the batches seen, of how far each column's smoothness exceeds chance.

    The graph of the selected columns alone cannot tell: it finds smooth just what is selected already. The memory also
    holds the graphs of the beginning, when all columns were open.

    Parameters
    ----------
    n_restarts, n_features : int
        Number of restarts R and of columns d.
    """

    def __init__(self, n_restarts: int, n_features: int):
        super().__init__()
        self.register_buffer("total", torch.zeros(n_restarts, n_features))
        self.register_buffer("count", torch.zeros(()))
        self.total: Tensor
        self.count: Tensor

    @torch.no_grad()
    def observe(self, x: Tensor, walk: Tensor) -> None:
        """Add ``(f_jᵀ Pᵗ f_j / f_jᵀ f_j − chance level)₊`` of a batch."""
        walk = walk.detach()
        self.total += (column_scores(x, walk) - chance_level(walk, x.shape[1])).clamp_min(0)
        self.count += 1

    def weights(self) -> Tensor:
        """Give weights proportional to the mean, with mean 1; equal ones where no column stands out: (restarts, d)."""
        excess = self.total / self.count.clamp_min(1) + TINY
        return excess / excess.mean(dim=-1, keepdim=True)
