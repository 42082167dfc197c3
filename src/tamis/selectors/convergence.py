"""Words about a neural fit: whether its picks can be trusted."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tamis.base import UnstableSelectionWarning

SETTLED = 0.9
"""A unit that puts at least this probability on one column and its near copies has settled."""

EXPLAINED = 0.5
"""A column is found again if what other rows select explains at least this share of its variance."""

ENOUGH = 0.9
"""Share of the columns that must be found again."""


@dataclass(frozen=True)
class Convergence:
    """What is known of a fit without labels.

    Attributes
    ----------
    peaks : ndarray
        Largest selection probability of every free unit.
    settled : ndarray
        Probability that every free unit puts on its favourite or near copies of it.
    collisions : int
        Units that wanted a column already taken and got their next best.
    objectives : ndarray
        J of every restart's hard selection; the smallest was chosen.
    objective : float
        J of the final selection.
    eliminated : bool
        Whether elimination found a better selection than the units.
    exchanges : int
        Columns that were exchanged afterwards.
    found_again : ndarray or None
        For every free column, how well what other rows select explains it; None if that was not looked at.
    """

    peaks: NDArray[np.float64]
    settled: NDArray[np.float64]
    collisions: int
    objectives: NDArray[np.float64]
    objective: float
    eliminated: bool = False
    exchanges: int = 0
    found_again: NDArray[np.float64] | None = None

    def sentence(self) -> str:
        """Describe the fit in a few sentences."""
        if not self.peaks.size:
            return "Nothing to learn: every selected column was kept by request."
        settled = int((self.settled >= SETTLED).sum())
        return (
            f"{settled} of {self.peaks.size} unit(s) settled, mean peak probability {self.peaks.mean():.2f}; "
            f"{self._collisions()}; {self._restarts()}{self._improvement()}.{self._stability()}"
        )

    @property
    def unstable(self) -> bool:
        """Whether too few of the columns were found again."""
        return self.found_again is not None and bool(np.mean(self.found_again >= EXPLAINED) < ENOUGH)

    def warn(self) -> None:
        """Warn of a selection that part of the rows does not confirm."""
        if self.unstable:
            warnings.warn(
                f"The selection may not be trusted: {self._counted()} in other rows of the table. "
                "More rows, another number of columns, or n_init= larger may help; see found_again_ for each column.",
                UnstableSelectionWarning,
                stacklevel=6,
            )

    def _collisions(self) -> str:
        return f"{self.collisions} collision(s) resolved" if self.collisions else "no collisions"

    def _restarts(self) -> str:
        best = f"J = {self.objectives.min():.3f}"
        if self.objectives.size == 1:
            return f"{best} (one restart)"
        return f"{best}, the best of {self.objectives.size} restarts (worst {self.objectives.max():.3f})"

    def _improvement(self) -> str:
        changes = []
        if self.eliminated:
            changes.append("elimination")
        if self.exchanges:
            changes.append(f"{self.exchanges} exchange(s)")
        return f", J = {self.objective:.3f} after {' and '.join(changes)}" if changes else ""

    def _stability(self) -> str:
        return "" if self.found_again is None else f" {self._counted().capitalize()} in other rows."

    def _counted(self) -> str:
        assert self.found_again is not None
        found = int((self.found_again >= EXPLAINED).sum())
        return f"{found} of {self.found_again.size} column(s) would be found again"
