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
    steps : int
        Number of diffusion steps t.
    normalize : bool
        Whether the score is divided by the energy ``trace(Gᵀ G)``.
    decodes : bool
        Whether the graph is the decoder, ``f̂ = P f``, rather than a network.
    """

    graph: Graph = field(default_factory=Graph)
    on: str = "gates"
    steps: int = 1
    normalize: bool = True
    decodes: bool = False


class Targets(NamedTuple):
    """What is to be reconstructed: features, or linear combinations of them.

    Attributes
    ----------
    features : Tensor of int (m,), optional
        The features; all by default.
    loadings : Tensor (m, r), optional
        Combinations ``f_c = Σ_j x_j l_jc`` of these; the features themselves by default.
    """

    features: Tensor | None = None
    loadings: Tensor | None = None

    def of(self, x: Tensor) -> Tensor:
        """Return what is to be reconstructed in a batch: (rows, targets)."""
        wanted = x if self.features is None else x[:, self.features]
        return wanted if self.loadings is None else wanted @ self.loadings

    def count(self, n_features: int) -> int:
        """Return the number of targets."""
        if self.loadings is not None:
            return self.loadings.shape[1]
        return n_features if self.features is None else len(self.features)


ALL_FEATURES = Targets()
"""Every feature is to be reconstructed."""


class Sample(NamedTuple):
    """Some rows of a table (rows, d), and what is to be reconstructed there (rows, targets)."""

    x: Tensor
    goal: Tensor


@dataclass
class View:
    """One batch as the network sees it; what several terms need is computed once.

    Attributes
    ----------
    goal : Tensor (rows, targets)
        What is to be reconstructed.
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
    """

    goal: Tensor
    recipe: GraphRecipe
    codes: Tensor | None = None
    decoded: Tensor | None = None
    shown: Tensor | None = None
    gates: Tensor | None = None
    probabilities: Tensor | None = None

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
        return diffuse(self.transitions, self.recipe.steps)


def reconstruction(view: View) -> Tensor:
    """Compute the share that is not reconstructed, ``Σ_c ‖f_c − f̂_c‖² / Σ_c ‖f_c‖²``."""
    decoded = view.transitions @ view.goal if view.recipe.decodes else view.decoded
    assert decoded is not None
    return (decoded - view.goal).square().sum(dim=(-2, -1)) / (view.goal.square().sum() + TINY)


def smoothness(view: View) -> Tensor:
    """Return the diffusion score of the selected columns; larger is smoother."""
    return diffusion_score(view.gram, view.walk, view.recipe.normalize)


def redundancy(view: View) -> Tensor:
    """Return ``max(0, max_j Σ_i π_ij − 1)``: by how much the most wanted column is wanted more than once."""
    if view.probabilities is None or not view.probabilities.shape[1]:
        looked_at = view.gram if view.codes is None else view.codes
        return looked_at.new_zeros(len(looked_at))
    return (view.probabilities.sum(dim=1).amax(dim=-1) - 1).clamp_min(0)


class Term(NamedTuple):
    """A term of the objective.

    A balanced term of value m enters the loss as ``±m / sg|m|`` and J as ``±log m``; another enters the loss as
    ``±w · m`` and J not at all.
    """

    value: Callable[[View], Tensor]
    maximise: bool = False
    balanced: bool = True
    weight: float = 1.0


class Parts(NamedTuple):
    """Per restart: the loss to differentiate, the objective J to report, and the value of each term by name."""

    loss: Tensor
    objective: Tensor
    terms: dict[str, Tensor]


@dataclass(frozen=True)
class Objective:
    """A balanced sum of named terms.

    With ``sg`` the stop-gradient, ``Σ ±m/sg|m|`` is constant in value, but its gradient is that of ``J = Σ ±log m``:
    J is what is monitored and compared.
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
        return self.combine(values, magnitude)

    def combine(self, values: dict[str, Tensor], magnitude: Callable[[Tensor], Tensor] = lambda value: value) -> Parts:
        """Return the loss and J for values of the terms."""
        loss = torch.zeros_like(next(iter(values.values())))
        objective = torch.zeros_like(loss)
        for name, term in self.terms.items():
            value, sign = values[name], -1.0 if term.maximise else 1.0
            if term.balanced:
                loss = loss + sign * value / magnitude(value.detach().abs()).clamp_min(SMALLEST)
                objective = objective + sign * value.clamp_min(SMALLEST).log()
            else:
                loss = loss + sign * term.weight * value
        return Parts(loss, objective, values)
