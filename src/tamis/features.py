"""What users call features: names, positions and groups of them, and how messages name them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from numbers import Integral
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.reprs import counted

MAX_LISTED = 5


class UnusableFeaturesWarning(UserWarning):
    """Some features hold one value only, or hardly any value, and cannot be selected."""


class TiedScoresWarning(UserWarning):
    """Selected features have no finite score, or all have the same up to rounding: it does not tell them apart."""


@dataclass(frozen=True)
class Features:
    """The features of a table, or groups of them that are selected as a whole.

    Attributes
    ----------
    n_features : int
        Number of features.
    names : ndarray of str or None
        Their names.
    labels : list or None
        Labels of the groups; None if every feature is on its own.
    owner : ndarray of int
        The group of each feature; its own position without groups.
    n_items : int
        Number of groups, or of features without groups.
    """

    n_features: int
    names: NDArray[Any] | None
    labels: list[Any] | None
    owner: NDArray[np.intp]
    n_items: int

    def items(self, entry: Any, parameter: str) -> list[int]:
        """Return the groups, or the features without groups, that an entry of a parameter names.

        A text with ``*``, ``?`` or ``[`` that is no name is a glob.
        """
        labels, names = self.labels or [], () if self.names is None else self.names
        if entry in labels:
            return [labels.index(entry)]
        if isinstance(entry, str) and set(entry) & set("*?[") and entry not in names:
            matches = [item for item, label in enumerate(labels) if fnmatchcase(str(label), entry)]
            matches += [int(item) for item, name in zip(self.owner, names, strict=False) if fnmatchcase(name, entry)]
            if matches:
                return matches
        return [int(self.owner[self.position(entry, parameter)])]

    def position(self, entry: Any, parameter: str) -> int:
        """Return the position of the feature that an entry of a parameter names."""
        if isinstance(entry, Integral) and not isinstance(entry, bool | np.bool_):
            if 0 <= int(entry) < self.n_features:
                return int(entry)
            raise ValueError(
                f"{parameter} holds the position {entry}, but X has the features 0 to {self.n_features - 1}."
            )
        if not isinstance(entry, str):
            raise TypeError(
                f"{parameter} takes feature names or positions (int); got {entry!r} ({type(entry).__name__})."
            )
        if self.names is None:
            raise ValueError(f"{parameter} names {entry!r}, but X has no feature names. Pass a DataFrame or positions.")
        found = np.flatnonzero(self.names == entry)
        if not found.size:
            close = get_close_matches(entry, list(self.names), n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"{parameter} names {entry!r}, which is not a feature of X.{hint}")
        return int(found[0])

    def members(self, items: Iterable[int]) -> NDArray[np.intp]:
        """Return the features of some items, item by item."""
        if self.labels is None:
            return np.asarray(list(items), dtype=np.intp)
        by_item = np.argsort(self.owner, kind="stable")
        starts = np.searchsorted(self.owner[by_item], np.arange(self.n_items + 1))
        return np.concatenate([by_item[:0], *(by_item[starts[i] : starts[i + 1]] for i in items)])

    def listed(self, features: Iterable[int]) -> str:
        """Return features in words, such as ``feature 'age', feature 'size' and 7 more``."""
        return listed([feature if self.names is None else self.names[feature] for feature in features])


def read_groups(groups: Any, alone: Features) -> Features:
    """Return the features of a table in their groups.

    Parameters
    ----------
    groups : sequence of n_features labels, or mapping of label to features
        The group of each feature; features that a mapping does not name are groups of their own.
    alone : Features
        The same features without groups.
    """
    n_features, names = alone.n_features, alone.names
    if isinstance(groups, Mapping):
        labels: list[Any] = list(range(n_features)) if names is None else list(names)
        taken: set[int] = set()
        for label, members in groups.items():
            for member in members:
                position = alone.position(member, "groups")
                if position in taken:
                    raise ValueError(f"groups holds {alone.listed([position])} in more than one group.")
                taken.add(position)
                labels[position] = label
    else:
        labels = [label.item() if hasattr(label, "item") else label for label in groups]
    if len(labels) != n_features:
        sizes = f"{counted(len(labels), 'label')}, but X has {counted(n_features, 'feature')}"
        raise ValueError(f"groups has {sizes}. Pass a label for each.")
    distinct = list(dict.fromkeys(labels))
    number = {label: i for i, label in enumerate(distinct)}
    owner = np.array([number[label] for label in labels], dtype=np.intp)
    return Features(n_features, names, distinct, owner, len(distinct))


def owners(groups: ArrayLike, n_features: int) -> NDArray[np.intp]:
    """Return the number of the group of each feature for an array of labels."""
    labels = np.asarray(groups)
    if labels.shape != (n_features,):
        raise ValueError(f"groups takes a label for each of the {n_features} features of X; got {labels.size}.")
    return np.unique(labels, return_inverse=True)[1]


def listed(names: Sequence[Any]) -> str:
    """Return names in words, at most five of them."""
    shown = [f"feature {name.item() if hasattr(name, 'item') else name!r}" for name in names[:MAX_LISTED]]
    return ", ".join(shown) + (f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else "")


def check_names(names: Iterable[Any]) -> None:
    """Raise ValueError if a name occurs more than once."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(
            f"Feature names of X must differ, but X has {listed(repeated)} more than once. Rename them, or pass X as "
            "an array to go by position."
        )


def naming_text(X: Any, error: ValueError | TypeError) -> ValueError | TypeError:
    """Return an error that names the features of a table that do not convert to float, or the given one."""
    if not (reasons := _text_features(X)):
        return error
    # Those of numpy and scikit-learn may take a page, or print the table.
    why = min(next(iter(reasons.values())), str(error).partition("\n")[0], key=len)
    return (TypeError if isinstance(error, TypeError) else ValueError)(
        f"{listed(list(reasons))} of X cannot be read as numbers ({why}). Drop these features or encode them as "
        "numbers first."
    )


def _text_features(X: Any) -> dict[Any, str]:
    """Return the names or positions of the features that do not convert to float, and why."""
    if getattr(X, "ndim", len(getattr(X, "shape", ()))) != 2 or not hasattr(X, "__array__"):
        return {}
    names = list(getattr(X, "columns", range(X.shape[1])))
    reasons = {name: _why_text(cells) for name, cells in zip(names, np.asarray(X, dtype=object).T, strict=True)}
    return {name: why for name, why in reasons.items() if why}


def _why_text(cells: NDArray[Any]) -> str:
    try:
        # Missing cells of pandas are none of float, and yet can be read.
        cells[[type(cell).__name__ != "NAType" for cell in cells]].astype(np.float64)
    except (ValueError, TypeError) as error:
        return str(error)
    return ""


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
    warn(
        f"{text}: which ones were selected tells nothing. The method cannot tell them apart on this table; use another "
        "method.",
        TiedScoresWarning,
        **where,
    )


def warn_of_unusable(named: str, **where: Any) -> None:
    """Warn of features that cannot be selected, by their names; ``where`` is passed on to ``warnings.warn``."""
    warn(
        f"Features with one value only, or missing in most rows, are never selected: {named}. Name them in must_keep "
        "to select them all the same.",
        UnusableFeaturesWarning,
        **where,
    )
