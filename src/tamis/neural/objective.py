"""The objective: named terms of one batch, and their balanced sum.

A term is a function of a :class:`View` that gives one number per restart. To add one, write the function and put
a :class:`Term` with it into the objective of a selector.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from tamis.neural.diffusion import TINY, Graph, diffuse, diffusion_score, gated_gram
from tamis.neural.schedules import Schedule, constant

LEAST_EXPLAINED = 0.01
"""Floor of the explained share, which an untrained decoder can bring below zero."""

SMALLEST = 1e-6
"""Floor of a term's magnitude, so that neither the balance nor log J divides by zero."""


@dataclass(frozen=True)
class GraphRecipe:
    """Which graph the objective uses: its kernel, what it is computed on, how long the walk is, what it is used for.

    Attributes
    ----------
    graph : Graph
        Kernel and bandwidth.
    on : {"gates", "concrete"}
        Compute distances on the gated columns ``x_j · max_i Z_ij``, or on the units' outputs C.
    steps : callable
        Number of diffusion steps t, from progress.
    normalize : bool
        Whether the score is divided by the energy ``trace(Gᵀ G)``.
    decodes : bool
        Whether the graph is the decoder, ``f̂ = P f``, rather than a network.
    """

    graph: Graph = field(default_factory=Graph)
    on: str = "gates"
    steps: Callable[[float], int] = lambda _: 1
    normalize: bool = True
    decodes: bool = False


class Goal:
    """The columns of a batch that are to be reconstructed, and how much each of them matters.

    Parameters
    ----------
    columns : Tensor (rows, targets)
        The columns f_j.
    weights : Tensor (targets,), optional
        Their weights w_j; equal by default.
    """

    def __init__(self, columns: Tensor, weights: Tensor | None = None):
        self.columns = columns
        self.weights = columns.new_ones(columns.shape[1]) if weights is None else weights
        self._few_columns = columns.shape[1] < len(columns)

    @classmethod
    def from_gram(cls, gram: Tensor) -> "Goal":
        """Make a goal of which the Gram matrix alone is known, enough for a decoder made of the graph."""
        goal = cls.__new__(cls)
        goal.gram, goal._few_columns = gram, False
        return goal

    @cached_property
    def gram(self) -> Tensor:
        """``M = Σ_j w_j f_j f_jᵀ``, all that a decoder made of the graph needs to know: (rows, rows)."""
        return (self.columns * self.weights) @ self.columns.mT

    @cached_property
    def energy(self) -> Tensor:
        """``Σ_j w_j ‖f_j‖²``."""
        return (self.weights * self.columns.square().sum(dim=0)).sum() + TINY

    @cached_property
    def trace(self) -> Tensor:
        """``tr M``, which is the energy again."""
        return self.gram.diagonal().sum() + TINY

    def error_of_columns(self, decoded: Tensor) -> Tensor:
        """Give ``Σ_j w_j ‖f_j − f̂_j‖²`` for reconstructions (restarts, rows, targets)."""
        return (self.weights * (decoded - self.columns).square().sum(dim=-2)).sum(dim=-1)

    def error_of_walk(self, walk: Tensor) -> Tensor:
        """Give ``Σ_j w_j ‖f_j − P f_j‖² = tr((I − P) M (I − P)ᵀ)`` for one-step walks P: (restarts,)."""
        if self._few_columns:
            return self.error_of_columns(walk @ self.columns)
        residual = self.gram - walk @ self.gram
        return residual.diagonal(dim1=-2, dim2=-1).sum(dim=-1) - (residual * walk).sum(dim=(-2, -1))


class Sample(NamedTuple):
    """Some rows of a table, all columns of them, and what is to be reconstructed there."""

    x: Tensor
    goal: Goal

    @classmethod
    def of(cls, x: Tensor, targets: Tensor | None, weights: Tensor | None) -> "Sample":
        """Take the targets of some rows as the goal, all columns for None."""
        return cls(x, Goal(x if targets is None else x[:, targets], weights))


@dataclass
class View:
    """One batch as the network sees it; what several terms need is computed once.

    Attributes
    ----------
    goal : Goal
        The columns to reconstruct.
    recipe : GraphRecipe
        How to build the graph.
    codes : Tensor (restarts, rows, k), optional
        Outputs of the units.
    decoded : Tensor (restarts, rows, targets), optional
        Reconstruction of the goal by a network.
    shown, gates : Tensor (rows, shown) and (restarts, shown), optional
        The columns that the layer looks at, and how openly it shows each. None for a hard selection, whose gated
        columns are the codes themselves.
    probabilities : Tensor (restarts, units, candidates), optional
        Noise-free selection weights ``softmax(Λ/τ)``.
    progress : float
        Share of training done.
    """

    goal: Goal
    recipe: GraphRecipe
    codes: Tensor | None = None
    decoded: Tensor | None = None
    shown: Tensor | None = None
    gates: Tensor | None = None
    probabilities: Tensor | None = None
    progress: float = 1.0

    @cached_property
    def gram(self) -> Tensor:
        """Gram matrix of what the graph is computed on."""
        if self.recipe.on == "gates" and self.shown is not None and self.gates is not None:
            return gated_gram(self.shown, self.gates)
        assert self.codes is not None
        return self.codes @ self.codes.mT

    @cached_property
    def transitions(self) -> Tensor:
        """One step P of the random walk on the graph."""
        return self.recipe.graph.transitions(self.gram)

    @cached_property
    def walk(self) -> Tensor:
        """The random walk ``Pᵗ``."""
        return diffuse(self.transitions, self.recipe.steps(self.progress))


def reconstruction(view: View) -> Tensor:
    """Give the share that is not reconstructed, ``Σ_j w_j ‖f_j − f̂_j‖² / Σ_j w_j ‖f_j‖²``.

    Columns without structure cannot be reconstructed from anything but themselves and would own the unweighted error.
    """
    if view.recipe.decodes:
        return view.goal.error_of_walk(view.transitions) / view.goal.trace
    assert view.decoded is not None
    return view.goal.error_of_columns(view.decoded) / view.goal.energy


def odds(share: Tensor) -> Tensor:
    """Give ``s / (1 − s)`` of a share, for shares that may exceed one."""
    return share / (1 - share).clamp_min(LEAST_EXPLAINED)


def smoothness(view: View) -> Tensor:
    """Give the diffusion score of the selected columns; larger is smoother."""
    return diffusion_score(view.gram, view.walk, view.recipe.normalize)


def redundancy(view: View) -> Tensor:
    """Give ``max(0, max_j Σ_i π_ij − 1)``: by how much the most wanted column is wanted more than once."""
    if view.probabilities is None or not view.probabilities.shape[1]:
        looked_at = view.gram if view.codes is None else view.codes
        return looked_at.new_zeros(len(looked_at))
    return (view.probabilities.sum(dim=1).amax(dim=-1) - 1).clamp_min(0)


def identity(value: Tensor) -> Tensor:
    """Give the value itself."""
    return value


class Term(NamedTuple):
    """A term of the objective.

    A balanced term enters the loss as ``±w(progress) · m / sg|m|`` and J as ``±w(1) · log m``, where m is the measure
    of its value; another enters the loss as ``±w(progress) · m`` and J not at all.
    """

    value: Callable[[View], Tensor]
    maximise: bool = False
    balanced: bool = True
    weight: Schedule = constant(1.0)
    measure: Callable[[Tensor], Tensor] = identity


class Parts(NamedTuple):
    """Per restart: the loss to differentiate, the objective J to report, and the value of each term by name."""

    loss: Tensor
    objective: Tensor
    terms: dict[str, Tensor]


@dataclass(frozen=True)
class Objective:
    """A balanced sum of named terms.

    With ``sg`` the stop-gradient, ``Σ ±w m/sg|m|`` is constant in value, but its gradient is that of
    ``J = Σ ±w log m``: J, with the weights of the end of training, is what is monitored and compared.
    """

    terms: dict[str, Term]
    recipe: GraphRecipe = field(default_factory=GraphRecipe)

    @property
    def needs_probabilities(self) -> bool:
        """Whether some term looks at the noise-free selection weights."""
        return any(term.value is redundancy for term in self.terms.values())

    @property
    def needs_codes(self) -> bool:
        """Whether the outputs of the units are looked at, rather than the gates alone."""
        return self.needs_decoder or self.recipe.on == "concrete"

    @property
    def reconstructs(self) -> bool:
        """Whether some term looks at a reconstruction."""
        return any(term.value is reconstruction for term in self.terms.values())

    @property
    def needs_decoder(self) -> bool:
        """Whether some term looks at the reconstruction by a network."""
        return self.reconstructs and not self.recipe.decodes

    def __call__(self, view: View, magnitude: Callable[[Tensor], Tensor] = lambda value: value) -> Parts:
        """Evaluate all terms on one view; processes that share a fit have a common magnitude of each."""
        values = {name: term.value(view) for name, term in self.terms.items()}
        return self.combine(values, view.progress, magnitude)

    def combine(
        self,
        values: dict[str, Tensor],
        progress: float = 1.0,
        magnitude: Callable[[Tensor], Tensor] = lambda value: value,
    ) -> Parts:
        """Give the loss and J for values of the terms."""
        loss = torch.zeros_like(next(iter(values.values())))
        objective = torch.zeros_like(loss)
        for name, term in self.terms.items():
            measure, sign = term.measure(values[name]), -1.0 if term.maximise else 1.0
            scale = magnitude(measure.detach().abs()).clamp_min(SMALLEST) if term.balanced else 1.0
            loss = loss + sign * term.weight(progress) * measure / scale
            if term.balanced:
                objective = objective + sign * term.weight(1.0) * measure.clamp_min(SMALLEST).log()
        return Parts(loss, objective, values)
