"""What all concrete selectors share: parameters, the way from a table to a fit, and imputation from the panel."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from tamis.base import FeatureSelector, Selection, Task
from tamis.io.sources import TableSource
from tamis.neural import ranks
from tamis.neural.batching import steps_per_epoch
from tamis.neural.checkpoint import Keeper
from tamis.neural.decoder import Decoder
from tamis.neural.narrowing import Narrowing
from tamis.neural.objective import Objective, Targets, Term, redundancy
from tamis.neural.restarts import Fit, Problem, train_restarts
from tamis.neural.schedules import ANNEALING
from tamis.neural.training import Callback, Settings
from tamis.selectors.compute import one_thread, torch_device
from tamis.selectors.rows import StandardisedRows
from tamis.selectors.streamed_rows import StreamedRows, fits_in_buffer

STEPS = 300
"""Optimiser steps that ``max_epochs=None`` aims at."""

LONGEST_PASS = 1000
"""Optimiser steps after which ``max_epochs=None`` ends, even if not all rows have been seen."""

MAX_TARGETS = 2048
"""At most so many features, drawn at random, are reconstructed during training where all are the goal."""


class ConcreteSelector(FeatureSelector):
    """Base of the selectors with a concrete layer; a method states its objective in :meth:`_terms`.

    The parameters and attributes are those of the public classes, see :class:`tamis.LSCAE`.
    """

    _from_disk = "batches"

    _parameter_constraints: ClassVar[dict] = {
        **FeatureSelector._parameter_constraints,
        "annealing": [StrOptions(set(ANNEALING))],
        "temperature": [tuple, list],
        "redundancy_penalty": [Interval(Real, 0, None, closed="left")],
        "indirect_size": [Interval(Integral, 1, None, closed="left"), None],
        "hidden_units": [tuple, list],
        "readout": [StrOptions({"solved", "trained"})],
        "max_epochs": [Interval(Integral, 1, None, closed="left"), None],
        "batch_size": [Interval(Integral, 3, None, closed="left")],
        "selector_lr": [Interval(Real, 0, None, closed="neither")],
        "decoder_lr": [Interval(Real, 0, None, closed="neither")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "narrowing": ["boolean"],
        "scale": [StrOptions({"standard", "center"}), None],
        "device": [str],
        "n_jobs": [Integral, None],
        "callbacks": [tuple, list, callable, None],
        "checkpoint_dir": [str, PathLike, None],
        "checkpoint_every": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | str | None = None,
        *,
        annealing: str = "linear",
        temperature: tuple[float, float] = (10.0, 0.01),
        redundancy_penalty: float = 1.0,
        indirect_size: int | None = None,
        hidden_units: tuple[int, ...] = (128, 128),
        readout: str = "solved",
        max_epochs: int | None = None,
        batch_size: int = 256,
        selector_lr: float = 0.3,
        decoder_lr: float = 0.003,
        n_init: int = 1,
        narrowing: bool = True,
        scale: str | None = "standard",
        must_keep: Sequence[int | str] = (),
        never: Sequence[int | str] = (),
        device: str = "auto",
        n_jobs: int | None = None,
        callbacks: Sequence[Callback] = (),
        checkpoint_dir: str | PathLike[str] | None = None,
        checkpoint_every: float = 120.0,
        random_state: Any = None,
    ):
        super().__init__(n_features_to_select, must_keep=must_keep, never=never)
        self.annealing = annealing
        self.temperature = temperature
        self.redundancy_penalty = redundancy_penalty
        self.indirect_size = indirect_size
        self.hidden_units = hidden_units
        self.readout = readout
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.selector_lr = selector_lr
        self.decoder_lr = decoder_lr
        self.n_init = n_init
        self.narrowing = narrowing
        self.scale = scale
        self.device = device
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.checkpoint_dir = checkpoint_dir
        self.checkpoint_every = checkpoint_every
        self.random_state = random_state

    @abstractmethod
    def _terms(self) -> dict[str, Term]:
        """Give the terms of the objective, without the redundancy penalty."""

    def _objective(self) -> Objective:
        """Return the objective."""
        return Objective(self._terms() | self._penalty())

    def _prepared(self, X: Any, problem: Problem, task: Task, generator: torch.Generator) -> Problem:  # noqa: ARG002
        """Return the problem with what is to be reconstructed."""
        return replace(problem, targets=Targets(draw_targets(problem.n_features, generator)))

    def _penalty(self) -> dict[str, Term]:
        if self.redundancy_penalty == 0:
            return {}
        return {"redundancy": Term(redundancy, balanced=False, weight=self.redundancy_penalty)}

    def _select(self, X: Any, task: Task) -> Selection:
        self._check_values()
        self._set_scale(task)
        seed = ranks.shared(int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)))
        keeper = self._keeper(X, task, seed)
        with one_thread():
            rows = self._rows(X)
            problem = self._problem(rows, task)
            seed = int(keeper.identity["seed"])
            # Processes that share a fit must draw the same noise, whatever they drew while they looked at their rows.
            generator, looking = (torch.Generator(rows.device).manual_seed(seed + part) for part in range(2))
            problem = self._prepared(X, problem, task, looking)
            fit, objectives = train_restarts(
                problem,
                self._objective(),
                self._settings(rows.n_rows),
                self.n_init,
                generator,
                self._callbacks(),
                keeper,
            )
        return self._keep(fit, objectives)

    def _rows(self, X: Any) -> StandardisedRows | StreamedRows:
        if isinstance(X, TableSource) and (fits_in_buffer(X) or X.shape[0] <= self.batch_size):
            X = X[:]
        kind = StreamedRows if isinstance(X, TableSource) else StandardisedRows
        center, spread = self.center_[self.active_], self.spread_[self.active_]
        return kind(X, self.active_, center, spread, torch_device(self.device), ranks.share())

    def _keeper(self, X: Any, task: Task, seed: int) -> Keeper:
        """Say where checkpoints go, and what tells this fit from others."""
        left_out = ("callbacks", "checkpoint_dir", "checkpoint_every", "n_jobs", "random_state")
        parameters = {k: repr(v) for k, v in self.get_params(deep=False).items() if k not in left_out}
        statistics = task.statistics
        digest = sha256(statistics.mean.tobytes() + statistics.std.tobytes()).hexdigest()[:16]
        identity = {"selector": type(self).__name__, "shape": f"{X.shape[0]} x {X.shape[1]}", "data": digest}
        identity |= parameters | {"processes": str(ranks.share()[1]), "seed": str(seed)}
        folder = None if self.checkpoint_dir is None else Path(self.checkpoint_dir)
        return Keeper(folder, identity, float(self.checkpoint_every)).with_saved(
            "seed" if self.random_state is None else None
        )

    def _check_values(self) -> None:
        check_pair("temperature", self.temperature, Real)
        if not all(isinstance(width, Integral) and width > 0 for width in self.hidden_units):
            raise ValueError(
                "hidden_units lists the widths of the decoder's hidden layers, such as (128, 128); "
                f"got {self.hidden_units!r}."
            )
        for callback in self._callbacks():
            if not callable(callback):
                raise TypeError(f"callbacks takes functions of an epoch's record; got {callback!r}.")

    def _callbacks(self) -> list[Callback]:
        if self.callbacks is None:
            return []
        return [self.callbacks] if callable(self.callbacks) else list(self.callbacks)

    def _set_scale(self, task: Task) -> None:
        statistics = task.statistics
        self.active_ = np.flatnonzero(~statistics.constant)
        self.center_ = np.zeros_like(statistics.mean) if self.scale is None else statistics.mean
        # Constant columns have no spread to divide by, and take no part in training.
        self.spread_ = np.where(statistics.constant | (self.scale != "standard"), 1.0, statistics.std)
        self.column_means_, self.column_stds_ = statistics.mean, statistics.std

    def _problem(self, rows: StandardisedRows | StreamedRows, task: Task) -> Problem:
        kept = np.searchsorted(self.active_, np.intersect1d(task.must_keep, self.active_))
        candidates = np.searchsorted(self.active_, task.candidates)
        return Problem(
            rows,
            n_features=len(self.active_),
            n_units=len(kept) + task.k - len(task.must_keep),
            kept=kept.tolist(),
            candidates=None if len(candidates) == len(self.active_) else torch.from_numpy(candidates),
            indirect_size=self.indirect_size,
            hidden_units=self.hidden_units,
            solved_readout=self.readout == "solved",
        )

    def _settings(self, n_rows: int) -> Settings:
        return Settings(
            epochs=self.max_epochs or -(-STEPS // steps_per_epoch(n_rows, self.batch_size)),
            batch_size=self.batch_size,
            temperature=ANNEALING[self.annealing](*self.temperature),
            selector_lr=self.selector_lr,
            decoder_lr=self.decoder_lr,
            narrowing=Narrowing() if self.narrowing else None,
            most_steps=LONGEST_PASS if self.max_epochs is None else None,
        )

    def _keep(self, fit: Fit, objectives: list[float]) -> Selection:
        """Set the fitted attributes from the best restart."""
        self.objective_ = fit.objective
        self.restart_objectives_ = np.array(objectives)
        self.history_ = _table(fit.history)
        self.n_collisions_ = fit.collisions
        self.unit_columns_ = self.active_[fit.columns.numpy()]
        self.decoder_weights_ = {name: value.numpy() for name, value in fit.decoder.state_dict().items()}
        self.selection_probs_ = self._all_probabilities(fit)
        self.settled_ = fit.settled.numpy()
        scores = self._scores(fit)
        chosen = self.unit_columns_[np.argsort(-scores[self.unit_columns_], kind="stable")]
        return Selection(scores, chosen)

    def _scores(self, fit: Fit) -> NDArray[np.float64]:
        """Give each column its largest probability, and a selected one the share of it that its unit shows."""
        scores = self.selection_probs_.max(axis=0, initial=0.0)
        free = self.unit_columns_[len(self.unit_columns_) - len(fit.supported) :]
        scores[free] = np.maximum(scores[free], fit.supported.numpy())
        return scores

    def _all_probabilities(self, fit: Fit) -> NDArray[np.float64]:
        """Spread the probabilities over the columns of X; a kept column has a unit of its own with certainty."""
        n_kept = len(self.unit_columns_) - len(fit.probabilities)
        probabilities = np.zeros((len(self.unit_columns_), self.n_features_in_))
        probabilities[np.arange(n_kept), self.unit_columns_[:n_kept]] = 1.0
        probabilities[n_kept:, self.active_[fit.candidates.numpy()]] = fit.probabilities.numpy()
        return probabilities

    def reconstruct(self, X_selected: Any) -> NDArray[np.float64]:
        """Impute all columns from the selected ones.

        Parameters
        ----------
        X_selected : array of shape (n_samples, n_features_to_select)
            The selected columns, in the order and units of ``transform``.

        Returns
        -------
        ndarray of shape (n_samples, n_features_in_)
            All columns in the units of the data seen by ``fit``; the selected ones are returned as given.
        """
        check_is_fitted(self)
        given = self._check_selected(X_selected)
        inputs = np.searchsorted(np.flatnonzero(self.support_), self.unit_columns_)
        codes = (given[:, inputs] - self.center_[self.unit_columns_]) / self.spread_[self.unit_columns_]
        table = np.tile(self.column_means_, (len(given), 1))
        table[:, self.active_] = self._decode(codes) * self.spread_[self.active_] + self.center_[self.active_]
        table[:, self.support_] = given
        return table

    def _check_selected(self, X_selected: Any) -> NDArray[np.float64]:
        given = check_array(X_selected, accept_sparse="csr", dtype=np.float64)
        if given.shape[1] != self.support_.sum():
            raise ValueError(
                f"reconstruct takes the {self.support_.sum()} selected column(s), as transform gives them; "
                f"got {given.shape[1]}."
            )
        return np.asarray(given.toarray() if hasattr(given, "toarray") else given)

    def _decode(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        decoder = Decoder(1, (codes.shape[1], *self.hidden_units, len(self.active_)), torch.Generator())
        decoder.load_state_dict({name: torch.from_numpy(value) for name, value in self.decoder_weights_.items()})
        with torch.no_grad():
            return decoder(torch.from_numpy(codes).float()[None])[0].double().numpy()


def draw_targets(n_features: int, generator: torch.Generator) -> torch.Tensor | None:
    """Draw the features to reconstruct during training; None for all."""
    if n_features <= MAX_TARGETS:
        return None
    return torch.randperm(n_features, generator=generator, device=generator.device)[:MAX_TARGETS]


def check_pair(name: str, value: Any, kind: type[Any]) -> None:
    """Raise unless the value is (start, end), both positive and of the kind."""
    if len(value) != 2 or not all(isinstance(part, kind) and part > 0 for part in value):
        raise ValueError(f"{name} takes (start, end), two positive numbers; got {value!r}.")


def _table(history: list[dict[str, float]]) -> NDArray:
    """Give the rows as a structured array, which ``pandas.DataFrame`` takes as it is."""
    names = list(history[0]) if history else ["epoch"]
    kinds = [(name, int if name == "epoch" else float) for name in names]
    return np.array([tuple(row.values()) for row in history], dtype=kinds)
