"""What a reader is asked for, what each column of a file is for, and what a reader returns."""

import fnmatch
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.io.errors import TableError
from tamis.io.readers.report import ASSUMED, LEFT_OUT, Finding, ReadReport, listed, shell_word
from tamis.io.request import Request as Request
from tamis.io.sources import TableSource
from tamis.io.sources.derived import Derived

Progress = Callable[[int, int], object]
"""Told how many of how many bytes were read."""


def unheard(done: int, total: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class Table:
    """A table of numbers.

    Attributes
    ----------
    X : ndarray, CSR matrix or TableSource of shape (n_samples, n_features)
        Finite numbers; NaN where a cell is missing.
    feature_names : ndarray of str
        A name per encoded feature, all different.
    sample_names : ndarray of str or None
        A name per row, if the file has them.
    y : ndarray or None
        A label per row; for scoring only.
    index_name, label_name : str
        What the file calls the last two.
    groups : ndarray of str or None
        The feature of the file that each encoded feature belongs to; a category is several 0/1 features. None if
        each is one of its own.
    kinds, texts : dict
        Of features that are not written as numbers (categories, booleans, dates): the kind, and the cells as the file
        has them.
    report : ReadReport
        What was read and what was assumed.
    """

    X: Any
    feature_names: NDArray[Any]
    sample_names: NDArray[Any] | None = None
    y: NDArray[Any] | None = None
    index_name: str = "sample"
    label_name: str = "label"
    groups: NDArray[Any] | None = None
    kinds: dict[str, str] = field(default_factory=dict, repr=False)
    texts: dict[str, list[Any]] = field(default_factory=dict, repr=False)
    report: ReadReport = field(default_factory=ReadReport, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and of encoded features."""
        n, d = self.X.shape
        return n, d

    @property
    def in_pieces(self) -> bool:
        """Whether the numbers stay on disk."""
        return isinstance(self.X, TableSource)

    @property
    def originals(self) -> NDArray[Any]:
        """The feature of the file that each encoded feature belongs to."""
        return self.feature_names if self.groups is None else self.groups

    @property
    def original_names(self) -> list[str]:
        """Names of the features of the file, in its order."""
        return self.names_of(slice(None))

    def names_of(self, places: Any) -> list[str]:
        """Return the features of the file that some encoded features belong to, each once."""
        return list(dict.fromkeys(self.originals[places].tolist()))

    def positions(self, names: Iterable[str], option: str) -> NDArray[np.intp]:
        """Return the encoded features of some feature names or patterns; ``option`` is named if one is not there."""
        wanted, known = tuple(names), set(self.originals)
        away = {name: found for found in self.report.findings if found.kind == LEFT_OUT for name in found.features}
        away |= {} if self.y is None else {self.label_name: Finding(LEFT_OUT, "it holds the labels")}
        away |= {} if self.sample_names is None else {self.index_name: Finding(LEFT_OUT, "it holds the sample names")}
        for name in [name for name in wanted if name in away and name not in known]:
            remedy = f"to use it, pass {away[name].option}" if away[name].option else "name another feature"
            raise TableError(f"{option} names {name!r}, which was left out ({away[name].text}); {remedy}.")
        return np.array(match_names(wanted, self.originals.tolist(), option), dtype=np.intp)

    def with_features(self, columns: NDArray[np.intp]) -> "Table":
        """Return the table of some encoded features; one that stays on disk stays there."""
        return replace(
            self,
            X=Derived(self.X, columns) if isinstance(self.X, TableSource) else self.X[:, columns],
            feature_names=self.feature_names[columns],
            groups=None if self.groups is None else self.groups[columns],
        )


def match_names(wanted: Iterable[str], names: Sequence[str], option: str) -> list[int]:
    """Return the distinct positions of names or patterns, in the order wanted; a name may stand for several.

    A name that is not there raises :class:`TableError`, which names the nearest one.
    """
    places: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        places.setdefault(name, []).append(position)
    found: dict[int, None] = {}
    for entry in wanted:
        if not (matches := [entry] if entry in places else fnmatch.filter(places, entry)):
            near = nearest(entry, list(places))
            raise TableError(f"{option} names {entry!r}, which is not a feature of the file{near}.")
        found.update(dict.fromkeys(i for name in matches for i in places[name]))
    return list(found)


def places_of(wanted: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return the positions of the names wanted; raise :class:`TableError` if some are not there."""
    known = {name: place for place, name in enumerate(names)}
    if missing := [name for name in wanted if name not in known]:
        fault = f"{len(missing)} of the {len(wanted)} selected features are not in the file"
        raise TableError(f"{fault}: {listed(missing)}{nearest(missing[0], names)}.")
    return [known[name] for name in wanted]


def nearest(entry: str, names: Sequence[str]) -> str:
    """Return ``; did you mean 'x'`` without the mark, or the first names if none is near."""
    close = get_close_matches(entry, names, n=1)
    return f"; did you mean {close[0]!r}" if close else f"; the features are {listed(names)}" if len(names) else ""


def numbered(names: Sequence[str]) -> tuple[list[str], tuple[Finding, ...]]:
    """Return names that all differ, and what is to be told of those that occurred more than once.

    The second ``a`` becomes ``a_2``; a nameless one is called by its position.
    """
    taken, found, repeated = set(names), dict[str, None](), dict[str, str]()
    for position, name in enumerate(names):
        candidate, number = name or f"feature_{position}", 2
        while candidate in found or (candidate != name and candidate in taken):
            candidate, number = f"{name or 'feature'}_{number}", number + 1
        found[candidate] = None
        if name and candidate != name:
            repeated.setdefault(name, candidate)
    if not (again := tuple(repeated)):
        return list(found), ()
    one, first = len(again) == 1, again[0]
    text = f"the name {first!r} occurs" if one else f"the names {listed(again)} occur"
    text += f" more than once and {'was' if one else 'were'} numbered ({first!r}, {repeated[first]!r})"
    return list(found), (Finding(ASSUMED, text, f"--drop {shell_word(first)}"),)


def label_array(cells: Iterable[Any]) -> NDArray[Any]:
    """Return labels as text, empty where one is missing."""
    return np.array(["" if cell is None else str(cell) for cell in cells], dtype=object)


@dataclass(frozen=True)
class Roles:
    """Distinct names of all columns, and the positions of index and labels (or None) and of the features."""

    names: list[str]
    index: int | None
    label: int | None
    features: list[int]
    findings: tuple[Finding, ...] = ()

    @property
    def sides(self) -> list[int]:
        """Positions of the columns that are read as text whatever they hold."""
        return [place for place in (self.index, self.label) if place is not None]

    @property
    def side_names(self) -> tuple[str, str]:
        """What the file calls the sample names and the labels."""
        index, label = self.index, self.label
        return "sample" if index is None else self.names[index], "label" if label is None else self.names[label]


def assign_roles(found: Sequence[str], request: Request, first_is_text: bool = False) -> Roles:
    """Return what each column is for, by the names that the file has, which may repeat or be empty.

    An unnamed first column is the index, as spreadsheets and data frames write it; so is a first column of text in a
    table that has its features in rows.
    """
    names, renamed = numbered(found)
    index, label = _one(request.index, found, names, "--index"), _one(request.labels, found, names, "--labels")
    if index is not None and index == label:
        raise TableError(f"--index and --labels both name {request.index!r}; leave one of them out.")
    # A name as the file writes it may stand for several features, and a numbered one for the second of them.
    dropped = {i for entry in request.drop for i in match_names([entry], found if entry in found else names, "--drop")}
    findings = [*renamed]
    first_names_rows = bool(found) and (not found[0].strip() or (request.transpose and first_is_text))
    if request.index is None and first_names_rows and not {0} & {label, *dropped}:
        index = 0
        if not request.transpose:
            findings.append(Finding(ASSUMED, "the first feature has no name and holds the sample names", "--index"))
    features = [i for i in range(len(names)) if i not in dropped and i not in (index, label)]
    if request.only and not request.transpose:
        features = places_of(originals_of(request.only, [*names, *request.only_of]), names)
    if not features:
        raise TableError("no feature is left to select from.")
    return Roles(names, index, label, features, tuple(findings))


def originals_of(wanted: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the features of the file that encoded features come from: ``colour=red`` comes from ``colour``."""
    known = set(names)
    found: dict[str, None] = {}
    for name in wanted:
        base = name
        while base not in known and "=" in base:
            base = base.rpartition("=")[0]
        found[base if base in known else name] = None
    return list(found)


def _one(name: str | None, found: Sequence[str], names: Sequence[str], option: str) -> int | None:
    return None if name is None else match_names([name], found if name in found else names, option)[0]
