"""The step of :mod:`tamis.neural.analytic`, and Adam's, in one call of compiled code.

A compiler is only needed when tamis is installed from its sources; without one, numpy computes the same, several times
slower on small tables. Rounding differs between the two.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tamis.neural import adam, ranks
from tamis.neural.adam import Adam
from tamis.neural.analytic import Array, applies, covers
from tamis.neural.concrete import ConcreteLayer, GumbelPool
from tamis.neural.diffusion import TINY
from tamis.neural.network import Seen, hard_codes
from tamis.neural.objective import (
    LEAST_EXPLAINED,
    SMALLEST,
    Goal,
    Objective,
    Sample,
    Term,
    View,
    odds,
    reconstruction,
    redundancy,
    smoothness,
)
from tamis.neural.seen_rows import Part

try:
    from tamis.neural import _graph_step
except ImportError:
    _graph_step = None  # type: ignore[assignment]
else:
    from scipy.linalg import cython_blas

    _graph_step.use_product(cython_blas.__pyx_capi__["sgemm"])

KINDS: tuple[Callable[[View], Tensor], ...] = (reconstruction, smoothness, redundancy)
"""The terms whose values a step writes, in this order."""

NOTHING = np.empty(0, np.float32)


class CompiledStep:
    """One optimiser step after another on free logits, in place.

    Parameters
    ----------
    layer : ConcreteLayer
        What is trained.
    objective : Objective
        What is to be small.
    optimiser : Adam
        How fast, and the memory of earlier steps.
    """

    def __init__(self, layer: ConcreteLayer, objective: Objective, optimiser: Adam):
        self.layer, self.objective, self.optimiser = layer, objective, optimiser
        by_kind = {term.value: term for term in objective.terms.values()}
        self.rebuilding, self.scoring, self.repeating = (by_kind.get(kind) for kind in KINDS)
        self.order = [KINDS.index(term.value) for term in objective.terms.values() if term.value in KINDS]
        single = layer.logits.dtype == torch.float32 and ranks.share()[1] == 1
        self._possible = _graph_step is not None and single and covers(layer, objective, progress=0.0)
        self._moved: tuple[object, tuple[Array, Array, Array]] = (None, (NOTHING,) * 3)

    def covers(self, progress: float) -> bool:
        """Tell whether this step can be taken here: by one process on a CPU, in single precision."""
        return self._possible and self.objective.recipe.steps(progress) == 1

    def __call__(self, batch: Part | Seen, pool: GumbelPool, temperature: float, progress: float) -> Tensor:
        """Train on one batch; give the values of the terms: (terms, restarts)."""
        seen = _table_of(batch, self.rebuilding is not None)
        logits, graph = cast(nn.Parameter, self.layer.source.values), self.objective.recipe.graph
        values = np.empty((len(logits), len(KINDS)), np.float32)
        n_rows, width = seen.columns.shape
        shape = (len(seen.rows) or n_rows, width, len(self.layer.kept), *self.layer.shape)
        _graph_step.graph_step(
            (*shape, seen.goal_width, int(graph.self_loops), n_rows),
            self._numbers(logits, temperature, progress),
            (*_term(self.rebuilding, progress), *_term(self.scoring, progress)),
            seen.columns,
            seen.rows,
            seen.goal,
            pool.pool.numpy(),
            *pool.place(self.layer.shape),
            *self._arrays(logits),
            values,
        )
        return torch.from_numpy(values.T[self.order])

    def _arrays(self, logits: nn.Parameter) -> tuple[Array, Array, Array]:
        """Give the logits and their moments, as they are in memory until candidates leave."""
        if self._moved[0] is not logits:
            mean, square = self.optimiser.moments[logits]
            self._moved = (logits, (logits.detach().numpy(), mean.numpy(), square.numpy()))
        return self._moved[1]

    def _numbers(self, logits: nn.Parameter, temperature: float, progress: float) -> tuple[float, ...]:
        self.optimiser.steps += 1
        first, second = (1 - beta**self.optimiser.steps for beta in adam.BETAS)
        penalty = 0.0 if self.repeating is None else self.repeating.weight(progress)
        fixed = (self.objective.recipe.graph.factor, penalty, TINY, SMALLEST, LEAST_EXPLAINED, *adam.BETAS)
        return (temperature, *fixed, self.optimiser.rates[logits] / first, 1 / math.sqrt(second), adam.EPSILON)


def _term(term: Term | None, progress: float) -> tuple[float, int]:
    if term is None:
        return 0.0, 0
    return -term.weight(progress) if term.maximise else term.weight(progress), int(term.measure is odds)


def judges(sample: Sample, objective: Objective) -> bool:
    """Tell whether :func:`hard_values` can judge selections there."""
    x = sample.x
    return _graph_step is not None and x.device.type == "cpu" and x.dtype == torch.float32 and applies(objective, 1.0)


def hard_values(sample: Sample, selections: Tensor, objective: Objective) -> dict[str, Tensor]:
    """Give the values of the terms, (n,) each, for hard selections (n, k)."""
    codes = hard_codes(sample.x, selections).contiguous().numpy()
    goal, width = _goal_of(sample.goal) if objective.reconstructs else (NOTHING, 0)
    values, graph = np.empty((len(codes), 2), np.float32), objective.recipe.graph
    _graph_step.hard_values((*codes.shape, width, int(graph.self_loops)), (graph.factor, TINY), codes, goal, values)
    by_kind = dict(zip(KINDS, torch.from_numpy(np.c_[values, np.zeros(len(values), np.float32)].T), strict=True))
    return {name: by_kind[term.value] for name, term in objective.terms.items()}


def _goal_of(goal: Goal) -> tuple[Array, int]:
    """Give the weighted columns and their number if they are few, else the Gram matrix and 0."""
    n_rows, n_columns = goal.columns.shape
    if n_columns >= n_rows:
        return goal.gram.numpy(), 0
    return np.ascontiguousarray((goal.columns * goal.weights.sqrt()).numpy()), n_columns


class _Table(NamedTuple):
    """Columns that may be shown, the rows that make a batch (none: all), and the goal's columns or Gram matrix.

    The Gram matrix is that of the batch or, if rows are named, of all rows; it has the width 0.
    """

    columns: Array
    rows: NDArray[np.int64] | Array
    goal: Array
    goal_width: int


def _table_of(batch: Part | Seen, with_goal: bool) -> _Table:
    if isinstance(batch, Seen):
        goal = batch.goal.gram.numpy() if with_goal else NOTHING
        return _Table(np.ascontiguousarray(batch.shown.numpy()), NOTHING, goal, 0)
    table = batch.table
    if table.factor is None:
        return _Table(table.shown, batch.rows, table.gram, 0)
    return _Table(table.shown, batch.rows, table.factor, table.factor.shape[1])
