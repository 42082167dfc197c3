"""Some rows of a table, wherever it is stored: scaled, shuffled and in batches."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import gen_batches
from torch import Tensor

from tamis.columns import BLOCK_VALUES
from tamis.io.sources.prefetch import prefetch
from tamis.io.sources.source import TableSource, stacked


class Rows(Protocol):
    """Rows of a table, or what is taken of them, as dense float32 tensors.

    Attributes
    ----------
    n_rows : int
        Number of rows that one of the processes that share a fit goes through in a pass; all make equally many steps.
    device : torch.device
        Where the tensors are.
    """

    n_rows: int
    device: torch.device

    def batches(self, n_batches: int, rng: np.random.Generator, skip: int = 0) -> Iterator[Tensor]:
        """Yield all rows once, shuffled, in batches of nearly equal size, from the batch number ``skip`` on."""
        ...


MIN_SHARE = 0.25
"""Where less than this share of a row's directions is known, they are scaled up no further."""


class Scaling(NamedTuple):
    """What is taken of a table: scaled features and, after them, directions of features that are to be reconstructed.

    Attributes
    ----------
    features : ndarray of int
        The features that are used.
    center, spread : ndarray of float
        What is subtracted from them, and what they are divided by.
    shown : ndarray of int, optional
        Positions among these of the features that are taken; all by default.
    loadings : Tensor (features, r), optional
        Directions ``f_c = Σ_j x_j l_jc``, none by default. A last column after them is the share of them that is known
        where cells are missing; what is known of a direction is divided by it.
    low, high : ndarray of float, optional
        Values beyond which cells are drawn in before they are scaled.
    """

    features: NDArray[np.intp]
    center: NDArray[np.float64]
    spread: NDArray[np.float64]
    shown: NDArray[np.intp] | None = None
    loadings: Tensor | None = None
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None

    def apply(self, block: Any) -> Tensor:
        """Return what is taken of rows, ``(x − center) / spread`` computed in float64, as float32; NaN is missing.

        The block has all features of the table, or the used ones only. The result is in C order whatever the block's,
        since the order of sums in products of matrices depends on it.
        """
        block = block if block.shape[1] == len(self.features) else block[:, self.features]
        dense = block.toarray() if issparse(block) else block
        dense = dense if self.low is None else np.clip(dense, self.low, self.high)
        scaled = (dense.astype(np.float64, copy=False) - self.center) / self.spread
        x = torch.from_numpy(scaled.astype(np.float32, order="C"))
        if self.loadings is None:
            return x
        values, share, missing = x, torch.ones(len(x), 1), x.isnan()
        if missing.any():
            energy = self.loadings.square().sum(dim=1, keepdim=True)
            values, share = x.nan_to_num(nan=0.0), (~missing).to(x.dtype) @ energy / energy.sum()
        directions = values @ self.loadings / share.clamp_min(MIN_SHARE)
        return torch.cat([x if self.shown is None else x[:, self.shown], directions, share], dim=1)


class MemoryRows:
    """Rows of an array or CSR matrix; see :class:`~tamis.lscae.rows.Rows`. Both give the same bits.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The table; it is not changed.
    scaling : Scaling
        What to take of it.
    device : torch.device
        Where the batches go.
    share : (int, int)
        Which part of every batch is taken, of how many.
    once : bool
        Whether one pass is all that is asked for; else what is taken of dense rows is computed once and kept.
    """

    def __init__(
        self, X: Any, scaling: Scaling, device: torch.device, share: tuple[int, int] = (0, 1), once: bool = False
    ):
        self.n_rows, self.device, self.share = -(-X.shape[0] // share[1]), device, share
        self._table, self._scaling = X, scaling
        self._whole: Tensor | None = None
        if issparse(X) and len(scaling.features) < X.shape[1]:
            self._table = X[:, scaling.features]
        elif not issparse(X) and not once:
            for rows in gen_batches(X.shape[0], max(1, BLOCK_VALUES // X.shape[1])):
                block = scaling.apply(X[rows]).to(device)
                self._whole = block.new_empty(len(X), block.shape[1]) if self._whole is None else self._whole
                self._whole[rows] = block

    def batches(self, n_batches: int, rng: np.random.Generator, skip: int = 0) -> Iterator[Tensor]:
        """Yield all rows once, shuffled, in batches of nearly equal size, from the batch number ``skip`` on."""
        part, n_parts = self.share
        if n_batches == n_parts == 1:
            # The same tensor in every pass, in which a step may recognise it.
            if self._whole is None:
                self._whole = self._scaling.apply(self._table).to(self.device)
            yield from [self._whole][skip:]
            return
        for chosen in np.array_split(rng.permutation(self._table.shape[0]), n_batches)[skip:]:
            rows = chosen[part::n_parts]
            if self._whole is None:
                yield self._scaling.apply(self._table[rows]).to(self.device)
            else:
                yield self._whole[torch.from_numpy(rows).to(self.device)]


BUFFER_BYTES = 2**26
"""Stored bytes of the rows that are shuffled together; one such buffer is in use while the next one is read."""

BATCHES_AHEAD = 2


class Window(NamedTuple):
    """Blocks that are shuffled together, as pairs (first row, last row + 1), and the order of their rows."""

    blocks: list[tuple[int, int]]
    order: NDArray[np.intp]


class DiskRows:
    """Rows of a source; see :class:`~tamis.lscae.rows.Rows`.

    The table is read anew in every pass: its blocks in random order, the rows of some blocks at a time shuffled.

    Parameters
    ----------
    source : TableSource
        The table.
    scaling : Scaling
        What to take of it.
    device : torch.device
        Where the batches go.
    share : (int, int)
        Which part of how many the rows are of; every part has its own blocks.
    """

    def __init__(self, source: TableSource, scaling: Scaling, device: torch.device, share: tuple[int, int] = (0, 1)):
        self.n_rows, self.device = -(-source.shape[0] // share[1]), device
        self._source, self._scaling = source, scaling
        self._all_features = len(scaling.features) == source.shape[1]
        self._runs = _share_of(source.runs(), *share)
        self._own_rows = sum(_length(run) for run in self._runs)

    def batches(self, n_batches: int, rng: np.random.Generator, skip: int = 0) -> Iterator[Tensor]:
        """Yield all rows once, shuffled, in batches of nearly equal size, from the batch number ``skip`` on."""
        sizes = [len(part) for part in np.array_split(np.empty(self._own_rows), n_batches)]
        blocks = [block for run in rng.permutation(len(self._runs)) for block in self._runs[run]]
        windows = [Window(group, rng.permutation(_length(group))) for group in self._groups(blocks)]
        return prefetch(self._batches(windows, sizes, skip), BATCHES_AHEAD)

    def _groups(self, blocks: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        group: list[tuple[int, int]] = []
        for block in blocks:
            if group and _length([*group, block]) * self._source.row_bytes > BUFFER_BYTES:
                yield group
                group = []
            group.append(block)
        yield group

    def _batches(self, windows: list[Window], sizes: list[int], skip: int) -> Iterator[Tensor]:
        passed = sum(sizes[:skip])
        while len(windows) > 1 and passed >= len(windows[0].order):
            passed -= len(windows.pop(0).order)
        orders, buffers = [window.order for window in windows], prefetch(map(self._load, windows))
        table, order = next(buffers), orders.pop(0)[passed:]
        for size in sizes[skip:]:
            parts = []
            while size > len(order):
                parts.append(table[order])
                size -= len(order)
                table, order = next(buffers), orders.pop(0)
            parts.append(table[order[:size]])
            order = order[size:]
            yield self._scaling.apply(stacked(parts)).to(self.device)

    def _load(self, window: Window) -> Any:
        blocks = (self._source.read(*block) for block in window.blocks)
        return stacked([block if self._all_features else block[:, self._scaling.features] for block in blocks])


def fits_in_buffer(source: TableSource, n_features: int) -> bool:
    """Return whether so many features of a table are no larger than what is shuffled together anyway."""
    return source.shape[0] * min(source.row_bytes, 8 * n_features) <= BUFFER_BYTES


def _length(blocks: list[tuple[int, int]]) -> int:
    return sum(stop - start for start, stop in blocks)


def _share_of(runs: list[NDArray[np.intp]], part: int, n_parts: int) -> list[list[tuple[int, int]]]:
    """Return the blocks of one part: a share of the rows of every run, so that all parts see all of the table."""
    found = []
    for run in runs:
        blocks = []
        for start, stop in zip(run[:-1].tolist(), run[1:].tolist(), strict=True):
            edges = np.linspace(start, stop, n_parts + 1).astype(int)
            if edges[part] < edges[part + 1]:
                blocks.append((int(edges[part]), int(edges[part + 1])))
        if blocks:
            found.append(blocks)
    return found
