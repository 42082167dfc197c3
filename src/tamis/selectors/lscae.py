"""LSCAE: reconstruction and Laplacian score together (Shaham, Lindenbaum, Svirsky and Kluger, 2022)."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.utils._param_validation import StrOptions

from tamis.base import Selection, Task
from tamis.neural import ranks
from tamis.neural.objective import Targets, Term, reconstruction, smoothness
from tamis.neural.restarts import Problem
from tamis.neural.training import Callback
from tamis.selectors.concrete_graph import ConcreteGraphSelector
from tamis.selectors.structured import StructureFirst

PAPER: dict[str, Any] = {
    "graph_on": "concrete",
    "diffusion_steps": 1,
    "bandwidth": "nearest",
    "self_loops": True,
    "normalize_score": False,
    "decoder": "network",
    "structure_first": False,
    "annealing": "linear",
    "temperature": (10.0, 0.01),
    "redundancy_penalty": 100.0,
    "hidden_units": (128, 128),
    "readout": "trained",
    "max_epochs": 300,
    "batch_size": 64,
    "selector_lr": 1.0,
    "decoder_lr": 0.01,
    "n_init": 1,
    "narrowing": False,
}
"""The paper to the letter. It prints neither the batch size nor the constant of the penalty ("large")."""

PUBLIC_CODE: dict[str, Any] = {
    **PAPER,
    "graph_on": "gates",
    "diffusion_steps": 2,
    "annealing": "exponential",
    # That code divides by the temperature twice; an exponential schedule of the square is the same.
    "temperature": (100.0, 0.0001),
    "redundancy_penalty": 0.0,
    "max_epochs": 500,
    "selector_lr": 0.1,
    "decoder_lr": 0.001,
}
"""The defaults of the authors' public code, except for its kernel exp(−d⁴/s²), its batch normalisation, its Adam
β₁ = 0.5 and the division of its learning rates by ten every hundred epochs."""


class LSCAE(StructureFirst, ConcreteGraphSelector):
    r"""Select columns that carry the structure of a table and are not copies of each other.

    Every feature is first tested for dependence on the others, above chance (:func:`tamis.find_structure`); only those
    that pass are candidates. A concrete layer of k units shows k of them; a decoder reconstructs the principal
    directions of the structured features, and a diffusion score tells how smooth the shown features are on the graph
    that they span themselves. Both together,

    .. math:: J = \log s - \log \frac{\operatorname{trace}(G^\top P^t G)}{\operatorname{trace}(G^\top G)},

    with s the share of the directions that is not explained, are minimised by gradient descent while the temperature of
    the layer falls: the second term discards nuisance, the first one copies. At last single features are exchanged
    while J falls.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        How many columns to select, k; None selects half of them, "auto" as many as explain the structure of the table
        (see :func:`tamis.choose_k`).
    graph_on : {"gates", "concrete"}, default="gates"
        What the graph is computed on: the columns of the data, each multiplied by its gate ``max_i Z_ij``, or the
        outputs of the k units (the paper's text).
    diffusion_steps : int, default=1
        Number of steps t of the random walk.
    bandwidth : {"nearest", "mean"}, (rule, factor) or float, default=("mean", 0.05)
        The σ of the kernel ``exp(−‖g_i − g_l‖²/2σ²)``. "nearest": the largest distance of any row of the batch to its
        nearest neighbour (the paper's rule); "mean": σ² is the mean squared distance; a factor multiplies σ²; a
        number is σ itself.
    self_loops : bool, default=False
        Whether the random walk may stay where it is.
    normalize_score : bool, default=True
        Whether the score is divided by the energy ``trace(GᵀG)``.
    decoder : {"graph", "network"}, default="graph"
        What reconstructs the goal: the graph of the selected features, ``f̂ = P f``, which predicts each row from its
        neighbours and needs no training, or a multilayer perceptron (the paper).
    structure_first : bool, default=True
        Whether features are tested first, and the goal is the directions of those that pass. Else all features are
        candidates, and all are reconstructed (the paper).
    annealing : {"linear", "exponential"}, default="linear"
        How the temperature falls.
    temperature : (float, float), default=(10.0, 0.01)
        First and last temperature of the concrete layer.
    redundancy_penalty : float, default=1.0
        Weight M of ``max(0, max_j Σ_i π_ij − 1)``, which keeps units from choosing the same column.
    indirect_size : int or None, default=None
        Parametrise the logits indirectly, as in IP-CAE: ``Λ = Ψ W + b`` with a vector Ψ_i of this length per unit and
        a map W that all units share. None makes every logit a parameter.
    hidden_units : tuple of int, default=(128, 128)
        Widths of the hidden layers of a decoder network; ``reconstruct`` uses one too.
    readout : {"solved", "trained"}, default="solved"
        How the last layer of a decoder network is found: by ridge regression in every batch, each row predicted from
        the others, or by gradient descent like the other layers. A trained one learns few rows by heart.
    max_epochs : int or None, default=None
        Passes over the data; None takes as many as make about 300 steps, and at most 1000 steps of a large table.
    batch_size : int, default=256
        Rows in a batch, and so in a graph. Batches are of nearly equal size; all rows are used.
    selector_lr, decoder_lr : float, default=0.3, 0.003
        Learning rates of the logits and of the decoder.
    n_init : int, default=1
        Number of restarts; the hard selection with the smallest J wins, its decoder refitted.
    narrowing : bool, default=True
        Whether columns that no unit wants leave the race during training, which makes it faster.
    scale : {"standard", "center"} or None, default="standard"
        Whether columns are brought to mean 0 and standard deviation 1, to mean 0, or used as they are.
    must_keep, never : sequence of int or str, default=()
        Columns, by position or name, that are always or never selected.
    device : str, default="auto"
        "auto" takes a GPU if torch finds one; else a torch device such as "cpu" or "cuda:1".
    n_jobs : int or None, default=None
        Threads that torch and numpy use during ``fit``; None means 1, -1 all cores. More threads may split long
        sums, which changes last bits; tests see to it that one and two threads pick the same.
    callbacks : callable or sequence of callables, default=()
        Called after every epoch with a :class:`tamis.neural.training.Epoch`; one that returns True ends training.
    checkpoint_dir : str, path or None, default=None
        Folder in which the state of the fit is kept. A fit with the same data and parameters goes on from it, and ends
        with the same picks as one that was never stopped.
    checkpoint_every : float, default=120
        Seconds between two checkpoints.
    random_state : int, RandomState or None, default=None
        Seed. torch's global generator is neither read nor changed.

    Attributes
    ----------
    support_, selected_, ranking_, scores_, n_features_in_, feature_names_in_
        As for every selector; the score of a column is its largest selection probability; in that of a selected one,
        every column that its unit may show counts by its squared correlation.
    selection_probs_ : ndarray of shape (k, n_features_in_)
        Probability of each unit to show each column at the end of training; a unit may be given another one afterwards.
    unit_columns_ : ndarray of shape (k,)
        The column that each unit was given, all distinct.
    settled_ : ndarray
        Probability that each unit without a kept column puts on its favourite or near copies of it.
    structure_ : Structure
        Which features carry structure; None if that was not tested.
    filler_ : ndarray of bool
        Selected features without structure above chance, which fill up where fewer than k have it.
    verdict_ : Verdict
        Whether the selection may be trusted, and why.
    n_collisions_ : int
        Units that wanted a column already taken and got their next best.
    objective_ : float
        J of the hard selection. Where the graph decodes, it is the mean of J with the graph and of J with a linear map
        as the decoder, each row predicted from the others.
    restart_objectives_ : ndarray of shape (n_init,)
        J of every restart's hard selection.
    history_ : structured array
        One row an epoch, or a part of 300 batches of a long one: epoch, temperature, objective (J), the terms, peak
        probability; ``pandas.DataFrame(history_)`` makes a table of it.
    center_, spread_ : ndarray
        What was subtracted from and divided by, for each column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import LSCAE
    >>> X = load_iris(as_frame=True).data
    >>> selector = LSCAE(n_features_to_select=2, random_state=0).fit(X)
    >>> selector.transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict] = {
        **ConcreteGraphSelector._parameter_constraints,
        "decoder": [StrOptions({"graph", "network"})],
        "structure_first": ["boolean"],
    }

    def __init__(
        self,
        n_features_to_select: int | str | None = None,
        *,
        graph_on: str = "gates",
        diffusion_steps: int = 1,
        bandwidth: str | float | tuple[str, float] = ("mean", 0.05),
        self_loops: bool = False,
        normalize_score: bool = True,
        decoder: str = "graph",
        structure_first: bool = True,
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
        super().__init__(
            n_features_to_select,
            graph_on=graph_on,
            diffusion_steps=diffusion_steps,
            bandwidth=bandwidth,
            self_loops=self_loops,
            normalize_score=normalize_score,
            annealing=annealing,
            temperature=temperature,
            redundancy_penalty=redundancy_penalty,
            indirect_size=indirect_size,
            hidden_units=hidden_units,
            readout=readout,
            max_epochs=max_epochs,
            batch_size=batch_size,
            selector_lr=selector_lr,
            decoder_lr=decoder_lr,
            n_init=n_init,
            narrowing=narrowing,
            scale=scale,
            must_keep=must_keep,
            never=never,
            device=device,
            n_jobs=n_jobs,
            callbacks=callbacks,
            checkpoint_dir=checkpoint_dir,
            checkpoint_every=checkpoint_every,
            random_state=random_state,
        )
        self.decoder = decoder
        self.structure_first = structure_first

    @classmethod
    def from_paper(cls, n_features_to_select: int | str | None = None, **changes: Any) -> Self:
        """Make a selector that follows the paper to the letter, except for the given parameters."""
        return cls(n_features_to_select, **(PAPER | changes))

    @classmethod
    def from_public_code(cls, n_features_to_select: int | str | None = None, **changes: Any) -> Self:
        """Make a selector with the defaults of the authors' public code, except for the given parameters."""
        return cls(n_features_to_select, **(PUBLIC_CODE | changes))

    def _prepared(self, X: Any, problem: Problem, task: Task, generator: torch.Generator) -> Problem:
        """Return the problem of explaining the directions of structured features by some of them."""
        if not self.structure_first:
            self.structure_ = None
            return super()._prepared(X, problem, task, generator)
        found = ranks.shared(self._find_structure(X, int(generator.initial_seed() % 2**31)))
        self.structure_, candidates = found, self._candidates(found, task)
        directions = self._goal(X, found, candidates)
        features = torch.from_numpy(np.searchsorted(self.active_, directions.features))
        # The directions are of z-scores; rows may be scaled otherwise.
        scale = self.spread_[directions.features] / np.maximum(self.column_stds_[directions.features], 1e-300)
        loadings = torch.from_numpy((directions.loadings * scale[:, None]).astype(np.float32))
        chosen = torch.from_numpy(np.sort(np.searchsorted(self.active_, candidates)))
        targets = Targets(features.to(generator.device), loadings.to(generator.device))
        return replace(problem, candidates=chosen, targets=targets)

    def _keep(self, fit: Any, objectives: list[float]) -> Selection:
        selection = super()._keep(fit, objectives)
        return selection if self.structure_ is None else self._with_evidence(selection)

    def _graph_decodes(self) -> bool:
        return self.decoder == "graph"

    def _terms(self) -> dict[str, Term]:
        return {"reconstruction": Term(reconstruction), "score": Term(smoothness, maximise=True)}
