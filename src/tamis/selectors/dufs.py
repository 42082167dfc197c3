"""DUFS: differentiable unsupervised feature selection (Lindenbaum et al., 2021)."""

import math
from numbers import Integral
from typing import Annotated

import torch
from sklearn.utils._param_validation import Interval, StrOptions
from torch import Tensor

from tamis.selectors.gradient import GradientSelector, Problem
from tamis.selectors.parameters import BatchSize, NonNegative, Positive, with_parameters

START_SPREAD = 0.01
"""Standard deviation of the initial µ, which are clipped at two of them."""


@with_parameters
class DUFS(GradientSelector):
    r"""Rank features by stochastic gates that keep what is smooth on the graph of the gated features.

    A feature j is multiplied by its gate :math:`z_j = \operatorname{clip}(\tfrac12 + \mu_j + \sigma \epsilon, 0, 1)`;
    the gated rows :math:`\tilde X` give the random walk :math:`P = D^{-1} W`,
    :math:`W_{il} = \exp(-\lVert \tilde x_i - \tilde x_l \rVert^2 / (b m))`, with m the median squared distance to the
    nearest row. With the smoothness :math:`s = \operatorname{mean}(\tilde X \circ P^2 \tilde X)` and the expected
    share of open gates :math:`r = \frac1d \sum_j \Phi((\mu_j + \tfrac12)/\sigma)`, gradient descent minimises

    .. math:: -s + \lambda r \quad (\texttt{loss="penalised"}) \qquad \text{or} \qquad
              -s / r \quad (\texttt{loss="parameter-free"}).

    The score of a feature is its µ; large is good.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        Number of features to select; None selects half of them.
    loss : {"parameter-free", "penalised"}, default="parameter-free"
        Form of the loss.
    penalty : float, default=0.1
        Weight λ of the penalised loss; the other one does not use it.
    gate_noise : {"feature", "sample"}, default="feature"
        Whether a step draws one gate per feature, or one per row and feature as the authors' code does.
    sigma : float, default=0.5
        Spread σ of the noise.
    n_neighbors : int, default=2
        Nearest row that determines m, counting the row itself as the first; at most the rows of a batch.
    bandwidth : float, default=5.0
        Factor b of the width of the kernel.
    max_epochs : int, default=500
        Passes over the rows.
    batch_size : int, default=1024
        Largest number of rows in a step.
    learning_rate : float, default=0.02
        Step size of the Adam optimiser.
    scale : {"standard", "center"} or None, default="standard"
        Preprocessing of the features: z-scores, centring or none.
    must_keep, never : sequence of int or str, default=()
        Features, by position, name or glob (``"MT-*"``), that are always or never selected. They count as data all
        the same.
    groups : sequence of labels, mapping of label to features, or None, default=None
        Features that are selected or left out together; a group has the mean score of its features.
    device : str, default="auto"
        A torch device, such as "cpu" or "cuda"; "auto" uses a GPU if there is one.
    random_state : int, RandomState or None, default=None
        Seed of gates and batches; an int makes the selection reproducible.

    Attributes
    ----------
    losses_ : ndarray
        Mean loss of every epoch.

    Notes
    -----
    A step takes O(b²d + b³) time for b rows in a batch. Sparse X stays sparse if its rows make more than one batch;
    otherwise it is made dense, 4 n d bytes.

    References
    ----------
    Lindenbaum, Shaham, Peterfreund, Svirsky, Casey, Kluger. Differentiable Unsupervised Feature Selection based on a
    Gated Laplacian. NeurIPS 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import DUFS
    >>> sorted(DUFS(2, random_state=0).fit(load_iris().data).selected_.tolist())
    [2, 3]
    """

    loss: Annotated[str, StrOptions({"parameter-free", "penalised"})] = "parameter-free"
    penalty: NonNegative = 0.1
    gate_noise: Annotated[str, StrOptions({"feature", "sample"})] = "feature"
    sigma: Positive = 0.5
    n_neighbors: Annotated[int, Interval(Integral, 2, None, closed="left")] = 2
    bandwidth: Positive = 5.0
    batch_size: BatchSize = 1024

    def _problem(self, n_features: int, generator: torch.Generator) -> Problem:
        start = torch.randn(n_features, generator=generator, device=generator.device).clamp(-2, 2)
        mu = (START_SPREAD * start).requires_grad_()
        return lambda x: self._loss(x, mu, generator), [mu], lambda: mu

    def _loss(self, x: Tensor, mu: Tensor, generator: torch.Generator) -> Tensor:
        shape = x.shape if self.gate_noise == "sample" else x.shape[1:]
        noise = torch.randn(shape, generator=generator, device=x.device)
        gram = gated_gram(x, sample_gates(mu, noise, self.sigma))
        smoothness = gated_smoothness(gram, min(self.n_neighbors, len(x)), self.bandwidth) / x.shape[1]
        return gate_loss(smoothness, open_share(mu, self.sigma), self.penalty if self.loss == "penalised" else None)


def sample_gates(mu: Tensor, noise: Tensor, sigma: float) -> Tensor:
    """Return ``z = clip(½ + µ + σε, 0, 1)`` for noise ε of one row, or of as many rows as the data."""
    return (0.5 + mu + sigma * noise).clamp(0, 1)


def open_share(mu: Tensor, sigma: float) -> Tensor:
    """Return the mean probability ``Φ((µ + ½)/σ)`` that a gate is open, plus 1e-6."""
    return (0.5 * (1 + torch.erf((mu + 0.5) / (sigma * math.sqrt(2))))).mean() + 1e-6


def gated_gram(x: Tensor, gates: Tensor) -> Tensor:
    """Return ``K = X̃ X̃ᵀ`` of ``X̃ = X ∘ z``; gates of one row need one product less to differentiate."""
    return (x * gates.square()) @ x.T if gates.ndim == 1 else (x * gates) @ (x * gates).T


def gated_smoothness(gram: Tensor, n_neighbors: int, factor: float) -> Tensor:
    """Return ``Σ (X̃ ∘ P² X̃) / n`` with ``P = D⁻¹ W`` and ``W = exp(−distance² / (factor · m))``.

    m is the median squared distance of the rows to their n-th nearest row, counting themselves as the first. From the
    Gram matrix ``K = X̃ X̃ᵀ`` it is ``Σ (P² ∘ K) / n``, so that P² is never multiplied by the d features.
    """
    norms = gram.diagonal()
    distances = (norms[:, None] + norms - 2 * gram).clamp_min(0)
    width = factor * torch.quantile(distances.kthvalue(n_neighbors).values, 0.5)
    # Where most rows have a copy, m is 0: a width of next to nothing keeps the walk among copies, and its gradient.
    number = torch.finfo(gram.dtype)
    walk = torch.softmax(-distances / torch.maximum(width, number.eps * distances.mean() + number.tiny), dim=-1)
    return ((walk @ walk) * gram).sum() / len(gram)


def gate_loss(smoothness: Tensor, share: Tensor, penalty: float | None) -> Tensor:
    """Return ``−smoothness + penalty · share``, or ``−smoothness / share`` without a penalty."""
    return -smoothness / share if penalty is None else penalty * share - smoothness
