"""Standardised batches of a table that stays on disk: shuffled by blocks, then within a buffer, and read ahead."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from tamis.io.sources.prefetch import prefetch
from tamis.io.sources.source import TableSource, stacked
from tamis.selectors.rows import standardise

BUFFER_BYTES = 2**26
"""Stored bytes of the rows that are shuffled together; one such buffer is in use while the next one is read."""

BATCHES_AHEAD = 2


class Window(NamedTuple):
    """Blocks that are shuffled together, as pairs (first row, last row + 1), and the order of their rows."""

    blocks: list[tuple[int, int]]
    order: NDArray[np.intp]


class StreamedRows:
    """Batches ``(x − center) / spread`` of some columns of a source, as float32 tensors on a device.

    The table is read anew in every epoch: its blocks in random order, the rows of some blocks at a time shuffled.

    Parameters
    ----------
    source : TableSource
        The table.
    columns : ndarray of int
        The columns to take.
    center, spread : ndarray
        What to subtract from and divide by, for each of these columns.
    device : torch.device
        Where the batches go.
    share : (int, int)
        Which part of how many the rows are of; every part has its own blocks.
    """

    def __init__(
        self,
        source: TableSource,
        columns: NDArray[np.intp],
        center: NDArray,
        spread: NDArray,
        device: torch.device,
        share: tuple[int, int] = (0, 1),
    ):
        self.source, self.device = source, device
        self.columns = None if len(columns) == source.shape[1] else columns
        self.center, self.spread = center, spread
        # All parts make equally many steps, so each goes by the same number of rows.
        self.n_rows = -(-source.shape[0] // share[1])
        self.runs = _share_of(source.runs(), *share)
        self.own_rows = sum(stop - start for run in self.runs for start, stop in run)

    def take(self, rows: torch.Tensor | None) -> torch.Tensor:
        """Give some rows, or all of them for None."""
        if rows is None:
            blocks = [block for run in self.runs for block in run]
            return self._standardised(self._load(Window(blocks, np.arange(self.own_rows))))
        wanted, back = np.unique(rows.cpu().numpy(), return_inverse=True)
        taken = self.source.take(wanted)
        return self._standardised((taken if self.columns is None else taken[:, self.columns])[back])

    def stream(self, n_batches: int, generator: torch.Generator | None, skip: int = 0) -> Iterator[torch.Tensor]:
        """Give all rows once in batches of nearly equal size, from the batch number ``skip`` on."""
        sizes = [len(part) for part in np.array_split(np.empty(self.own_rows), n_batches)]
        windows = self._windows(generator)
        return prefetch(self._batches(windows, sizes, skip), BATCHES_AHEAD)

    def _windows(self, generator: torch.Generator | None) -> list[Window]:
        """Draw the order of an epoch."""
        device = None if generator is None else generator.device
        seed = int(torch.randint(2**62, (), generator=generator, device=device))
        rng = np.random.default_rng(seed)
        blocks = [block for run in rng.permutation(len(self.runs)) for block in self.runs[run]]
        return [Window(group, rng.permutation(_length(group))) for group in self._groups(blocks)]

    def _groups(self, blocks: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        group: list[tuple[int, int]] = []
        for block in blocks:
            if group and _length([*group, block]) * self.source.row_bytes > BUFFER_BYTES:
                yield group
                group = []
            group.append(block)
        yield group

    def _batches(self, windows: list[Window], sizes: list[int], skip: int) -> Iterator[torch.Tensor]:
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
            yield self._standardised(stacked(parts))

    def _load(self, window: Window) -> Any:
        blocks = (self.source.read(*block) for block in window.blocks)
        return stacked([block if self.columns is None else block[:, self.columns] for block in blocks])

    def _standardised(self, block: Any) -> torch.Tensor:
        return standardise(block, self.center, self.spread).to(self.device)


def fits_in_buffer(source: TableSource) -> bool:
    """Tell whether a whole table is no larger than what is shuffled together anyway."""
    return source.shape[0] * source.row_bytes <= BUFFER_BYTES


def _length(blocks: list[tuple[int, int]]) -> int:
    return sum(stop - start for start, stop in blocks)


def _share_of(runs: list[NDArray[np.intp]], part: int, n_parts: int) -> list[list[tuple[int, int]]]:
    """Give the blocks of one part: a share of the rows of every run, so that all parts see all of the table."""
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
