"""Categories are chosen or left as wholes: k counts features of the file, not the 0/1 features that they become."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.cli.options import UsageError

if TYPE_CHECKING:
    from tamis.io.readers import Table


def encoded_count(table: "Table", k: int, kept: Any) -> int:
    """Return how many encoded features a selector is asked for, so that k features of the file come out.

    The ranking decides the choice in the end; a kept category needs room for all that it becomes.
    """
    if table.groups is None:
        return k
    return k - len(set(table.groups[kept])) + len(kept)


def choose_whole_features(selector: Any, table: "Table", k: int) -> Any:
    """Extend a fitted selector's choice to all 0/1 features of the first k features in its ranking."""
    if table.groups is None:
        return selector
    banned = set(table.groups[np.asarray(selector.never, dtype=np.intp)])
    ranked = np.argsort(selector.ranking_, kind="stable")
    usable = np.isfinite(selector.scores_) | selector.support_
    order = [name for name in dict.fromkeys(table.groups[ranked[usable[ranked]]]) if name not in banned]
    if len(order) < k:
        raise UsageError(f"-k {k} asks for more than the {len(order)} features that can be selected.")
    members: dict[str, list[int]] = {}
    for place in ranked:
        members.setdefault(table.groups[place], []).append(int(place))
    chosen = [place for name in order[:k] for place in members[name]]
    whole = np.array(list(dict.fromkeys([*chosen, *ranked.tolist()])), dtype=np.intp)
    selector.ranking_ = np.empty(len(whole), dtype=np.intp)
    selector.ranking_[whole] = np.arange(1, len(whole) + 1)
    selector.selected_ = whole[: len(chosen)]
    selector.support_ = selector.ranking_ <= len(chosen)
    return selector


def original_names(table: "Table", places: Any) -> list[str]:
    """Return the features of the file that some encoded features belong to, each once."""
    groups = table.feature_names if table.groups is None else table.groups
    return list(dict.fromkeys(str(groups[place]) for place in places))


def original_scores(selector: Any, table: "Table") -> dict[str, float]:
    """Return the score of every feature of the file: the largest of what it becomes."""
    groups = table.feature_names if table.groups is None else table.groups
    found: dict[str, float] = {}
    for name, score in zip(groups.tolist(), np.asarray(selector.scores_).tolist(), strict=True):
        found[name] = max(score, found.get(name, -np.inf))
    return found
