"""Greedy choice of the features that explain a goal."""

import numpy as np
from numpy.typing import NDArray

RIDGE = 0.01
"""Ridge penalty, as a share of the rows."""


def pursue(
    Z: NDArray[np.float64],
    goal: NDArray[np.float64],
    candidates: NDArray[np.intp],
    kept: NDArray[np.intp],
    n_steps: int,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Select candidates greedily, in order, with the share of the goal that each explains.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Standardised features.
    goal : ndarray of shape (n, r)
        What is to be explained.
    candidates, kept : ndarray of int
        Features to choose from, and those that are there already.
    n_steps : int
        Number of features to choose.
    """
    left, features, penalty = goal.copy(), Z[:, np.r_[kept, candidates]].copy(), RIDGE * len(Z)
    total, positions, gains = max(float((goal**2).sum()), 1e-300), [], []
    free = np.r_[np.zeros(len(kept), bool), np.ones(len(candidates), bool)]
    for step in range(len(kept) + min(n_steps, len(candidates))):
        energy = (features**2).sum(axis=0) + penalty
        gain = ((features.T @ left) ** 2).sum(axis=1) / energy
        best = step if step < len(kept) else int(np.where(free, gain, -1.0).argmax())
        free[best] = False
        direction = features[:, best] / np.sqrt(energy[best])
        left -= np.outer(direction, direction @ left)
        features -= np.outer(direction, direction @ features)
        positions.append(best)
        gains.append(gain[best] / total)
    chosen = np.array(positions[len(kept) :], dtype=np.intp) - len(kept)
    # The smallest positive score marks what was chosen, however little it added.
    return candidates[chosen], np.maximum(gains[len(kept) :], 1e-12)
