"""FeatureSelector: a score per feature becomes exactly k distinct features, or groups of them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis.columns import ColumnStatistics, check_cells, summarise_columns
from tamis.features import Features, check_names, checked_table, read_groups, warn_of_ties, warn_of_unusable
from tamis.io.sources import TableSource, as_source
from tamis.reprs import counted, html_selection
from tamis.sizes import choose_k
from tamis.structure.candidates import FillerWarning, filler_message
from tamis.structure.sample import MAX_KEPT_CELLS, sample_rows
from tamis.verdict import KeptRows, Verdict, judge, structure_of

MIN_ROWS = 3
MAX_MISSING = 0.5
"""Features with a larger share of missing cells are left out."""


class Selection(NamedTuple):
    """What a method finds: a score per feature (larger = better) and, if it chose itself, its picks in order.

    A method that is asked for groups has a score per group, and picks groups.
    """

    scores: NDArray[np.float64]
    chosen: Sequence[int] | NDArray[np.intp] = ()


class Task(NamedTuple):
    """What a method is asked for, after the input and the parameters have been checked."""

    k: int  # number of features to select, the kept ones included
    must_keep: NDArray[np.intp]  # features that are selected whatever their score, in the user's order
    candidates: NDArray[np.intp]  # usable features, neither kept nor banned, among which the others are chosen
    statistics: ColumnStatistics
    groups: Features | None = None  # if given, the three above are about groups of features
    owner: NDArray[np.intp] | None = None  # the group of each feature, if groups are selected


@dataclass(eq=False, repr=False)
class FeatureSelector(SelectorMixin, BaseEstimator, ABC):
    """Base of all selectors; a method implements :meth:`_select` and inherits the rest.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        How many features, or groups, to select; None selects half of them, "auto" as many as explain the structure of
        the table (see :func:`tamis.choose_k`).
    must_keep, never : sequence of int or str, default=()
        Features, by position, name or glob such as ``"MT-*"``, or groups, by label or glob, that are always or never
        selected. Those of ``never`` still count as data to be explained.
    groups : sequence of labels, mapping of label to features, or None, default=None
        Features that are selected or left out together, such as the levels of a category.

    Attributes
    ----------
    support_ : ndarray of bool
        Mask of the selected features.
    selected_ : ndarray of int
        The selected features, best first.
    selected_groups_ : list
        Labels of the selected groups, best first; the features' names or positions without groups.
    ranking_ : ndarray of int
        Rank of every feature, a permutation; 1 is best and the selected features have the first ranks.
    scores_ : ndarray of float
        Score of every feature; larger is better. Features that cannot be scored have ``-inf`` or, where structure is
        tested, negative scores by their evidence.
    verdict_ : Verdict
        Whether the selection may be trusted, and why; computed when it is first asked for.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the features, if X had string names.
    """

    n_features_to_select: int | str | None = None
    _: KW_ONLY
    must_keep: Sequence[int | str] = ()
    never: Sequence[int | str] = ()
    groups: Any = None

    _from_disk: ClassVar[str | None] = None
    """How a table that stays on disk is used: "batches", "statistics" or a "sample" of its rows; None if it cannot."""

    _allows_missing: ClassVar[bool] = False
    """Whether NaN is a missing cell rather than an error."""

    _max_missing: ClassVar[float] = MAX_MISSING

    _selects_groups: ClassVar[bool] = False
    """Whether :meth:`_select` can be asked for groups; else a group has the mean score of its features."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "must_keep": ["array-like", None],
        "never": ["array-like", None],
        "groups": ["array-like", dict, None],
    }

    @abstractmethod
    def _select(self, X: Any, task: Task) -> Selection:
        """Score the features of a checked table (dense array of numbers or CSR matrix), without changing it."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 (scikit-learn's signature)
        """Select features of X.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or source of shape (n_samples, n_features)
            Numbers only, at least three rows. It is not changed. Tables that stay on disk (see
            :func:`tamis.open_source`) are read in pieces by the selectors that can.
        y : None
            Ignored; selection is unsupervised.

        Returns
        -------
        self
        """
        source = as_source(X)
        if source is None:
            X = checked_table(X, partial(validate_data, self), ensure_all_finite=False)
        else:
            X = self._check_source(source)
        if X.shape[0] < MIN_ROWS:
            fault = f"compares rows with each other and needs at least {MIN_ROWS}; X has n_samples = {X.shape[0]}"
            remedy = "Pass more rows, or transpose X if its samples are in columns."
            raise ValueError(f"{type(self).__name__} {fault}. {remedy}")
        statistics = summarise_columns(X)
        d, names = self.n_features_in_, getattr(self, "feature_names_in_", None)
        features = Features(names, None, np.arange(d), d)
        if self.groups is not None:
            features = read_groups(self.groups, features)
        check_cells(statistics, getattr(self, "scale", "standard"), self._allows_missing, features.listed)
        task = self._plan(X, statistics, features)
        self.__dict__.pop("verdict_", None)
        as_asked = task.groups is None or self._selects_groups
        self._rank(self._select(X, task) if as_asked else self._mean_scores(X, task, features), task, features)
        kept = np.flatnonzero(np.isin(features.owner, task.must_keep))
        self._kept_rows = KeptRows(sample_rows(X, np.random.default_rng(0), MAX_KEPT_CELLS, 100)[0], kept, task.owner)
        if (found := getattr(self, "structure_", None)) is not None:
            self.structure_ = found if names is None else replace(found, feature_names=names)
            if n_filler := len(np.setdiff1d(features.owner[self.support_ & ~found.structured], task.must_keep)):
                n_structured = len(np.intersect1d(features.owner[found.structured], task.candidates))
                text = filler_message(n_filler, task.k - len(task.must_keep), n_structured)
                warn(text, FillerWarning, stacklevel=3)
        return self

    def _mean_scores(self, X: Any, task: Task, features: Features) -> Selection:
        """Return a score for each group, the mean of its features, where the method knows nothing of groups."""
        kept, free = features.members(task.must_keep), features.members(task.candidates)
        usable = free[~task.statistics.constant[free]]
        each = Task(len(kept) + task.k - len(task.must_keep), kept, usable, task.statistics)
        scores = self._select(X, each).scores
        known = np.isfinite(scores)
        sums = np.bincount(features.owner[known], scores[known], minlength=features.n_items)
        counts = np.bincount(features.owner[known], minlength=features.n_items)
        return Selection(np.where(counts > 0, sums / np.maximum(counts, 1), -np.inf))

    def _rank(self, selection: Selection, task: Task, features: Features) -> None:
        scores = np.where(np.isnan(selection.scores), -np.inf, selection.scores)
        by_score = np.argsort(-scores, kind="stable")
        candidates = by_score[np.isin(by_score, task.candidates)]
        # dict.fromkeys keeps the first mention of each item: kept, chosen, other candidates, the rest.
        everyone = dict.fromkeys([*task.must_keep, *selection.chosen, *candidates, *range(len(scores))])
        items = np.fromiter(everyone, dtype=np.intp)
        place = np.argsort(items)
        # Features in the order of their items, those of a group as they are in X.
        order = np.argsort(place[features.owner], kind="stable")
        self.selected_ = order[: int((place[features.owner] < task.k).sum())]
        names: Any = features.labels or (range(len(order)) if features.names is None else features.names)
        self.selected_groups_ = [names[item] for item in items[: task.k]]
        self.scores_ = scores[features.owner]
        self.ranking_ = np.argsort(order) + 1
        self.support_ = self.ranking_ <= len(self.selected_)
        if not len(selection.chosen):
            warn_of_ties(scores, items[len(task.must_keep) : task.k], task.candidates, stacklevel=5)

    @cached_property
    def verdict_(self) -> Verdict:
        """Whether the selection may be trusted, and why."""
        check_is_fitted(self)
        sample, _, owner = self._kept_rows
        structure = getattr(self, "structure_", None) or structure_of(sample, owner)
        return judge(self._kept_rows, self.selected_, structure)

    @property
    def filler_(self) -> NDArray[np.bool_]:
        """Mask of the selected features without structure above chance, where that was tested."""
        check_is_fitted(self)
        structure = getattr(self, "structure_", None)
        return np.zeros_like(self.support_) if structure is None else self.support_ & ~structure.structured

    def transform(self, X: Any) -> Any:
        """Return the selected features of X, in the order they have there.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or source of shape (n_samples, n_features)
            A table with the features seen by ``fit``.

        Returns
        -------
        array, DataFrame or sparse matrix of shape (n_samples, k)
        """
        check_is_fitted(self)
        source = as_source(X)
        if source is None:
            return super().transform(X)
        if source.shape[1] != self.n_features_in_:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input."
            raise ValueError(f"X has {source.shape[1]} features, but {expected}")
        known = getattr(self, "feature_names_in_", None)
        if known is not None and source.names is not None and (unlike := np.flatnonzero(known != source.names)).size:
            fault = f"has feature {source.names[unlike[0]]!r} where fit saw {known[unlike[0]]!r}"
            raise ValueError(f"{source.place} {fault}. Pass the features of fit in the order they had there.")
        return source[:, np.flatnonzero(self.support_)]

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the fitted selector, without code, to a file that :func:`tamis.load` reads.

        Parameters
        ----------
        path : str or path
            The file; one that exists is replaced.

        Returns
        -------
        Path
        """
        from tamis.io.persistence import save

        return save(self, Path(path))

    def _html_repr(self) -> str:
        return str(super()._html_repr()) + html_selection(self)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allows_missing
        return tags

    def _check_source(self, source: TableSource) -> TableSource:
        if self._from_disk is None:
            raise TypeError(
                f"{type(self).__name__} needs the whole table in memory, and {source.place} is read in pieces. Pass "
                "some of its rows, such as source[:5000], or use LSCAE, CAE, ConcreteLaplacian, StructurePursuit, "
                "LaplacianScore, VarianceScore or RandomSubset."
            )
        if not source.shape[1]:
            raise ValueError(f"{source.place}: holds no features.")
        self.n_features_in_ = source.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if source.names is not None:
            check_names(source.names)
            self.feature_names_in_ = source.names
        return source

    def _plan(self, X: Any, statistics: ColumnStatistics, features: Features) -> Task:
        """Return what is to be selected; a group is usable if one of its features is."""
        if statistics.constant.all():
            what = "at most one value" if (statistics.missing == statistics.n_rows).any() else "one value only"
            who = f"Each of the {self.n_features_in_} features" if self.n_features_in_ > 1 else "The feature"
            raise ValueError(f"{who} of X holds {what}, so nothing tells the samples apart. Check how X was read.")
        lists = [(name, getattr(self, name)) for name in ("must_keep", "never")]
        found = ([i for entry in (() if some is None else some) for i in features.items(entry, n)] for n, some in lists)
        # Each once, in the user's order.
        must_keep, never = (np.array(list(dict.fromkeys(items)), dtype=np.intp) for items in found)
        if (both := np.intersect1d(must_keep, never)).size:
            named = features.listed(features.members(both))
            raise ValueError(f"must_keep and never both hold {named}. Remove them from one of the lists.")
        gaps = statistics.missing > self._max_missing * statistics.n_rows
        usable = ~statistics.constant & ~gaps
        asked_for = np.isin(features.owner, np.concatenate([must_keep, never]))
        for why, unusable in (("missing in most rows", gaps), ("with one value only", ~usable & ~gaps)):
            if (told := np.flatnonzero(unusable & ~asked_for)).size:
                warn_of_unusable(why, features.listed(told), stacklevel=5)
        free = np.bincount(features.owner, usable, minlength=features.n_items) > 0
        free[never] = free[must_keep] = False
        candidates = np.flatnonzero(free)
        groups, owner = (None, None) if features.labels is None else (features, features.owner)
        n_kept, most = len(must_keep), len(must_keep) + len(candidates)
        k: Any = self.n_features_to_select
        if k == "auto":
            k = min(choose_k(X, groups=owner, must_keep=must_keep).k, most)
        if k is None:
            k = min(max(1, features.n_items // 2, n_kept), most)
        if most == 0 or not n_kept <= k <= most:
            raise ValueError(_why_not(k, n_kept, len(never), most, features.n_items))
        return Task(int(k), must_keep, candidates, statistics, groups, owner)


def _why_not(k: int, n_kept: int, n_never: int, most: int, n_items: int) -> str:
    """Return why k features cannot be selected, of which n_kept are asked for and at most so many can be."""
    if most == 0 and not n_never:
        return (
            "Every feature of X is missing in most rows, so that none can be selected. Fill the gaps, or collect more."
        )
    if most == 0:
        return f"never lists all {counted(n_never, 'usable feature')} of X. Leave at least one to select."
    if k > most:
        fault = f"only {most} of the {counted(n_items, 'feature')} can be selected"
        why = f"{n_never} in never; features with one value, or missing in most rows, are left out"
        return f"n_features_to_select={k}, but {fault} ({why}). Ask for at most {most}."
    fault = f"must_keep holds {n_kept} features, more than n_features_to_select={k}"
    return f"{fault}. Shorten the list or select more features."
