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

from tamis.neural import ranks
from tamis.neural.diffusion import TINY, Graph, diffuse, diffusion_score, gated_gram
from tamis.neural.schedules import Schedule, constant
from tamis.neural.structure import StructureMemory

LEAST_EXPLAINED = 0.01
"""Floor of the explained share, which an untrained decoder can bring below zero."""

SMALLEST = 1e-6
"""Floor of a term's magnitude, so that neither the balance nor log J divides by zero."""


@dataclass(frozen=True)
class GraphRecipe:
    """Which graph the score uses: its kernel, what it is computed on, and how long the walk is.

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
    """

    graph: Graph = field(default_factory=Graph)
    on: str = "gates"
    steps: Callable[[float], int] = lambda _: 1
    normalize: bool = True


@dataclass
class View:
    """One batch as the network sees it; what several terms need is computed once.

    Attributes
    ----------
    goal : Tensor (rows, targets)
        The columns to reconstruct.
    codes : Tensor (restarts, rows, k)
        Outputs of the units.
    decoded : Tensor (restarts, rows, targets) or None
        Reconstruction of the goal, if some term looks at it.
    recipe : GraphRecipe
        How to build the graph.
    structure : StructureMemory, optional
        Which targets carried structure so far.
    shown, gates : Tensor (rows, shown) and (restarts, shown), optional
        The columns that the layer looks at, and how openly it shows each. None for a hard selection, whose gated
        columns are the codes themselves.
    probabilities : Tensor (restarts, units, candidates), optional
        Noise-free selection weights ``softmax(Λ/τ)``.
    progress : float
        Share of training done.
    """

    goal: Tensor
    codes: Tensor
    decoded: Tensor | None
    recipe: GraphRecipe
    structure: StructureMemory | None = None
    shown: Tensor | None = None
    gates: Tensor | None = None
    probabilities: Tensor | None = None
    progress: float = 1.0

    @cached_property
    def gram(self) -> Tensor:
        """Gram matrix of what the graph is computed on."""
        if self.recipe.on == "gates" and self.shown is not None and self.gates is not None:
            return gated_gram(self.shown, self.gates)
        return self.codes @ self.codes.mT

    @cached_property
    def walk(self) -> Tensor:
        """The random walk ``Pᵗ`` on the graph."""
        return diffuse(self.recipe.graph.transitions(self.gram), self.recipe.steps(self.progress))

    @cached_property
    def column_errors(self) -> Tensor:
        """Mean squared reconstruction error of every target: (restarts, targets)."""
        assert self.decoded is not None
        return (self.decoded - self.goal).square().mean(dim=-2)


def reconstruction(view: View) -> Tensor:
    """Give the share of the variance that is not reconstructed, ``‖X − X̂‖² / ‖X‖²``."""
    return view.column_errors.sum(dim=-1) / (view.goal.square().mean(dim=-2).sum() + TINY)


def weighted_reconstruction(view: View) -> Tensor:
    """Give ``Σ_j w_j ‖f_j − f̂_j‖² / Σ_j w_j ‖f_j‖²``, each column weighted by the structure it carries.

    Columns without structure cannot be reconstructed from anything but themselves and would own the plain error.
    """
    assert view.structure is not None
    if view.gates is not None:  # a hard view is for judging, not for learning what the structure is
        view.structure.observe(view.goal, view.walk)
    weights = view.structure.weights()
    energy = (weights * view.goal.square().mean(dim=-2)).sum(dim=-1)
    return (weights * view.column_errors).sum(dim=-1) / (energy + TINY)


def odds(share: Tensor) -> Tensor:
    """Give ``s / (1 − s)`` of a share, for shares that may exceed one."""
    return share / (1 - share).clamp_min(LEAST_EXPLAINED)


def smoothness(view: View) -> Tensor:
    """Give the diffusion score of the selected columns; larger is smoother."""
    return diffusion_score(view.gram, view.walk, view.recipe.normalize)


def redundancy(view: View) -> Tensor:
    """Give ``max(0, max_j Σ_i π_ij − 1)``: by how much the most wanted column is wanted more than once."""
    if view.probabilities is None or not view.probabilities.shape[1]:
        return view.codes.new_zeros(len(view.codes))
    return (view.probabilities.sum(dim=1).amax(dim=-1) - 1).clamp_min(0)


class Term(NamedTuple):
    """A term of the objective.

    A balanced term enters the loss as ``±w(progress) · m / sg|m|`` and J as ``±log m``, where m is the measure of its
    value; another enters the loss as ``±w(progress) · m`` and J not at all.
    """

    value: Callable[[View], Tensor]
    maximise: bool = False
    balanced: bool = True
    weight: Schedule = constant(1.0)
    measure: Callable[[Tensor], Tensor] = lambda value: value


class Parts(NamedTuple):
    """Per restart: the loss to differentiate, the objective J to report, and the value of each term by name."""

    loss: Tensor
    objective: Tensor
    terms: dict[str, Tensor]


@dataclass(frozen=True)
class Objective:
    """A balanced sum of named terms.

    With ``sg`` the stop-gradient, ``Σ ±m/sg|m|`` is constant in value, but its gradient is that of ``J = Σ ±log m``: J
    is what is monitored, and what restarts are compared by.
    """

    terms: dict[str, Term]
    recipe: GraphRecipe = field(default_factory=GraphRecipe)

    @property
    def needs_probabilities(self) -> bool:
        """Whether some term looks at the noise-free selection weights."""
        return any(term.value is redundancy for term in self.terms.values())

    @property
    def needs_decoder(self) -> bool:
        """Whether some term looks at the reconstruction."""
        return any(term.value in (reconstruction, weighted_reconstruction) for term in self.terms.values())

    def __call__(self, view: View) -> Parts:
        """Evaluate all terms on one view."""
        values = {name: term.value(view) for name, term in self.terms.items()}
        loss = torch.zeros_like(view.codes[:, 0, 0])
        objective = torch.zeros_like(loss)
        for name, term in self.terms.items():
            measure, sign = term.measure(values[name]), -1.0 if term.maximise else 1.0
            scale = ranks.mean(measure.detach().abs()).clamp_min(SMALLEST) if term.balanced else 1.0
            loss = loss + sign * term.weight(view.progress) * measure / scale
            if term.balanced:
                objective = objective + sign * measure.clamp_min(SMALLEST).log()
        return Parts(loss, objective, values)
