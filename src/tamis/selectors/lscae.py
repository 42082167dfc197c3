"""LSCAE: reconstruction and Laplacian score together (Shaham, Lindenbaum, Svirsky and Kluger, 2022)."""

from collections.abc import Sequence
from dataclasses import fields, replace
from hashlib import sha256
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from tamis.base import FeatureSelector, Selection, Task
from tamis.lscae.recipe import PRESETS, Recipe
from tamis.selectors import parameters as p
from tamis.structure.candidates import rank_rest
from tamis.structure.sample import MAX_KEPT_CELLS, sample_rows

if TYPE_CHECKING:
    from tamis.lscae.checkpoint import Checkpointer
    from tamis.lscae.fit import Result
    from tamis.lscae.training import Callback

OVERRULED = ("max_epochs", "batch_size", "n_init")
"""Fields of the recipe that are parameters of the selector too."""

NOT_THE_FIT = ("callbacks", "checkpoint_dir", "checkpoint_every", "n_jobs", "random_state")
"""Parameters that do not tell one fit from another."""


@p.with_parameters
class LSCAE(FeatureSelector):
    r"""Select features that carry the structure of a table and are not copies of each other.

    Every feature is first tested for dependence on the others, above chance (:func:`tamis.find_structure`); only those
    that pass are candidates. A concrete layer of k units shows k of them; a decoder reconstructs the principal
    directions of the structured features, and a diffusion score measures how smooth the shown features are on the
    graph that they span themselves. Both together,

    .. math:: J = \log s - \log \operatorname{trace}(G^\top P^t G),

    with s the share of the directions that is not explained, are minimised by gradient descent while the temperature of
    the layer falls: the second term discards nuisance, the first one copies. At last single features are exchanged
    while J falls.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        How many features to select, k; None selects half of them, "auto" as many as explain the structure of the table
        (see :func:`tamis.choose_k`).
    recipe : {"default", "paper", "public-code"}, Recipe or None, default=None
        Every scientific choice of the method, see :class:`tamis.Recipe`: None is the default, "paper" follows the paper
        to the letter, "public-code" has the defaults of its authors' package. ``CAE`` and ``ConcreteLaplacian`` have
        presets of their own, and keep their own term of any recipe.
    max_epochs, batch_size, n_init : int or None, default=None
        Passes over the data, rows in a batch and number of restarts; None: the recipe's.
    scale : {"standard", "center"} or None, default="standard"
        Whether features are brought to mean 0 and standard deviation 1, to mean 0, or used as they are.
    must_keep, never : sequence of int or str, default=()
        Features, by position, name or glob (``"MT-*"``), or groups, by label, that are always or never selected.
    groups : sequence of labels, mapping of label to features, or None, default=None
        Features that are selected or left out together, such as the levels of a category; k counts groups.
    device : str, default="auto"
        "auto" takes a GPU if torch finds one; else a torch device such as "cpu" or "cuda:1".
    n_jobs : int or None, default=None
        Threads of the test for structure; None means 1, -1 all cores. Training has one: its steps are too short to be
        shared.
    callbacks : callable or sequence of callables, default=()
        Called after every epoch with a :class:`tamis.lscae.training.Epoch`; one that returns True ends training.
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
        As for every selector; the score of a candidate is its largest selection probability; in that of a selected one,
        every feature that its unit may show counts by its squared correlation. Other features have negative scores, by
        their evidence.
    structure_ : Structure
        Which features carry structure; None if that was not tested.
    filler_ : ndarray of bool
        Selected features without structure above chance, which fill up where fewer than k have it.
    verdict_ : Verdict
        Whether the selection may be trusted, and why.
    objective_ : float
        J of the selection. Where the graph decodes, it is the mean of J with the graph and of J with a linear map
        as the decoder, each row predicted from the others.
    restart_objectives_ : ndarray of shape (n_init,)
        J of the selection of every restart.
    history_ : structured array
        One row an epoch, or a part of 300 batches of a long one: epoch, temperature, objective (J), the terms, peak
        probability; ``pandas.DataFrame(history_)`` makes a table of it.
    units_ : ndarray of shape (k,)
        The feature that each unit was given, or the number of the group, all distinct.
    selection_probs_ : ndarray of shape (k, n_features)
        Probability of each unit to show each feature, or group, at the end of training; it may be given another one
        afterwards.
    scaling_, feature_means_ : tuple of ndarray, ndarray
        The features that vary, what was subtracted from them and what they were divided by; the means of all.
    decoder_weights_, decoder_features_ : dict of ndarray, ndarray
        Weights of the network that ``reconstruct`` uses, and the features that it is given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import LSCAE
    >>> X = load_iris(as_frame=True).data
    >>> selector = LSCAE(n_features_to_select=2, random_state=0).fit(X)
    >>> selector.transform(X).shape
    (150, 2)
    """

    recipe: Annotated[str | Recipe | None, StrOptions(set(PRESETS)), Recipe, None] = None
    max_epochs: p.OptionalCount = None
    batch_size: p.OptionalBatchSize = None
    n_init: p.OptionalCount = None
    scale: p.Scale = "standard"
    device: p.Device = "auto"
    n_jobs: Annotated[int | None, Integral, None] = None
    callbacks: Annotated["Callback | Sequence[Callback]", tuple, list, callable, None] = ()
    checkpoint_dir: Annotated[str | PathLike[str] | None, str, PathLike, None] = None
    checkpoint_every: p.NonNegative = 120.0
    random_state: p.Seed = None

    _from_disk = "batches"
    _allows_missing = True

    @property
    def _selects_groups(self) -> bool:  # type: ignore[override]
        return not self.resolved_recipe().uses_codes

    _presets: ClassVar[dict[str, Recipe]] = PRESETS

    @classmethod
    def from_paper(cls, n_features_to_select: int | str | None = None, **changes: Any) -> Self:
        """Return a selector that follows the paper to the letter, except for what is changed.

        Parameters
        ----------
        n_features_to_select : int, "auto" or None, default=None
            As for the class.
        **changes : dict
            Parameters of the selector, or fields of the recipe, that are changed.

        Returns
        -------
        LSCAE
            Not fitted yet.
        """
        own = {field for field in changes if field not in cls._parameter_constraints}
        recipe = replace(cls._presets["paper"], **{field: changes.pop(field) for field in own}) if own else "paper"
        return cls(n_features_to_select, recipe=recipe, **changes)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``recipe__self_loops=True`` changes a field of the recipe, also of a preset."""
        prefix = "recipe__"
        changes = {name.removeprefix(prefix): params.pop(name) for name in list(params) if name.startswith(prefix)}
        super().set_params(**params)
        if changes:
            if unknown := set(changes) - {field.name for field in fields(Recipe)}:
                raise ValueError(f"Recipe has no field {sorted(unknown)[0]!r}; see help(tamis.Recipe).")
            # Without what other parameters overrule, which may be set anew.
            self.recipe = replace(type(self)(recipe=self.recipe).resolved_recipe(), **changes)
        return self

    def resolved_recipe(self) -> Recipe:
        """Return the recipe that ``fit`` follows.

        Returns
        -------
        Recipe
            The preset or given one, with what the parameters of the selector overrule.
        """
        changes = {name: getattr(self, name) for name in OVERRULED if getattr(self, name) is not None}
        recipe, own = self.recipe, self._presets["default"].terms
        if not isinstance(recipe, Recipe):
            if recipe is not None and recipe not in self._presets:
                raise ValueError(f"recipe takes one of {sorted(self._presets)} or a Recipe; got {recipe!r}.")
            recipe = self._presets[recipe or "default"]
        elif len(own) == 1:
            # The ablations are what they are by their only term, whatever else a recipe changes.
            changes["terms"] = own
        return replace(recipe, **changes) if changes else recipe

    def _select(self, X: Any, task: Task) -> Selection:
        # Here, so that a selector can be made, shown and cloned without waiting for torch.
        from tamis.lscae.fit import fit
        from tamis.lscae.parallel import one_thread, torch_device

        callbacks = [self.callbacks] if callable(self.callbacks) else list(self.callbacks or ())
        for callback in callbacks:
            if not callable(callback):
                raise TypeError(f"callbacks takes functions of an epoch's record; got {callback!r}.")
        seed, checkpointer = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)), None
        if self.checkpoint_dir is not None:
            checkpointer = self._checkpointer(Path(self.checkpoint_dir), X, task, seed)
            seed = int(checkpointer.identity["seed"])
        with one_thread():
            result = fit(
                X,
                task,
                self.resolved_recipe(),
                scale=self.scale,
                device=torch_device(self.device),
                n_threads=effective_n_jobs(self.n_jobs),
                seed=seed,
                callbacks=callbacks,
                checkpointer=checkpointer,
            )
        return self._keep(result, task)

    def _checkpointer(self, folder: Path, X: Any, task: Task, seed: int) -> "Checkpointer":
        from tamis.lscae.checkpoint import Checkpointer, saved_seed

        seed = saved_seed(folder, seed) if self.random_state is None else seed
        return Checkpointer(folder, self._identity(X, task, seed), float(self.checkpoint_every))

    def _identity(self, X: Any, task: Task, seed: int) -> dict[str, str]:
        """Return what tells this fit from others."""
        parameters = {k: repr(v) for k, v in self.get_params(deep=False).items() if k not in NOT_THE_FIT}
        # Some rows, too, since tables of ranks have equal statistics.
        sample, _ = sample_rows(X, np.random.default_rng(0), MAX_KEPT_CELLS)
        cells = (sample.data, sample.indices, sample.indptr) if issparse(sample) else (sample,)
        parts = (part.tobytes() for part in (task.statistics.mean, task.statistics.std, *cells))
        digest = sha256(b"".join(parts)).hexdigest()[:16]
        return {"selector": type(self).__name__, "data": digest, "seed": str(seed), **parameters}

    def _keep(self, result: "Result", task: Task) -> Selection:
        """Set the fitted attributes, and return the scores and the order of the selected features."""
        best, n_items = result.trained, self.n_features_in_ if task.groups is None else task.groups.n_items
        self.structure_ = result.structure
        self.objective_, self.restart_objectives_ = best.objective, np.array(result.objectives)
        # A structured array, which pandas.DataFrame takes as it is.
        kinds = [(name, int if name == "epoch" else float) for name in (best.history or [{"epoch": 0}])[0]]
        self.history_ = np.array([tuple(row.values()) for row in best.history], dtype=kinds)
        self.scaling_, self.feature_means_ = result.scaling[:3], task.statistics.mean
        self.decoder_weights_ = {name: value.numpy() for name, value in result.decoder.items()}
        self.decoder_features_ = result.features.numpy()
        self.units_, n_kept = best.chosen.numpy(), len(best.chosen) - len(best.probabilities)
        self.selection_probs_ = np.zeros((len(self.units_), n_items))
        self.selection_probs_[np.arange(n_kept), self.units_[:n_kept]] = 1.0
        self.selection_probs_[n_kept:, best.candidates.numpy()] = best.probabilities.numpy()
        scores, own = self.selection_probs_.max(axis=0, initial=0.0), self.units_[n_kept:]
        scores[own] = np.maximum(scores[own], result.shares.numpy())
        chosen = self.units_[np.argsort(-scores[self.units_], kind="stable")]
        if self.structure_ is None:
            return Selection(scores, chosen)
        return Selection(rank_rest(scores, self.structure_, task.owner), chosen)

    def reconstruct(self, X_selected: Any) -> NDArray[np.float64]:
        """Impute all features from the selected ones.

        Parameters
        ----------
        X_selected : array of shape (n_samples, n_features_to_select)
            The selected features, in the order and units of ``transform``.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            All features in the units of the data seen by ``fit``; the selected ones are returned as given.
        """
        check_is_fitted(self)
        if hasattr(X_selected, "columns") and list(X_selected.columns) != list(self.get_feature_names_out()):
            raise ValueError(f"reconstruct takes the features {list(self.get_feature_names_out())}, in this order.")
        given = check_array(X_selected, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan")
        given = given.toarray() if hasattr(given, "toarray") else given
        if given.shape[1] != self.support_.sum():
            raise ValueError(
                f"reconstruct takes the {self.support_.sum()} selected features, as transform returns them; got "
                f"{given.shape[1]}."
            )
        used, center, spread = self.scaling_
        inputs = np.searchsorted(np.flatnonzero(self.support_), self.decoder_features_)
        own = np.searchsorted(used, self.decoder_features_)
        table = np.tile(self.feature_means_, (len(given), 1))
        table[:, used] = self._decode((given[:, inputs] - center[own]) / spread[own]) * spread + center
        table[:, self.support_] = given
        return table

    def _decode(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        import torch

        from tamis.lscae.decoder import load_decoder

        decoder = load_decoder({name: torch.from_numpy(value) for name, value in self.decoder_weights_.items()})
        with torch.no_grad():
            return np.asarray(decoder(torch.from_numpy(np.nan_to_num(codes)).float()).double())
