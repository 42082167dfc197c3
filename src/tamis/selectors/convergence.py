"""Words about a neural fit: whether its picks can be trusted."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SETTLED = 0.9
"""A unit that puts at least this probability on one column and its near copies has settled."""


@dataclass(frozen=True)
class Convergence:
    """What is known of a fit without labels.

    Attributes
    ----------
    peaks : ndarray
        Largest selection probability of every free unit.
    settled : ndarray
        Probability that every free unit puts on its column or near copies of it.
    collisions : int
        Units that wanted a column already taken and got their next best.
    objectives : ndarray
        J of every restart's hard selection; the smallest was chosen.
    """

    peaks: NDArray[np.float64]
    settled: NDArray[np.float64]
    collisions: int
    objectives: NDArray[np.float64]

    def sentence(self) -> str:
        """Describe the fit in one or two sentences."""
        if not self.peaks.size:
            return "Nothing to learn: every selected column was kept by request."
        settled = int((self.settled >= SETTLED).sum())
        return (
            f"{settled} of {self.peaks.size} unit(s) settled, mean peak probability {self.peaks.mean():.2f}; "
            f"{self._collisions()}; {self._restarts()}."
        )

    def _collisions(self) -> str:
        return f"{self.collisions} collision(s) resolved" if self.collisions else "no collisions"

    def _restarts(self) -> str:
        best = f"J = {self.objectives.min():.3f}"
        if self.objectives.size == 1:
            return f"{best} (one restart)"
        return f"{best}, the best of {self.objectives.size} restarts (worst {self.objectives.max():.3f})"
