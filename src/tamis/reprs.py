"""Numbers in words, and what notebooks show of selectors, structures and verdicts: escaped HTML."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_ROWS = 10
"""Rows of a table that are shown."""


def counted(count: int, one: str, several: str | None = None) -> str:
    """Return ``1 row`` or ``3 rows``."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]], n_rows: int) -> str:
    """Return a table with a title, which says how many of its rows are shown."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    cells = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    shown = f"; the first {MAX_ROWS}" if n_rows > MAX_ROWS else ""
    caption = f"<caption>{escape(title)}{shown}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_list(title: str, items: Iterable[str]) -> str:
    """Return a list with a title."""
    return f"<p><b>{escape(title)}</b></p><ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"


def html_selection(selector: Any) -> str:
    """Return the best features of a selector as a table; nothing if it is not fitted."""
    if not hasattr(selector, "selected_"):
        return ""
    best, n_selected = selector.selected_[:MAX_ROWS], len(selector.selected_)
    scores = (f"{score:.3g}" for score in selector.scores_[best])
    notes = ("no structure" if filler else "" for filler in selector.filler_[best])
    rows = zip(range(1, len(best) + 1), names_of(selector, best), scores, notes, strict=True)
    title = f"{n_selected} of {selector.n_features_in_} features selected"
    return html_table(title, ("rank", "feature", "score", ""), rows, n_selected)


def names_of(selector: Any, selected: NDArray[np.intp]) -> list[str]:
    """Return the names of some selected features, in the order given."""
    places = np.searchsorted(np.flatnonzero(selector.support_), selected)
    return [str(name) for name in selector.get_feature_names_out()[places]]
