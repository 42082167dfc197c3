"""DUFS: stochastic gates that keep columns smooth on the graph they span (Lindenbaum et al., 2021)."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.utils._param_validation import Interval, StrOptions

from tamis.neural.batching import batches
from tamis.neural.gates import gate_loss, gated_smoothness, gram_of_gated, open_share, sample_gates
from tamis.selectors.gradient import GradientSelector
from tamis.selectors.rows import StandardisedRows

START_SPREAD = 0.01
"""Standard deviation of the first µ, cut at two of them."""


class DUFS(GradientSelector):
    r"""Rank columns by gates that are learnt to keep what is smooth on the graph of the gated columns.

    A column j is multiplied by its gate :math:`z_j = \operatorname{clip}(\tfrac12 + \mu_j + \sigma \epsilon, 0, 1)`;
    the gated rows :math:`\tilde X` give the random walk :math:`P = D^{-1} W`,
    :math:`W_{il} = \exp(-\lVert \tilde x_i - \tilde x_l \rVert^2 / (b m))`, with m the median squared distance to the
    nearest row. With the smoothness :math:`s = \operatorname{mean}(\tilde X \circ P^2 \tilde X)` and the expected
    share of open gates :math:`r = \frac1d \sum_j \Phi((\mu_j + \tfrac12)/\sigma)`, gradient descent minimises

    .. math:: -s + \lambda r \quad (\texttt{loss="penalised"}) \qquad \text{or} \qquad
              -s / r \quad (\texttt{loss="parameter-free"}).

    The score of a column is its µ, large is good.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many columns to select; None selects half of them.
    loss : {"parameter-free", "penalised"}, default="parameter-free"
        Which form of the loss.
    penalty : float, default=0.1
        The λ of the penalised loss; without effect on the other one.
    gate_noise : {"feature", "sample"}, default="feature"
        Whether a step draws one gate per column, or one per row and column as the authors' code does.
    sigma : float, default=0.5
        Spread σ of the noise.
    n_neighbors : int, default=2
        Which nearest row tells m, the row itself counted as the first; at most the rows of a batch.
    bandwidth : float, default=5.0
        Factor b of the width of the kernel.
    max_epochs : int, default=500
        Passes over the rows.
    batch_size : int, default=1024
        Most rows of a step; fewer rows are taken all at once.
    learning_rate : float, default=0.02
        Step size of the Adam optimiser.
    scale : {"standard", "center"} or None, default="standard"
        What is done to the columns: z-scores, centring or nothing.
    must_keep, never : sequence of int or str, default=()
        Columns, by position or name, that are always or never selected. They count as data all the same.
    device : str, default="auto"
        Where to compute: "cpu", "cuda" or another name of a torch device; "auto" takes a GPU if there is one.
    n_jobs : int or None, default=None
        Threads of torch; None is one, unless in a joblib context.
    random_state : int, RandomState or None, default=None
        Seed of gates and batches; an int gives the same columns every time.

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
    >>> import numpy as np
    >>> from tamis import DUFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> X[:30, [1, 3]] += 6
    >>> sorted(DUFS(2, random_state=0).fit(X).selected_.tolist())
    [1, 3]
    """

    _parameter_constraints: ClassVar[dict] = {
        **GradientSelector._parameter_constraints,
        "loss": [StrOptions({"parameter-free", "penalised"})],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "gate_noise": [StrOptions({"feature", "sample"})],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "n_neighbors": [Interval(Integral, 2, None, closed="left")],
        "bandwidth": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        loss: str = "parameter-free",
        penalty: float = 0.1,
        gate_noise: str = "feature",
        sigma: float = 0.5,
        n_neighbors: int = 2,
        bandwidth: float = 5.0,
        max_epochs: int = 500,
        batch_size: int = 1024,
        learning_rate: float = 0.02,
        scale: str | None = "standard",
        must_keep: Sequence[int | str] = (),
        never: Sequence[int | str] = (),
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        super().__init__(
            n_features_to_select,
            max_epochs=max_epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            scale=scale,
            must_keep=must_keep,
            never=never,
            device=device,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.loss = loss
        self.penalty = penalty
        self.gate_noise = gate_noise
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth

    def _learn(self, rows: StandardisedRows, d: int, generator: torch.Generator) -> torch.Tensor:
        start = torch.randn(d, generator=generator, device=rows.device).clamp(-2, 2) * START_SPREAD
        mu = start.requires_grad_()
        optimiser = torch.optim.Adam([mu], lr=self.learning_rate)
        losses = []
        for _ in range(self.max_epochs):
            values = []
            for x in batches(rows, self.batch_size, generator):
                loss = self._loss(x, mu, self._noise(x, generator))
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                values.append(loss.item())
            losses.append(np.mean(values))
        self.losses_ = np.array(losses)
        return mu

    def _noise(self, x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        shape = x.shape if self.gate_noise == "sample" else x.shape[1:]
        return torch.randn(shape, generator=generator, device=x.device)

    def _loss(self, x: torch.Tensor, mu: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        gram = gram_of_gated(x, sample_gates(mu, noise, self.sigma))
        smoothness = gated_smoothness(gram, x.shape[1], min(self.n_neighbors, len(x)), self.bandwidth)
        return gate_loss(smoothness, open_share(mu, self.sigma), self.penalty if self.loss == "penalised" else None)
