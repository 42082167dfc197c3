"""An autoencoder with one hidden layer and the loss that makes it ignore columns."""

import torch
from torch import Tensor, nn


class SparseAutoencoder(nn.Module):
    r"""The map :math:`\hat x = \tanh(x W_1 + b_1) W_2 + b_2`, with one row of W₁ per column of the data.

    Parameters
    ----------
    n_columns, n_hidden : int
        Widths of input and output, and of the layer between.
    generator : torch.Generator
        Source of the first weights, normal with variance 2/(inputs + outputs).
    """

    def __init__(self, n_columns: int, n_hidden: int, generator: torch.Generator):
        super().__init__()
        spread = (2 / (n_columns + n_hidden)) ** 0.5
        device = generator.device

        def drawn(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(*shape, generator=generator, device=device) * spread)

        self.encoder, self.decoder = drawn(n_columns, n_hidden), drawn(n_hidden, n_columns)
        self.encoder_bias = nn.Parameter(torch.zeros(n_hidden, device=device))
        self.decoder_bias = nn.Parameter(torch.zeros(n_columns, device=device))

    def forward(self, x: Tensor) -> Tensor:
        """Reconstruct rows."""
        return torch.tanh(x @ self.encoder + self.encoder_bias) @ self.decoder + self.decoder_bias

    def column_lengths(self) -> Tensor:
        """Give the length of every column's row of W₁; a row of zeros has the gradient zero."""
        return self.encoder.square().sum(dim=1).add(1e-12).sqrt()

    def loss(self, x: Tensor, sparsity: float, weight_decay: float) -> Tensor:
        r"""Give :math:`\frac{1}{2n}\lVert X - \hat X\rVert^2 + \alpha\lVert W_1\rVert_{2,1}
        + \frac\beta2(\lVert W_1\rVert^2 + \lVert W_2\rVert^2)`.
        """  # noqa: D205
        error = (self(x) - x).square().sum() / (2 * len(x))
        decay = self.encoder.square().sum() + self.decoder.square().sum()
        return error + sparsity * self.column_lengths().sum() + weight_decay / 2 * decay
