"""What users call features: names, positions and groups of them, and how messages name them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from numbers import Integral
from typing import Any, NamedTuple
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.reprs import counted

MAX_LISTED = 5


class UnusableFeaturesWarning(UserWarning):
    """Some features hold one value only, or hardly any value, and cannot be selected."""


class TiedScoresWarning(UserWarning):
    """Selected features have no finite score, or all have the same up to rounding: it does not tell them apart."""


class Features(NamedTuple):
    """The features of a table, or groups of them that are selected as a whole."""

    names: NDArray[Any] | None
    labels: list[Any] | None  # of the groups; None if every feature is on its own
    owner: NDArray[np.intp]  # the group of each feature; its own position without groups
    n_items: int  # number of groups, or of features without groups

    def items(self, entry: Any, parameter: str) -> list[int]:
        """Return the groups, or the features without groups, that an entry of a parameter names.

        A text with ``*``, ``?`` or ``[`` that is no name is a glob.
        """
        labels, names = self.labels or [], () if self.names is None else self.names
        if entry in labels:
            return [labels.index(entry)]
        if isinstance(entry, Integral) and any(isinstance(label, Integral) for label in labels):
            raise ValueError(f"{parameter} holds {entry}, which is not the number of a group.")
        if isinstance(entry, str) and set(entry) & set("*?[") and entry not in names:
            matches = [item for item, label in enumerate(labels) if fnmatchcase(str(label), entry)]
            matches += [int(item) for item, name in zip(self.owner, names, strict=False) if fnmatchcase(name, entry)]
            if matches:
                return matches
        return [int(self.owner[self.position(entry, parameter)])]

    def position(self, entry: Any, parameter: str) -> int:
        """Return the position of the feature that an entry of a parameter names."""
        if isinstance(entry, Integral) and not isinstance(entry, bool | np.bool_):
            last = len(self.owner) - 1
            if 0 <= int(entry) <= last:
                return int(entry)
            raise ValueError(f"{parameter} holds the position {entry}, but X has the features 0 to {last}.")
        if not isinstance(entry, str):
            got = f"{entry!r} ({type(entry).__name__})"
            raise TypeError(f"{parameter} takes feature names or positions (int); got {got}.")
        if self.names is None:
            raise ValueError(f"{parameter} names {entry!r}, but X has no feature names. Pass a DataFrame or positions.")
        if not (found := np.flatnonzero(self.names == entry)).size:
            close = get_close_matches(entry, list(self.names), n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"{parameter} names {entry!r}, which is not a feature of X.{hint}")
        return int(found[0])

    def members(self, items: Iterable[int]) -> NDArray[np.intp]:
        """Return the features of some items, item by item."""
        by_item = np.argsort(self.owner, kind="stable")
        starts = np.searchsorted(self.owner[by_item], np.arange(self.n_items + 1))
        return np.concatenate([by_item[:0], *(by_item[starts[i] : starts[i + 1]] for i in items)])

    def listed(self, features: Iterable[int]) -> str:
        """Return features in words, such as ``feature 'age', feature 'size' and 7 more``."""
        return listed([feature if self.names is None else self.names[feature] for feature in features])


def read_groups(groups: Any, alone: Features) -> Features:
    """Return the features of a table in their groups, given a label for each or a mapping of labels to features.

    Features that a mapping does not name are groups of their own.
    """
    n_features, names = len(alone.owner), alone.names
    if isinstance(groups, Mapping):
        own: Any = range(n_features) if names is None else names
        found = [(alone.position(member, "groups"), label) for label, members in groups.items() for member in members]
        taken = dict(found)
        if len(taken) < len(found):
            twice = [position for position, times in Counter(next(zip(*found, strict=True))).items() if times > 1]
            raise ValueError(f"groups holds {alone.listed(twice)} in more than one group.")
        labels = [taken.get(position, label) for position, label in enumerate(own)]
        if clash := [j for j, label in enumerate(own) if j not in taken and label in groups]:
            named = alone.listed(clash)
            raise ValueError(f"groups has a group with the name of {named}, which is not in it. Rename it.")
    else:
        labels = [label.item() if hasattr(label, "item") else label for label in groups]
    given = np.fromiter(labels, dtype=object, count=len(labels))
    owner, distinct = label_numbers(given, n_features, "groups", "features"), list(dict.fromkeys(labels))
    return Features(names, distinct, owner, len(distinct))


def label_numbers(labels: ArrayLike, n: int, parameter: str, what: str) -> NDArray[np.intp]:
    """Return the number of each label, of which there must be one for each of n rows or features."""
    given = np.asarray(labels)
    if given.shape != (n,):
        raise ValueError(f"{parameter} takes a label for each of the {n} {what} of X; got the shape {given.shape}.")
    cells = given.tolist()
    missing = [type(cell).__name__ in ("NoneType", "NAType", "NaTType") or cell != cell for cell in cells]
    if n_missing := sum(missing):
        fault = f"{parameter} has no value for {n_missing} of the {n} {what} of X"
        raise ValueError(f"{fault}; give each of them a label.")
    number = {label: i for i, label in enumerate(dict.fromkeys(cells))}
    return np.array([number[label] for label in cells], dtype=np.intp)


def listed(names: Sequence[Any]) -> str:
    """Return names in words, at most five of them."""
    shown = [f"feature {name.item() if hasattr(name, 'item') else name!r}" for name in names[:MAX_LISTED]]
    return ", ".join(shown) + (f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else "")


def check_names(names: Iterable[Any]) -> None:
    """Raise ValueError if a name occurs more than once."""
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        remedy = "Rename them, or pass X as an array to go by position."
        raise ValueError(f"Feature names of X must differ, but X has {listed(repeated)} more than once. {remedy}")


def checked_table(X: Any, check: Callable[..., Any], **options: Any) -> Any:
    """Return a table of numbers as a check of scikit-learn returns it; raise an error that names the other features."""
    if hasattr(X, "columns"):
        check_names(X.columns)
        if not len(X.columns):
            raise ValueError("X has no features. Check how X was read.")
    # polars, and numpy where it is asked to, take dates for numbers.
    framed = hasattr(X, "columns") and hasattr(X, "dtypes")
    kinds = zip(X.columns, X.dtypes, strict=True) if framed else [(0, getattr(X, "dtype", ""))]
    if dated := [name for name, kind in kinds if str(kind).lower().startswith(("date", "time", "duration"))]:
        raise TypeError(_no_numbers(dated, "dates and times are no numbers"))
    try:
        given = np.ma.filled(X.astype(np.float64), np.nan) if isinstance(X, np.ma.MaskedArray) else X
        table = check(given, accept_sparse="csr", dtype="numeric", **options)
        # scikit-learn leaves categories as objects.
        return table.astype(np.float64) if table.dtype == object else table
    except (ValueError, TypeError) as error:
        if "NAType" in str(error) and hasattr(X, "map"):  # pandas.NA among objects, as which NaN is known
            return checked_table(X.map(lambda cell: np.nan if _is_na(cell) else cell), check, **options)
        raise _naming_text(X, error) from error


def _naming_text(X: Any, error: ValueError | TypeError) -> ValueError | TypeError:
    """Return an error that names the features of a table that do not convert to float, or the given one."""
    if not (reasons := _text_features(X)):
        return error
    # Those of numpy and scikit-learn may take a page, or print the table.
    why = min(next(iter(reasons.values())), str(error).partition("\n")[0], key=len)
    return (TypeError if isinstance(error, TypeError) else ValueError)(_no_numbers(list(reasons), why))


def _no_numbers(names: Sequence[Any], why: str) -> str:
    remedy = "Drop these features or encode them as numbers first."
    return f"{listed(names)} of X cannot be read as numbers ({why}). {remedy}"


def _text_features(X: Any) -> dict[Any, str]:
    """Return the names or positions of the features that do not convert to float, and why."""
    if getattr(X, "ndim", len(getattr(X, "shape", ()))) != 2 or not hasattr(X, "__array__"):
        return {}
    columns = {name: X[name] for name in X.columns} if hasattr(X, "columns") else dict(enumerate(np.asarray(X).T))
    reasons = {name: _why_text(np.array(cells, dtype=object)) for name, cells in columns.items()}
    return {name: why for name, why in reasons.items() if why}


def _why_text(cells: NDArray[Any]) -> str:
    try:
        # Missing cells of pandas are none of float, and yet can be read.
        infinite = np.isinf(cells[[not _is_na(cell) for cell in cells]].astype(np.float64)).any()
    except (ValueError, TypeError) as error:
        return str(error)
    return "it holds inf" if infinite else ""


def _is_na(cell: Any) -> bool:
    return type(cell).__name__ == "NAType"


def warn_of_ties(
    scores: NDArray[np.float64], picks: NDArray[np.intp], candidates: NDArray[np.intp], **where: Any
) -> None:
    """Warn if the scores do not tell which of the candidates to pick; ``where`` is passed on to ``warnings.warn``."""
    n_unscored = int((~np.isfinite(scores[picks])).sum())
    some = scores[candidates][np.isfinite(scores[candidates])]
    if n_unscored:
        text = f"The score of {n_unscored} of the {counted(len(picks), 'feature')} picked by score is not finite"
    elif 0 < len(picks) < len(some) and np.ptp(some) <= 1e-12 * np.abs(some).max():
        text = f"All {len(some)} features to choose from have the same score up to rounding"
    else:
        return
    remedy = "The method cannot tell them apart on this table; use another method."
    warn(f"{text}: which ones were selected tells nothing. {remedy}", TiedScoresWarning, **where)


def warn_of_unusable(why: str, named: str, **where: Any) -> None:
    """Warn of features that cannot be selected, with the reason; ``where`` is passed on to ``warnings.warn``."""
    text = f"Features {why} are never selected: {named}."
    warn(f"{text} Name them in must_keep to select them all the same.", UnusableFeaturesWarning, **where)
