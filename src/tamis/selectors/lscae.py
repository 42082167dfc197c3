"""LSCAE: reconstruction and Laplacian score together (Shaham, Lindenbaum, Svirsky and Kluger, 2022)."""

from collections.abc import Sequence
from numbers import Real
from os import PathLike
from typing import Any, ClassVar, Self

from sklearn.utils._param_validation import Interval, StrOptions

from tamis.neural.objective import Term, identity, odds, reconstruction, smoothness
from tamis.neural.schedules import linear, warm_up
from tamis.neural.training import Callback
from tamis.selectors.concrete_graph import ConcreteGraphSelector

MEASURES = {"odds": odds, "error": identity}
"""What of the unexplained share enters the objective."""

PAPER: dict[str, Any] = {
    "graph_on": "concrete",
    "diffusion_steps": 1,
    "bandwidth": "nearest",
    "self_loops": True,
    "normalize_score": False,
    "decoder": "network",
    "screening": False,
    "clip": None,
    "weighted_reconstruction": False,
    "balance": "error",
    "reconstruction_warmup": 0.0,
    "score_weight": (1.0, 1.0),
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


class LSCAE(ConcreteGraphSelector):
    r"""Select columns that carry the structure of a table and are not copies of each other.

    A concrete layer of k units shows k of the d columns; a decoder reconstructs all columns from them, and a diffusion
    score tells how smooth they are on the graph that they span themselves. Both together,

    .. math:: J = \log \frac{s}{1 - s}
                  - w \log \frac{\operatorname{trace}(G^\top P^t G)}{\operatorname{trace}(G^\top G)},

    with s the unexplained share of the (weighted) variance, are minimised: the second term discards nuisance columns,
    the first one copies. Columns are first screened by the slope of J; then units are trained by gradient descent while
    the temperature of the layer falls, in several restarts; at last their choice is compared with what further
    screening leaves, and single columns are exchanged while J falls.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many columns to select, k; None selects half of them.
    graph_on : {"gates", "concrete"}, default="gates"
        What the graph is computed on: the columns of the data, each multiplied by its gate ``max_i Z_ij``, or the
        outputs of the k units (the paper's text).
    diffusion_steps : "auto", int or (int, int), default=1
        Number of steps t of the random walk; a pair doubles it from the first to the second during training. "auto"
        goes from 1 to the smallest power of two at which k independent columns no longer look smooth.
    bandwidth : {"nearest", "mean"}, (rule, factor) or float, default=("mean", 0.05)
        The σ of the kernel ``exp(−‖g_i − g_l‖²/2σ²)``. "nearest": the largest distance of any row of the batch to its
        nearest neighbour (the paper's rule); "mean": σ² is the mean squared distance; a factor multiplies σ²; a
        number is σ itself.
    self_loops : bool, default=False
        Whether the random walk may stay where it is.
    normalize_score : bool, default=True
        Whether the score is divided by the energy ``trace(GᵀG)``.
    screening : bool, default=True
        Whether columns whose gates J wants closed are dropped, a fifth at a time, until eight for each unit are left.
        Up to 256 come back if structure is as clear with them.
    clip : float or None, default=3.0
        Standardised values beyond ±clip are drawn in to it before a graph looks at them, in columns whose variance a
        few rows carry (fewer than one in twelve): columns that are zero almost everywhere would own the distances. It
        has no effect unless ``scale="standard"``.
    decoder : {"graph", "network"}, default="graph"
        What reconstructs the columns: the graph of the selected ones, ``f̂ = P f``, which predicts each row from its
        neighbours and needs no training, or a multilayer perceptron (the paper). Beside the graph, a linear map
        judges the final choice of up to 32 columns.
    weighted_reconstruction : bool, default=True
        Whether the reconstruction error of a column is weighted by the root of how much smoother it is, on the graph of
        the columns that screening leaves, than if these had nothing to do with each other. Unweighted, columns without
        structure own the error.
    balance : {"odds", "error"}, default="odds"
        What of the unexplained share of the variance s is balanced against the score: ``s/(1 − s)``, which nuisance
        columns do not dilute, or s itself (the paper).
    reconstruction_warmup : float, default=1.0
        Share of training over which the weight of the reconstruction term rises from 0 to 1.
    score_weight : (float, float), default=(1.0, 0.5)
        Weight w of the score at the beginning and at the end of training: the graph decides first, reconstruction last.
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
    n_init : "auto" or int, default="auto"
        Number of restarts; the hard selection with the smallest J wins, its decoder refitted. "auto" makes 4, or fewer
        where k times the number of columns is so large that they could not be trained together.
    check_stability : bool, default=True
        Whether to look for the selection again in other rows, by screening and exchanges alone, and warn if less than
        nine in ten columns are found.
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
    found_again_ : ndarray or None
        For each selected column that was not kept by request, in the order of ``unit_columns_``, the share of its
        variance that the columns selected in other rows explain.
    diffusion_steps_ : int
        Steps of the random walk at the end of training.
    n_collisions_ : int
        Units that wanted a column already taken and got their next best.
    objective_ : float
        J of the hard selection. Where the graph decodes and k is at most 32, it is the mean of J with the graph and of
        J with a linear map as the decoder, each row predicted from the others.
    restart_objectives_ : ndarray of shape (n_init,)
        J of every restart's hard selection.
    history_ : structured array
        One row an epoch, or a part of 300 batches of a long one: epoch, temperature, objective (J), the terms, peak
        probability; ``pandas.DataFrame(history_)`` makes a table of it.
    convergence_ : str
        Whether units settled, in words.
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
        "weighted_reconstruction": ["boolean"],
        "balance": [StrOptions(set(MEASURES))],
        "reconstruction_warmup": [Interval(Real, 0, 1, closed="both")],
        "score_weight": [tuple, list],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        graph_on: str = "gates",
        diffusion_steps: str | int | tuple[int, int] = 1,
        bandwidth: str | float | tuple[str, float] = ("mean", 0.05),
        self_loops: bool = False,
        normalize_score: bool = True,
        screening: bool = True,
        clip: float | None = 3.0,
        decoder: str = "graph",
        weighted_reconstruction: bool = True,
        balance: str = "odds",
        reconstruction_warmup: float = 1.0,
        score_weight: tuple[float, float] = (1.0, 0.5),
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
        n_init: str | int = "auto",
        check_stability: bool = True,
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
            screening=screening,
            clip=clip,
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
            check_stability=check_stability,
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
        self.weighted_reconstruction = weighted_reconstruction
        self.balance = balance
        self.reconstruction_warmup = reconstruction_warmup
        self.score_weight = score_weight

    @classmethod
    def from_paper(cls, n_features_to_select: int | None = None, **changes: Any) -> Self:
        """Make a selector that follows the paper to the letter, except for the given parameters."""
        return cls(n_features_to_select, **(PAPER | changes))

    @classmethod
    def from_public_code(cls, n_features_to_select: int | None = None, **changes: Any) -> Self:
        """Make a selector with the defaults of the authors' public code, except for the given parameters."""
        return cls(n_features_to_select, **(PUBLIC_CODE | changes))

    def _check_values(self) -> None:
        super()._check_values()
        weights = self.score_weight
        if len(weights) != 2 or not all(isinstance(weight, Real) and float(weight) >= 0 for weight in weights):
            raise ValueError(f"score_weight takes (start, end), two numbers of at least 0; got {weights!r}.")

    def _graph_decodes(self) -> bool:
        return self.decoder == "graph"

    def _weighted(self) -> bool:
        return self.weighted_reconstruction

    def _terms(self) -> dict[str, Term]:
        warming = warm_up(self.reconstruction_warmup)
        return {
            "reconstruction": Term(reconstruction, weight=warming, measure=MEASURES[self.balance]),
            "score": Term(smoothness, maximise=True, weight=linear(*self.score_weight)),
        }
