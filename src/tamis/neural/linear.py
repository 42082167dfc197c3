"""A second decoder for hard selections: linear, solved in closed form, each row predicted from the others."""

import torch
from torch import Tensor

from tamis.neural.diffusion import TINY
from tamis.neural.network import hard_codes
from tamis.neural.objective import Sample

RIDGE = 1e-3
"""Penalty λ of the linear decoder, as a share of the mean energy of the selected columns."""

LEAST_LEFT_OUT = 1e-3
"""Floor of ``1 − h_i``, which a row that alone decides its prediction brings to zero."""


@torch.no_grad()
def linear_shares(sample: Sample, selections: Tensor) -> Tensor:
    """Give the share that is not reconstructed linearly from hard selections (n, k): (n,).

    With the selected columns C, ``H = C (CᵀC + λI)⁻¹ Cᵀ`` and h its diagonal, the residual of row i, when the row is
    left out, is ``(f_i − (H f)_i) / (1 − h_i)``. All columns f_j enter by ``M = Σ_j w_j f_j f_jᵀ`` alone.
    """
    gram, hat = sample.goal.gram, _hat_factor(hard_codes(sample.x, selections))
    seen = gram @ hat
    explained = (hat * seen).sum(dim=-1)
    fitted = (hat @ (hat.mT @ seen) * hat).sum(dim=-1)
    left_out = (1 - hat.square().sum(dim=-1)).clamp_min(LEAST_LEFT_OUT)
    return ((gram.diagonal() - 2 * explained + fitted) / left_out.square()).sum(dim=-1) / sample.goal.trace


def _hat_factor(codes: Tensor) -> Tensor:
    """Give U with ``U Uᵀ = H`` for selected columns (n, rows, k)."""
    energy = codes.square().sum(dim=(-2, -1)) / codes.shape[2]
    identity = torch.eye(codes.shape[2], dtype=codes.dtype, device=codes.device)
    lower = torch.linalg.cholesky(codes.mT @ codes + (RIDGE * energy + TINY)[:, None, None] * identity)
    return torch.linalg.solve_triangular(lower, codes.mT, upper=False).mT
