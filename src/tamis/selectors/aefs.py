"""AEFS: autoencoder inspired feature selection (Han, Wang, Zhang, Li and Xu, 2018)."""

from functools import partial

import torch
from torch import Tensor, nn

from tamis.selectors.gradient import GradientSelector, Problem
from tamis.selectors.parameters import Count, NonNegative, with_parameters


@with_parameters
class AEFS(GradientSelector):
    r"""Rank features by the size of their weights in the first layer of an autoencoder.

    .. math:: \min \frac{1}{2n} \lVert X - \hat X \rVert^2 + \alpha \lVert W_1 \rVert_{2,1}
              + \frac{\beta}{2} \bigl(\lVert W_1 \rVert^2 + \lVert W_2 \rVert^2\bigr), \qquad
              \hat X = \tanh(X W_1 + b_1) W_2 + b_2 ,

    where W₁ has one row per feature. The score of a feature is the length of its row; large is good.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        Number of features to select; None selects half of them.
    n_hidden : int, default=4
        Width of the hidden layer. It must be narrow: a wide one copies every feature, noise first.
    sparsity : float, default=0.1
        Weight α of the ℓ2,1 norm.
    weight_decay : float, default=0.001
        Weight β of the squared weights.
    max_epochs : int, default=500
        Passes over the rows.
    batch_size : int, default=256
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
        Seed of weights and batches; an int makes the selection reproducible.

    Attributes
    ----------
    losses_ : ndarray
        Mean loss of every epoch.

    Notes
    -----
    An epoch takes O(n d n_hidden) time. Sparse X stays sparse if its rows make more than one batch; otherwise it is
    made dense, 4 n d bytes.

    References
    ----------
    Han, Wang, Zhang, Li, Xu. Autoencoder Inspired Unsupervised Feature Selection. ICASSP 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import AEFS
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> X[:30, [1, 3, 5]] += 6
    >>> sorted(AEFS(3, n_hidden=1, random_state=0).fit(X).selected_.tolist())
    [1, 3, 5]
    """

    n_hidden: Count = 4
    sparsity: NonNegative = 0.1
    weight_decay: NonNegative = 0.001

    def _problem(self, n_features: int, generator: torch.Generator) -> Problem:
        network = SparseAutoencoder(n_features, self.n_hidden, generator)
        loss = partial(network.loss, sparsity=self.sparsity, weight_decay=self.weight_decay)
        return loss, network.parameters(), network.encoder_lengths


class SparseAutoencoder(nn.Module):
    r"""The map :math:`\hat x = \tanh(x W_1 + b_1) W_2 + b_2`; first weights are normal with variance 2/(d + hidden)."""

    def __init__(self, n_features: int, n_hidden: int, generator: torch.Generator):
        super().__init__()
        spread, device = (2 / (n_features + n_hidden)) ** 0.5, generator.device
        encoder = torch.randn(n_features, n_hidden, generator=generator, device=device) * spread
        decoder = torch.randn(n_hidden, n_features, generator=generator, device=device) * spread
        self.encoder, self.decoder = nn.Parameter(encoder), nn.Parameter(decoder)
        self.encoder_bias = nn.Parameter(torch.zeros(n_hidden, device=device))
        self.decoder_bias = nn.Parameter(torch.zeros(n_features, device=device))

    def forward(self, x: Tensor) -> Tensor:
        """Reconstruct rows."""
        return torch.tanh(x @ self.encoder + self.encoder_bias) @ self.decoder + self.decoder_bias

    def encoder_lengths(self) -> Tensor:
        """Return the length of every row of W₁; a row of zeros has the gradient zero."""
        return self.encoder.square().sum(dim=1).add(1e-12).sqrt()

    def loss(self, x: Tensor, sparsity: float, weight_decay: float) -> Tensor:
        """Return the objective of :class:`AEFS` on some rows."""
        error: Tensor = (self(x) - x).square().sum() / (2 * len(x))
        decay = self.encoder.square().sum() + self.decoder.square().sum()
        return error + sparsity * self.encoder_lengths().sum() + weight_decay / 2 * decay
