"""What the selectors share that learn one score per column by gradient descent: batches, device and seed."""

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from tamis.base import FeatureSelector, Selection, Task
from tamis.scaling import scaling
from tamis.selectors.compute import torch_device, torch_threads
from tamis.selectors.rows import StandardisedRows


class GradientSelector(FeatureSelector):
    """A selector that learns the scores of the varying columns from batches of rows, in :meth:`_learn`."""

    _parameter_constraints: ClassVar[dict] = {
        **FeatureSelector._parameter_constraints,
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 3, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "scale": [StrOptions({"standard", "center"}), None],
        "device": [str],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        max_epochs: int,
        batch_size: int,
        learning_rate: float,
        scale: str | None = "standard",
        must_keep: Sequence[int | str] = (),
        never: Sequence[int | str] = (),
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        super().__init__(n_features_to_select, must_keep=must_keep, never=never)
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.scale = scale
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state

    @abstractmethod
    def _learn(self, rows: StandardisedRows, d: int, generator: torch.Generator) -> torch.Tensor:
        """Give a score for each of the d columns of the rows."""

    def _select(self, X: Any, task: Task) -> Selection:
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        columns, center, spread = scaling(task.statistics, self.scale)
        scores = np.full(X.shape[1], -np.inf)
        with torch_threads(self.n_jobs):
            rows = StandardisedRows(X, columns, center, spread, torch_device(self.device))
            learnt = self._learn(rows, len(columns), torch.Generator(rows.device).manual_seed(seed))
        scores[columns] = learnt.detach().double().cpu().numpy()
        return Selection(scores)
