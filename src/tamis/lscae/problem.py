"""The data of a fit: what is to be chosen and explained, and what training and refining give."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import Tensor

from tamis.lscae.rows import Rows

TINY = 1e-12

ORDER, NOISE, EVALUATION, TARGETS = range(4)
"""What random numbers are for. Each purpose has a stream of its own, by the seed, the restart and the number of the
step or pass, so that a fit that goes on from a checkpoint, and processes that share a fit, draw the same ones."""


class Batch(NamedTuple):
    """Some rows of a table, and what is to be reconstructed there.

    Attributes
    ----------
    x : Tensor (rows, d)
        The features, 0 in missing cells.
    goal : Tensor (rows, targets)
        What is to be reconstructed.
    known : Tensor (rows, d), optional
        0 in missing cells and 1 in others; None if none is missing.
    weights : Tensor (rows, targets or 1), optional
        How much is known of each cell of the goal.
    """

    x: Tensor
    goal: Tensor
    known: Tensor | None = None
    weights: Tensor | None = None

    def error_share(self, errors: Tensor) -> Tensor:
        """Return the sum of squared errors (..., rows, targets) of the goal, relative to its own sum of squares."""
        squares, total = errors.square(), self.goal.square()
        if self.weights is not None:
            squares, total = squares * self.weights, total * self.weights
        return squares.sum(dim=(-2, -1)) / (total.sum() + TINY)


class Targets(NamedTuple):
    """What is to be reconstructed: features, or directions of them, which rows have after the features.

    Attributes
    ----------
    features : Tensor of int (m,), optional
        The features; all by default.
    n_directions : int
        Number of directions, which are the goal if there are any.
    """

    features: Tensor | None = None
    n_directions: int = 0

    def batch(self, x: Tensor, center: bool) -> Batch:
        """Return rows as :class:`~tamis.lscae.rows.Scaling` takes them with their goal, centred in the batch or not.

        A feature that is constant in a batch is smooth on any graph unless it is 0. NaN is missing.
        """
        goal = known = share = None
        if self.n_directions:
            x, goal, share = x.split([x.shape[1] - self.n_directions - 1, self.n_directions, 1], dim=1)
            share = None if share.amin() == 1 else share
            goal = goal - goal.mean(dim=0) if center else goal
        if x.isnan().any():
            known = (~x.isnan()).to(x.dtype)
            x = x.nan_to_num(nan=0.0)
        if center and known is None:
            x = x - x.mean(dim=0)
        elif center and known is not None:
            x = (x - x.sum(dim=0) / known.sum(dim=0).clamp_min(1)) * known
        if goal is not None:
            return Batch(x, goal, known, share)
        wanted: Any = slice(None) if self.features is None else self.features
        return Batch(x, x[:, wanted], known, None if known is None else known[:, wanted])

    def count(self, n_features: int) -> int:
        """Return the number of targets."""
        if self.n_directions:
            return self.n_directions
        return n_features if self.features is None else len(self.features)


@dataclass(frozen=True)
class Problem:
    """What is to be chosen, from what, to explain what.

    Attributes
    ----------
    rows : Rows
        The data: features, and directions after them if these are the targets.
    features : Tensor of int
        Positions in the table of the features of the rows; what follows is numbered as in the rows.
    n_units : int
        Number of features to choose, those that are kept anyway not counted.
    kept, candidates : Tensor of int
        Features that are always shown, and those to choose from, sorted.
    targets : Targets
        What is to be reconstructed.
    seed : int
        Source of all random numbers of the fit.
    members : Tensor of int (groups, width), optional
        Features of each group, filled up with -1; if given, kept and candidates are groups.
    shared : bool
        Whether several processes share the fit.
    """

    rows: Rows
    features: Tensor
    n_units: int
    kept: Tensor
    candidates: Tensor
    targets: Targets
    seed: int
    members: Tensor | None = None
    shared: bool = False


@dataclass(frozen=True)
class Trained:
    """A trained network and its hard selection.

    Attributes
    ----------
    chosen : Tensor of int (k,)
        The hard selection, all distinct, kept ones first: features, or groups.
    objective : float
        Its J.
    probabilities, candidates : Tensor (units, candidates) and (candidates,)
        Selection probabilities ``softmax(Λ)`` at the end of training, and the features or groups they are about.
    decoder : dict of Tensor
        Weights of the network that decodes, if there is one.
    history : list of dict
        One row an epoch.
    """

    chosen: Tensor
    objective: float
    probabilities: Tensor
    candidates: Tensor
    decoder: dict[str, Tensor]
    history: list[dict[str, Any]]
