"""Recipe: every scientific choice of the concrete selectors in one object, and the presets."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any

from tamis.structure.evidence import FDR

BANDWIDTHS = ("nearest", "mean")
KNOWN_TERMS = ("reconstruction", "score")


@dataclass(frozen=True)
class Recipe:
    """How LSCAE, CAE and ConcreteLaplacian work.

    `docs/method.md` has the formulae, and `docs/deviations.md`, "Every field and its evidence", a row for each field.

    A recipe cannot be changed; ``dataclasses.replace(recipe, self_loops=True)`` makes another one, and so does
    ``selector.set_params(recipe__self_loops=True)``.

    Parameters
    ----------
    terms : tuple of {"reconstruction", "score"}, default=("reconstruction", "score")
        What the objective J holds; training adds the penalty on redundancy.
    structure_first : bool, default=True
        Whether features are tested for dependence on others first (:func:`tamis.find_structure`). Those that pass at
        the level 0.01, with the strongest others that make up k, are the candidates; the principal directions of those
        that pass at ``fdr`` are reconstructed. Else every feature is a candidate, and all are reconstructed (the
        paper), or 2,048 of more, drawn at random.
    fdr : float, default=0.1
        Level of that test: the share of false ones among the features that it calls structured.
    shortlist : int, default=8
        After that test, the layer chooses from so many candidates for each unit: at each step of a pursuit of the
        directions (:class:`tamis.StructurePursuit`), those that explain most of what is left.
    decoder : {"graph", "network"}, default="graph"
        What reconstructs: the graph of the selected features, ``f̂ = P f``, which predicts each row from its neighbours,
        and a ridge regression on them, neither of which needs training; or a multilayer perceptron (the paper).
    hidden_units : tuple of int, default=(128, 128)
        Widths of the hidden layers of the perceptron.
    readout : {"solved", "trained"}, default="solved"
        How the last layer of the perceptron is found: by ridge regression in every batch, each row predicted from the
        others, or by gradient descent like the other layers (the paper). A trained one learns few rows by heart.
    graph_on : {"gates", "concrete"}, default="gates"
        What the graph is computed on: the features, each multiplied by its gate ``max_i Z_ij``, or the outputs of the
        k units (the paper).
    bandwidth : {"nearest", "mean"}, (rule, factor) or float, default=("mean", 0.05)
        The σ of the kernel ``exp(−‖g_i − g_l‖²/2σ²)``. "nearest": the largest distance of any row of the batch to its
        nearest neighbour (the paper); "mean": σ² is the mean squared distance; a factor multiplies σ²; a number is σ.
    diffusion_steps : int, default=1
        Number of steps t of the random walk.
    self_loops : bool, default=False
        Whether the random walk may stay where it is (the paper: yes).
    redundancy_penalty : float, default=1.0
        Weight M of ``max(0, max_j Σ_i π_ij − 1)``, which keeps units from choosing the same feature.
    temperature : (float, float), default=(10.0, 0.01)
        First and last temperature of the concrete layer.
    annealing : {"linear", "exponential"}, default="linear"
        How the temperature falls.
    selector_lr, decoder_lr : float, default=1.0, 0.01
        Learning rates of the logits and of the perceptron.
    batch_size : int, default=256
        Rows in a batch, and so in a graph. Batches are of nearly equal size; all rows are used.
    max_epochs : int or None, default=None
        Passes over the data; None makes about ``n_steps`` steps.
    n_steps : int, default=150
        Optimiser steps where ``max_epochs`` is None: whole passes, but at most three times as many steps.
    n_init : int, default=1
        Number of restarts; the hard selection with the smallest J wins.
    max_exchanged : int, default=32
        Selections of at most this many features, kept ones not counted, are refined: single ones are exchanged while J
        falls, in at most three sweeps.
    evaluation_rows, evaluation_samples : int, default=512, 4
        J of a hard selection is a mean over so many samples of so many rows, without common rows; where a perceptron
        decodes, of ``batch_size`` rows.
    """

    terms: tuple[str, ...] = ("reconstruction", "score")
    structure_first: bool = True
    fdr: float = FDR
    shortlist: int = 8
    decoder: str = "graph"
    hidden_units: tuple[int, ...] = (128, 128)
    readout: str = "solved"
    graph_on: str = "gates"
    bandwidth: str | float | tuple[str, float] = ("mean", 0.05)
    diffusion_steps: int = 1
    self_loops: bool = False
    redundancy_penalty: float = 1.0
    temperature: tuple[float, float] = (10.0, 0.01)
    annealing: str = "linear"
    selector_lr: float = 1.0
    decoder_lr: float = 0.01
    batch_size: int = 256
    max_epochs: int | None = None
    n_steps: int = 150
    n_init: int = 1
    max_exchanged: int = 32
    evaluation_rows: int = 512
    evaluation_samples: int = 4

    def __post_init__(self) -> None:
        for name, (allowed, is_allowed) in ALLOWED.items():
            value = getattr(self, name)
            if not is_allowed(value):
                raise ValueError(f"recipe: {name} takes {allowed}; got {value!r}.")

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 (scikit-learn's signature)
        """Return the fields by name, as scikit-learn's ``clone`` and displays ask for them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def uses_network(self) -> bool:
        """Whether a perceptron is trained to reconstruct."""
        return "reconstruction" in self.terms and self.decoder == "network"

    @cached_property
    def uses_graph(self) -> bool:
        """Whether a graph of the rows is built."""
        return "score" in self.terms or self.decoder == "graph"

    @cached_property
    def uses_codes(self) -> bool:
        """Whether the outputs of the units are used, rather than the gates of the features alone."""
        return self.uses_network or self.graph_on == "concrete"


def _is_positive(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < float("inf")


def _is_count(value: Any, least: int = 1) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _are(values: Any, is_allowed: Callable[[Any], bool]) -> bool:
    return isinstance(values, tuple | list) and all(map(is_allowed, values))


def _is_bandwidth(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return len(value) == 2 and value[0] in BANDWIDTHS and _is_positive(value[1])
    return value in BANDWIDTHS if isinstance(value, str) else _is_positive(value)


def _one_of(*values: str) -> tuple[str, Any]:
    return " or ".join(map(repr, values)), values.__contains__


FLAG = ("True or False", lambda value: isinstance(value, bool))
COUNT = ("a positive whole number", _is_count)
RATE = ("a positive number", _is_positive)
ALLOWED: dict[str, tuple[str, Any]] = {
    "terms": (f"some of {KNOWN_TERMS}", lambda names: _are(names, KNOWN_TERMS.__contains__) and len(names) > 0),
    "structure_first": FLAG,
    "fdr": ("a number between 0 and 1", lambda value: _is_positive(value) and value < 1),
    "shortlist": COUNT,
    "decoder": _one_of("graph", "network"),
    "hidden_units": ("widths of layers, such as (128, 128)", lambda widths: _are(widths, _is_count)),
    "readout": _one_of("solved", "trained"),
    "graph_on": _one_of("gates", "concrete"),
    "bandwidth": (f"one of {BANDWIDTHS}, a pair of it and a positive factor, or a positive number", _is_bandwidth),
    "diffusion_steps": COUNT,
    "self_loops": FLAG,
    "redundancy_penalty": ("a number of at least 0", lambda value: value == 0 or _is_positive(value)),
    "temperature": ("(start, end), two positive numbers", lambda t: _are(t, _is_positive) and len(t) == 2),
    "annealing": _one_of("linear", "exponential"),
    "selector_lr": RATE,
    "decoder_lr": RATE,
    "batch_size": ("a whole number of at least 3", lambda value: _is_count(value, 3)),
    "max_epochs": ("a positive whole number or None", lambda value: value is None or _is_count(value)),
    "n_steps": COUNT,
    "n_init": COUNT,
    "max_exchanged": ("a whole number of at least 0", lambda value: _is_count(value, 0)),
    "evaluation_rows": ("a whole number of at least 3", lambda value: _is_count(value, 3)),
    "evaluation_samples": COUNT,
}
"""What each field may be, in words and as a function."""

DEFAULT = Recipe()

PAPER = Recipe(
    structure_first=False,
    decoder="network",
    readout="trained",
    graph_on="concrete",
    bandwidth="nearest",
    self_loops=True,
    redundancy_penalty=100.0,
    batch_size=64,
    max_epochs=300,
)
"""The paper to the letter. It prints neither the batch size nor the constant of the penalty ("large")."""

PUBLIC_CODE = replace(
    PAPER,
    graph_on="gates",
    diffusion_steps=2,
    redundancy_penalty=0.0,
    # That code divides by the temperature twice; an exponential schedule of the square is the same.
    temperature=(100.0, 0.0001),
    annealing="exponential",
    selector_lr=0.1,
    decoder_lr=0.001,
    max_epochs=500,
)
"""The defaults of the authors' public code, except for its kernel exp(−d⁴/s²), its batch normalisation, its Adam
β₁ = 0.5 and the division of its learning rates by ten every hundred epochs."""

PRESETS = {"default": DEFAULT, "paper": PAPER, "public-code": PUBLIC_CODE}


def only(term: str, **changes: Any) -> dict[str, Recipe]:
    """Return the presets with a single term of the objective, the default one without the test and changed further."""
    presets = {name: replace(recipe, terms=(term,)) for name, recipe in PRESETS.items()}
    return presets | {"default": replace(presets["default"], structure_first=False, **changes)}
