"""FeatureSelector: a score per column becomes exactly k distinct columns, with must-keep and never lists."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from difflib import get_close_matches
from functools import cached_property
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

from tamis.checks import check_range, warn_of_ties
from tamis.columns import ColumnStatistics, summarise_columns
from tamis.io.sources import TableSource, as_source
from tamis.sizes import suggested_k
from tamis.verdict import Evidence, Verdict, judge, structure_of

MIN_ROWS = 3


class ConstantColumnsWarning(UserWarning):
    """Some columns hold one value only and cannot be selected."""


class Selection(NamedTuple):
    """What a method finds: a score per column (larger = better) and, if it chose itself, its picks in order."""

    scores: NDArray[np.float64]
    chosen: Sequence[int] = ()


@dataclass(frozen=True)
class Task:
    """What a method is asked for, after the input and the parameters have been checked.

    Attributes
    ----------
    k : int
        Number of columns to select, the kept ones included.
    must_keep : ndarray of int
        Columns that are selected whatever their score, in the user's order.
    candidates : ndarray of int
        Columns among which the other ``k - len(must_keep)`` are chosen: not constant, not kept, not banned.
    statistics : ColumnStatistics
        Mean, spread and constancy of every column.
    """

    k: int
    must_keep: NDArray[np.intp]
    candidates: NDArray[np.intp]
    statistics: ColumnStatistics


@dataclass(eq=False, repr=False)
class FeatureSelector(SelectorMixin, BaseEstimator, ABC):
    """Base of all selectors; a method implements :meth:`_select` and inherits the rest.

    Parameters
    ----------
    n_features_to_select : int, "auto" or None, default=None
        How many columns to select; None selects half of them, "auto" as many as explain the structure of the table
        (see :func:`tamis.choose_k`).
    must_keep : sequence of int or str, default=()
        Columns, by position or name, that are always selected.
    never : sequence of int or str, default=()
        Columns, by position or name, that are never selected. They still count as data to be explained.

    Attributes
    ----------
    support_ : ndarray of bool
        Mask of the selected columns.
    selected_ : ndarray of int
        The selected columns, best first.
    ranking_ : ndarray of int
        Rank of every column, a permutation; 1 is best and the selected columns have the ranks 1 to k.
    scores_ : ndarray of float
        Score of every column; larger is better, ``-inf`` for columns that cannot be scored.
    verdict_ : Verdict
        Whether the selection may be trusted, and why; computed when it is first asked for.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X had string names.
    """

    n_features_to_select: int | str | None = None
    _: KW_ONLY
    must_keep: Sequence[int | str] = ()
    never: Sequence[int | str] = ()

    _from_disk: ClassVar[str | None] = None
    """How a table that stays on disk is used: "batches", "statistics" or a "sample" of its rows; None if it cannot."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "must_keep": ["array-like", None],
        "never": ["array-like", None],
    }

    @abstractmethod
    def _select(self, X: Any, task: Task) -> Selection:
        """Score the columns of a checked table (dense array of numbers or CSR matrix), without changing it."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 (scikit-learn's signature)
        """Choose the columns of X.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or source of shape (n_samples, n_features)
            Numbers only, at least three rows. It is not changed. Tables that stay on disk (see ``tamis.io.sources``)
            are read in pieces by the selectors that can.
        y : None
            Ignored; selection is unsupervised.

        Returns
        -------
        self
        """
        source = as_source(X)
        X = self._check_table(X) if source is None else self._check_source(source)
        statistics = summarise_columns(X)
        self._check_finite(statistics)
        check_range(statistics, getattr(self, "scale", "standard"), self._named)
        task = self._plan(statistics, X)
        self.__dict__.pop("verdict_", None)
        self._rank(self._select(X, task), task)
        self._evidence = Evidence.of(X, task.must_keep)
        return self

    @cached_property
    def verdict_(self) -> Verdict:
        """Whether the selection may be trusted, and why."""
        check_is_fitted(self)
        sample, kept = self._evidence
        structure = getattr(self, "structure_", None) or structure_of(sample)
        return judge(sample, self.selected_, kept, structure)

    @property
    def filler_(self) -> NDArray[np.bool_]:
        """Mask of the selected columns without structure above chance, where that was tested."""
        check_is_fitted(self)
        structure = getattr(self, "structure_", None)
        return np.zeros_like(self.support_) if structure is None else self.support_ & ~structure.structured

    def _rank(self, selection: Selection, task: Task) -> None:
        scores = np.where(np.isnan(selection.scores), -np.inf, selection.scores)
        by_score = np.argsort(-scores, kind="stable")
        candidates = by_score[np.isin(by_score, task.candidates)]
        # dict.fromkeys keeps the first mention of each column: kept, chosen, other candidates, the rest.
        order = np.fromiter(
            dict.fromkeys([*task.must_keep, *selection.chosen, *candidates, *range(len(scores))]),
            dtype=np.intp,
        )
        self.scores_ = scores
        self.ranking_ = np.empty(len(order), dtype=np.intp)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        self.selected_ = order[: task.k]
        self.support_ = self.ranking_ <= task.k
        if not len(selection.chosen):
            warn_of_ties(scores, self.selected_[len(task.must_keep) :], task.candidates, stacklevel=5)

    def transform(self, X: Any) -> Any:
        """Give the selected columns of X, in the order they have there."""
        check_is_fitted(self)
        source = as_source(X)
        if source is None:
            return super().transform(X)
        if source.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {source.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )
        return source[:, np.flatnonzero(self.support_)]

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the fitted selector to a file, which :func:`tamis.load` reads; no code is stored in it.

        Parameters
        ----------
        path : str or path
            Where to; a file there is replaced only when the new one is complete.

        Returns
        -------
        Path
            The path.
        """
        from tamis.io.persistence import save

        return save(self, Path(path))

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_table(self, X: Any) -> Any:
        self._check_names(getattr(X, "columns", ()))
        try:
            checked = validate_data(self, X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
        except (ValueError, TypeError) as error:
            text = _text_columns(X)
            if not text:
                raise
            raise type(error)(
                f"{_listed(text)} of X cannot be read as numbers ({error}). "
                "Drop these columns or encode them as numbers first."
            ) from error
        self._check_rows(checked.shape[0])
        return checked

    def _check_source(self, source: TableSource) -> TableSource:
        if self._from_disk is None:
            raise TypeError(
                f"{type(self).__name__} needs the whole table in memory, and {source.place} is read in pieces. Pass "
                "some of its rows, such as source[:5000], or use LSCAE, CAE, ConcreteLaplacian, LaplacianScore or "
                "VarianceScore."
            )
        self._check_rows(source.shape[0])
        if not source.shape[1]:
            raise ValueError(f"{source.place}: holds no columns.")
        self.n_features_in_ = source.shape[1]
        if source.names is not None:
            self._check_names(source.names)
            self.feature_names_in_ = source.names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return source

    def _check_rows(self, n_rows: int) -> None:
        if n_rows < MIN_ROWS:
            raise ValueError(
                f"{type(self).__name__} compares rows with each other and needs at least {MIN_ROWS}; X has "
                f"{n_rows} sample(s). Pass more rows, or transpose X if its samples are in columns."
            )

    def _check_names(self, names: Iterable[Any]) -> None:
        repeated = [name for name, times in Counter(names).items() if times > 1]
        if repeated:
            raise ValueError(
                f"Column names of X must differ, but {_listed(repeated)} occur more than once. "
                "Rename them, or pass X as an array to go by position."
            )

    def _check_finite(self, statistics: ColumnStatistics) -> None:
        columns = np.flatnonzero(statistics.non_finite)
        if columns.size:
            raise ValueError(
                f"X holds NaN or inf: {statistics.non_finite.sum()} value(s) in {columns.size} column(s): "
                f"{self._named(columns)}, the first of them in row {statistics.bad_row}. Fill the gaps (for example "
                "with sklearn.impute.SimpleImputer) or drop these columns."
            )

    def _plan(self, statistics: ColumnStatistics, X: Any) -> Task:
        if statistics.constant.all():
            raise ValueError(
                f"Each of the {self.n_features_in_} column(s) of X holds one value only, so nothing tells the samples "
                "apart. Check how X was read."
            )
        must_keep, never = self._positions("must_keep"), self._positions("never")
        both = np.intersect1d(must_keep, never)
        if both.size:
            raise ValueError(f"must_keep and never both hold {self._named(both)}. Remove them from one of the lists.")
        self._warn_of_constants(np.setdiff1d(np.flatnonzero(statistics.constant), [*must_keep, *never]))
        free = ~statistics.constant
        free[never] = free[must_keep] = False
        candidates = np.flatnonzero(free)
        k = self.n_features_to_select
        if isinstance(k, str):  # "auto"
            k = min(max(1, suggested_k(X), len(must_keep)), len(must_keep) + len(candidates))
        return Task(self._count(k, must_keep, never, candidates), must_keep, candidates, statistics)

    def _count(self, k: int | None, must_keep: NDArray, never: NDArray, candidates: NDArray) -> int:
        usable = len(must_keep) + len(candidates)
        if usable == 0:
            raise ValueError(f"never lists all {len(never)} usable column(s) of X. Leave at least one to select.")
        if k is None:
            return max(min(max(1, self.n_features_in_ // 2), usable), len(must_keep))
        if k > usable:
            raise ValueError(
                f"n_features_to_select={k}, but only {usable} of the {self.n_features_in_} column(s) can be selected "
                f"({len(never)} in never; columns with one value are left out). Ask for at most {usable}."
            )
        if len(must_keep) > k:
            raise ValueError(
                f"must_keep holds {len(must_keep)} column(s), more than n_features_to_select={k}. "
                "Shorten the list or select more columns."
            )
        return int(k)

    def _warn_of_constants(self, constant: NDArray[np.intp]) -> None:
        if constant.size:
            warn(
                f"{constant.size} column(s) hold one value only and are never selected: {self._named(constant)}. "
                "Name them in must_keep to select them all the same.",
                ConstantColumnsWarning,
                stacklevel=5,
            )

    def _positions(self, parameter: str) -> NDArray[np.intp]:
        """Turn the names and positions in a parameter into distinct positions, in the user's order."""
        asked = getattr(self, parameter)
        entries = dict.fromkeys(() if asked is None else list(asked))
        return np.array([self._position(entry, parameter) for entry in entries], dtype=np.intp)

    def _position(self, entry: Any, parameter: str) -> int:
        if isinstance(entry, Integral) and not isinstance(entry, bool | np.bool_):
            if 0 <= int(entry) < self.n_features_in_:
                return int(entry)
            raise ValueError(
                f"{parameter} holds the position {entry}, but X has the columns 0 to {self.n_features_in_ - 1}."
            )
        if not isinstance(entry, str):
            raise TypeError(
                f"{parameter} takes column names or positions (int); got {entry!r} ({type(entry).__name__})."
            )
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            raise ValueError(f"{parameter} names {entry!r}, but X has no column names. Pass a DataFrame or positions.")
        found = np.flatnonzero(names == entry)
        if not found.size:
            raise ValueError(f"{parameter} names {entry!r}, which is not a column of X.{_nearest(entry, names)}")
        return int(found[0])

    def _named(self, columns: Iterable[int]) -> str:
        names = getattr(self, "feature_names_in_", None)
        return _listed([column if names is None else names[column] for column in columns])


def _nearest(entry: str, names: Iterable[str]) -> str:
    close = get_close_matches(entry, list(names), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _listed(columns: Sequence[Any], limit: int = 5) -> str:
    """Write ``column 3, column 'age', ... and 7 more``."""
    shown = ", ".join(f"column {column.item() if hasattr(column, 'item') else column!r}" for column in columns[:limit])
    return shown + (f" and {len(columns) - limit} more" if len(columns) > limit else "")


def _text_columns(X: Any) -> list[Any]:
    """Names or positions of the columns that do not convert to float."""
    if getattr(X, "ndim", len(getattr(X, "shape", ()))) != 2 or not hasattr(X, "__array__"):
        return []
    names = list(getattr(X, "columns", range(X.shape[1])))
    cells = np.asarray(X, dtype=object)
    return [name for name, column in zip(names, cells.T, strict=True) if not _is_numeric(column)]


def _is_numeric(column: NDArray) -> bool:
    try:
        column.astype(np.float64)
    except (ValueError, TypeError):
        return False
    return True
