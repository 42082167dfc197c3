"""The decoder network: a multilayer perceptron from the selected features, its last layer solved or trained."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import leaky_relu, pad

from tamis.lscae import parallel
from tamis.lscae.rows import Scaling

NEGATIVE_SLOPE = 0.2
RIDGE = 1e-2
"""Ridge penalty of the last layer in training, as a share of the mean energy ``Σ h²`` of a hidden unit."""

MAX_FREEDOM = 0.5
"""Penalties that leave more degrees of freedom than this share of the rows are not tried: the error is blind there."""

RIDGES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
"""Penalties that are tried for the last layer of the decoder that ``reconstruct`` uses."""


class Decoder(nn.Module):
    """Layers ``h ← LeakyReLU(h W + b)`` with slope 0.2, the last one linear.

    Parameters
    ----------
    sizes : sequence of int
        Widths from input to output, such as ``(k, 128, 128, d)``.
    generator : torch.Generator
        Source of the initial weights, uniform on ±1/√(inputs).
    """

    def __init__(self, sizes: Sequence[int], generator: torch.Generator):
        super().__init__()
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for inputs, outputs in pairwise(sizes):
            drawn = torch.rand(inputs, outputs, generator=generator, device=generator.device).mul_(2).sub_(1)
            self.weights.append(nn.Parameter(drawn / math.sqrt(max(1, inputs))))
            self.biases.append(nn.Parameter(torch.zeros(outputs, device=generator.device)))

    def forward(self, codes: Tensor) -> Tensor:
        """Return the reconstruction (rows, outputs) from codes (rows, k)."""
        return torch.addmm(self.biases[-1], self.hidden(codes), self.weights[-1])

    def hidden(self, codes: Tensor) -> Tensor:
        """Return the last hidden layer, which the readout combines linearly."""
        for weight, bias in list(zip(self.weights, self.biases, strict=True))[:-1]:
            codes = leaky_relu(torch.addmm(bias, codes, weight), NEGATIVE_SLOPE)
        return codes

    def decode(self, codes: Tensor, goal: Tensor, solved: bool) -> Tensor:
        """Return the reconstruction of a goal by a readout that is solved for, each row left out, or by the own one."""
        return leave_one_out(self.hidden(codes), goal) if solved else self(codes)


def load_decoder(state: dict[str, Tensor]) -> Decoder:
    """Return a decoder with the given weights."""
    weights = [value for name, value in state.items() if name.startswith("weights")]
    decoder = Decoder([len(weights[0]), *(weight.shape[1] for weight in weights)], torch.Generator())
    decoder.load_state_dict(state)
    return decoder


def penalised(square: Tensor, width: int) -> Tensor:
    """Add ``λ I`` to ``HᵀH`` or ``HHᵀ``; λ is a share of the mean energy of the h hidden units."""
    energy = square.diagonal().sum() / width
    return square + RIDGE * energy * torch.eye(len(square), dtype=square.dtype, device=square.device)


def hat_matrix(design: Tensor) -> Tensor:
    """Return ``H (HᵀH + λI)⁻¹ Hᵀ``, which is ``(HHᵀ + λI)⁻¹ HHᵀ`` too: the smaller of the two systems is solved."""
    rows, width = design.shape
    if rows < width:
        square = design @ design.mT
        solved: Tensor = torch.linalg.solve(penalised(square, width), square)
        return solved
    return torch.matmul(design, torch.linalg.solve(penalised(design.mT @ design, width), design.mT))


def leave_one_out(hidden: Tensor, goal: Tensor) -> Tensor:
    """Predict every row of the goal by a readout fitted on the other rows.

    With the hat matrix A, the prediction of row i without row i is ``(ŷ_i − a_ii y_i) / (1 − a_ii)``.
    """
    hat = hat_matrix(pad(hidden, (0, 1), value=1.0))
    own = hat.diagonal().clamp_max(1 - 1e-4).unsqueeze(-1)
    return (hat @ goal - own * goal) / (1 - own)


class Moments(NamedTuple):
    """What a readout is fitted on: ``HᵀH`` and ``HᵀX`` of the hidden layer H, ``‖X‖²``, and the number of rows."""

    moment: Tensor
    products: Tensor
    energy: Tensor
    n_rows: Tensor


@torch.no_grad()
def batch_moments(decoder: Decoder | None, batches: Iterable[Tensor], features: Tensor, n_features: int) -> Moments:
    """Compute the moments of rows in batches, from some features to all; missing cells are 0.

    Without a decoder, the hidden layer is these features themselves.
    """
    width = 1 + (len(features) if decoder is None else len(decoder.weights[-1]))
    moment, products = (torch.zeros(width, size, dtype=torch.float64) for size in (width, n_features))
    energy = n_rows = torch.zeros((), dtype=torch.float64)
    for batch in batches:
        x = batch.cpu().nan_to_num(nan=0.0)
        codes = x[:, features] if decoder is None else decoder.hidden(x[:, features])
        design, x = pad(codes, (0, 1), value=1.0).double(), x.double()
        moment.addmm_(design.mT, design)
        products.addmm_(design.mT, x)
        energy, n_rows = energy + x.square().sum(), n_rows + len(x)
    return Moments(moment, products, energy, n_rows)


def sparse_moments(X: Any, scaling: Scaling, features: NDArray[np.intp]) -> Moments:
    """Compute the moments of a linear decoder of a CSR matrix, which stays sparse.

    With x in units of the spread, and c the center in them, ``HᵀX`` of the scaled rows is ``Hᵀx − Hᵀ1 c``, and ``‖X‖²``
    the sum over the features of ``Σ x² − 2 c Σ x + n c²``.
    """
    x, center = X[:, scaling.features].astype(np.float64), scaling.center / scaling.spread
    x.data /= scaling.spread[x.indices]
    design = np.hstack([x[:, features].toarray() - center[features], np.ones((x.shape[0], 1))])
    products = (x.T @ design).T
    products -= np.outer(design.sum(axis=0), center)
    sums, squares = (np.asarray(part.sum(axis=0)).ravel() for part in (x, x.multiply(x)))
    energy = (squares - 2 * center * sums + len(design) * center**2).sum()
    found = (design.T @ design, products, energy, len(design))
    return Moments(*(torch.as_tensor(part, dtype=torch.float64) for part in found))


def fit_readout(moments: Moments) -> Tensor:
    """Return the ridge regression ``(HᵀH + λI)⁻¹ HᵀX`` of all features on the hidden layer, the intercept last.

    The penalty λ minimises the generalised cross-validation error. With the eigenvalues s and eigenvectors q of
    ``HᵀH``, the residual is ``‖X‖² − Σ_i (2/(s_i+λ) − s_i/(s_i+λ)²) ‖q_iᵀ HᵀX‖²``, the trace of the hat matrix
    ``Σ_i s_i/(s_i+λ)``, and the error their quotient ``residual / (1 − trace/n)²``. Processes that share a fit sum up
    what they saw.
    """
    n_processes = parallel.rank_and_size()[1]
    if n_processes > 1:
        moments = Moments(*(n_processes * parallel.mean(part) for part in moments))
    moment, products, energy, n_rows = moments
    values, vectors = torch.linalg.eigh(moment)
    values, turned = values.clamp_min(0), vectors.mT @ products
    best, chosen = torch.inf, 0.0
    for share in RIDGES:
        penalty = share * values.mean()
        shrunk = values / (values + penalty)
        residual = energy - ((2 - shrunk) / (values + penalty) * turned.square().sum(dim=1)).sum()
        freedom = shrunk.sum() / n_rows
        error = float(residual.clamp_min(0) / (1 - freedom) ** 2)
        if error < best and (freedom < MAX_FREEDOM or share == RIDGES[-1]):
            best, chosen = error, float(penalty)
    return torch.matmul(vectors, turned / (values + chosen).unsqueeze(-1))
