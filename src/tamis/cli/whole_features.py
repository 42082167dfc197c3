"""Categories are chosen or left as wholes: names and scores of features of the file, not of what they become."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tamis.io.readers import Table


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
