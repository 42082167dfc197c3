"""What a reader is asked for, what it gives, and how columns get their roles."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.sources import TableError, TableSource
from tamis.sources.memory import MAX_EXPANSION

Progress = Callable[[int, int], object]
"""Told how many of how many bytes were read."""

SHOWN = 5
"""So many names are written out in a message."""


def unheard(done: int, total: int) -> None:
    """Tell nobody."""


class ReadError(TableError):
    """A file cannot be read as a table of numbers; the message is one sentence for its owner."""


@dataclass(frozen=True)
class Request:
    """How to read a file; the names are those of the command line's options.

    Attributes
    ----------
    index, labels : str or None
        Column (or array in the file) with the samples' names, and with labels that serve scoring only.
    drop : tuple of str
        Columns to leave out; ``*`` and ``?`` stand for any letters.
    drop_text : bool
        Whether columns that are not numbers are left out.
    key : str or None
        Which array of a file with several.
    delimiter : str or None
        Of a text file; None finds it.
    transpose : bool
        Whether the file has features in rows.
    max_expansion : float
        How many times the stored bytes a file may declare or unpack; more than that is refused before it is read.
    log1p, scale : bool
        Whether counts are replaced by ``log(1 + x)``, after every sample was brought to the median total if
        ``scale`` is set.
    only : tuple of str
        If given, the features to read; the rest of the file may hold anything.
    in_pieces : bool or None
        Whether the table stays on disk; None decides by the free memory.
    """

    index: str | None = None
    labels: str | None = None
    drop: tuple[str, ...] = ()
    drop_text: bool = False
    key: str | None = None
    delimiter: str | None = None
    transpose: bool = False
    max_expansion: float = MAX_EXPANSION
    log1p: bool = False
    scale: bool = False
    only: tuple[str, ...] = ()
    in_pieces: bool | None = None


@dataclass(frozen=True)
class Table:
    """A table of numbers.

    Attributes
    ----------
    X : ndarray, CSR matrix or TableSource of shape (n_samples, n_features)
        Finite numbers.
    feature_names : ndarray of str
        A name per column, all different.
    sample_names : ndarray of str or None
        A name per row, if the file has them.
    y : ndarray or None
        A label per row; for scoring only.
    index_name, label_name : str
        What the file calls the last two.
    """

    X: Any
    feature_names: NDArray[Any]
    sample_names: NDArray[Any] | None = None
    y: NDArray[Any] | None = None
    index_name: str = "sample"
    label_name: str = "label"

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and of features."""
        return self.X.shape

    @property
    def in_pieces(self) -> bool:
        """Whether the numbers stay on disk."""
        return isinstance(self.X, TableSource)

    def positions(self, names: Iterable[str], option: str) -> NDArray[np.intp]:
        """Give the columns of some feature names or patterns; ``option`` is named if one is unknown."""
        return np.array(match_names(names, self.feature_names.tolist(), option), dtype=np.intp)


def match_names(wanted: Iterable[str], names: Sequence[str], option: str) -> list[int]:
    """Give the distinct positions of names or patterns, in the order wanted; raise :class:`ReadError` on a stranger."""
    places = {name: position for position, name in enumerate(names)}
    found: dict[int, None] = {}
    for entry in wanted:
        if entry in places:
            found[places[entry]] = None
            continue
        hits = [i for i, name in enumerate(names) if fnmatchcase(name, entry)] if set(entry) & set("*?[") else []
        if not hits:
            raise ReadError(f"{option} names {entry!r}, which is not a column of the file{nearest(entry, names)}.")
        found.update(dict.fromkeys(hits))
    return list(found)


def required(wanted: Sequence[str], names: Sequence[str]) -> Sequence[str]:
    """Give the names wanted; raise :class:`ReadError` if some are not there."""
    known = set(names)
    missing = [name for name in wanted if name not in known]
    if missing:
        raise ReadError(
            f"{len(missing)} of the {len(wanted)} selected features are not in the file: {listed(missing)}"
            f"{nearest(missing[0], names)}."
        )
    return wanted


def nearest(entry: str, names: Sequence[str]) -> str:
    """Give ``; did you mean 'x'?`` without the mark, or the first names if none is near."""
    close = get_close_matches(entry, names, n=1)
    return f"; did you mean {close[0]!r}" if close else f"; the columns are {listed(names)}" if len(names) else ""


def listed(names: Iterable[Any], limit: int = SHOWN) -> str:
    """Write ``'a', 'b' and 3 more``."""
    names = list(names)
    shown = ", ".join(repr(str(name)) for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")


def check_distinct(names: Sequence[str]) -> None:
    """Raise :class:`ReadError` if a name occurs twice."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        what = f"the name {repeated[0]!r} occurs" if len(repeated) == 1 else f"the names {listed(repeated)} occur"
        raise ReadError(f"{what} more than once; features must differ in name, so rename or --drop them.")


@dataclass(frozen=True)
class Roles:
    """Positions of the index and label columns (or None) and of the features, in a file of named columns."""

    index: int | None
    label: int | None
    features: list[int]


def assign_roles(names: list[str], text: Iterable[int], request: Request) -> Roles:
    """Say what each column is for.

    An unnamed first column is the index, as spreadsheets and data frames write it. Text columns that have no role
    raise :class:`ReadError`, which names the options that give them one.
    """
    text = set(text)
    index = _one(request.index, names, "--index")
    label = _one(request.labels, names, "--labels")
    if index is None and names and (not names[0].strip() or (request.transpose and 0 in text)) and label != 0:
        index = 0
    dropped = set(match_names(request.drop, names, "--drop"))
    features = [i for i in range(len(names)) if i not in dropped and i not in (index, label)]
    if request.only and not request.transpose:
        features = [names.index(name) for name in required(request.only, names)]
    wordy = [i for i in features if i in text]
    if wordy and not request.drop_text:
        raise ReadError(_text_message([names[i] for i in wordy], all_text=len(wordy) == len(features)))
    features = [i for i in features if i not in text]
    if not features:
        raise ReadError("no column is left to select from.")
    check_distinct([names[i] for i in features])
    return Roles(index, label, features)


def _one(name: str | None, names: Sequence[str], option: str) -> int | None:
    if name is None:
        return None
    positions = [i for i, other in enumerate(names) if other == name]
    if not positions:
        raise ReadError(f"{option} names {name!r}, which is not a column of the file{nearest(name, names)}.")
    return positions[0]


def _text_message(names: list[str], all_text: bool) -> str:
    if all_text:
        return f"no column holds numbers ({listed(names)} hold text)."
    if len(names) == 1:
        what, them, option = f"the column {names[0]!r} holds", "it", f"--drop {_shell(names[0])}"
    else:
        what, them, option = f"the columns {listed(names)} hold", "them", "--drop-text"
    return f"{what} text, not numbers; leave {them} out with {option}, or say what it is with --index or --labels."


def _shell(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() else "'" + name.replace("'", "'\\''") + "'"
