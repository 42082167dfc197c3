"""AEFS: columns that a sparse autoencoder looks at (Han, Wang, Zhang, Li and Xu, 2018)."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.utils._param_validation import Interval

from tamis.neural.batching import batches
from tamis.neural.sparse_autoencoder import SparseAutoencoder
from tamis.selectors.gradient import GradientSelector
from tamis.selectors.rows import StandardisedRows


class AEFS(GradientSelector):
    r"""Rank columns by the size of their weights in the first layer of an autoencoder.

    .. math:: \min \frac{1}{2n} \lVert X - \hat X \rVert^2 + \alpha \lVert W_1 \rVert_{2,1}
              + \frac{\beta}{2} \bigl(\lVert W_1 \rVert^2 + \lVert W_2 \rVert^2\bigr), \qquad
              \hat X = \tanh(X W_1 + b_1) W_2 + b_2 ,

    where W₁ has one row per column of X. The score of a column is the length of its row, large is good.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many columns to select; None selects half of them.
    n_hidden : int, default=4
        Width of the hidden layer. It must be narrow: a wide one copies every column, noise first.
    sparsity : float, default=0.1
        The weight α of the ℓ2,1 norm.
    weight_decay : float, default=0.001
        The weight β of the squared weights.
    max_epochs : int, default=500
        Passes over the rows.
    batch_size : int, default=256
        Most rows of a step.
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
        Seed of weights and batches; an int gives the same columns every time.

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
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> X[:30, [1, 3, 5]] += 6
    >>> sorted(AEFS(3, n_hidden=1, random_state=0).fit(X).selected_.tolist())
    [1, 3, 5]
    """

    _parameter_constraints: ClassVar[dict] = {
        **GradientSelector._parameter_constraints,
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "sparsity": [Interval(Real, 0, None, closed="left")],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        n_hidden: int = 4,
        sparsity: float = 0.1,
        weight_decay: float = 0.001,
        max_epochs: int = 500,
        batch_size: int = 256,
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
        self.n_hidden = n_hidden
        self.sparsity = sparsity
        self.weight_decay = weight_decay

    def _learn(self, rows: StandardisedRows, d: int, generator: torch.Generator) -> torch.Tensor:
        network = SparseAutoencoder(d, self.n_hidden, generator)
        optimiser = torch.optim.Adam(network.parameters(), lr=self.learning_rate, fused=True)
        losses = []
        for _ in range(self.max_epochs):
            values = []
            for x in batches(rows, self.batch_size, generator):
                loss = network.loss(x, self.sparsity, self.weight_decay)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                values.append(loss.item())
            losses.append(np.mean(values))
        self.losses_ = np.array(losses)
        return network.column_lengths()
