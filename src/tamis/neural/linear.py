"""A second decoder for hard selections: linear, solved in closed form, each row predicted from the others."""

import torch
from torch import Tensor

from tamis.neural.diffusion import TINY
from tamis.neural.network import hard_codes
from tamis.neural.objective import Sample

RIDGE = 1e-3
"""Penalty λ of the linear decoder, as a share of the mean energy of the selected features."""

MIN_LEFT_OUT = 1e-3
"""Floor of ``1 − h_i``, which a row that alone decides its prediction brings to zero."""


@torch.no_grad()
def linear_shares(sample: Sample, selections: Tensor) -> Tensor:
    """Compute the share of the goal F that is not reconstructed linearly from hard selections (n, k): (n,).

    With the selected features C, ``H = C (CᵀC + λI)⁻¹ Cᵀ`` and h its diagonal, the residual of row i, when the row is
    left out, is ``(f_i − (H f)_i) / (1 − h_i)``.
    """
    factor = _hat_factor(hard_codes(sample.x, selections))
    residual = sample.goal - factor @ (factor.mT @ sample.goal)
    left_out = (1 - factor.square().sum(dim=-1)).clamp_min(MIN_LEFT_OUT)
    errors = (residual / left_out.unsqueeze(-1)).square().sum(dim=(-2, -1))
    return errors / (sample.goal.square().sum() + TINY)


def _hat_factor(codes: Tensor) -> Tensor:
    """Return U with ``U Uᵀ = H`` for selected features (n, rows, k)."""
    energy = codes.square().sum(dim=(-2, -1)) / codes.shape[2]
    identity = torch.eye(codes.shape[2], dtype=codes.dtype, device=codes.device)
    lower = torch.linalg.cholesky(codes.mT @ codes + (RIDGE * energy + TINY)[:, None, None] * identity)
    return torch.linalg.solve_triangular(lower, codes.mT, upper=False).mT
