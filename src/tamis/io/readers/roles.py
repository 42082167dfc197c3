"""What each column of a file is for: sample names, labels, a feature, or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from tamis.io.errors import TableError
from tamis.io.readers.report import ASSUMED, Finding
from tamis.io.readers.table import Request, match_names, nearest, numbered, places_of


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


def assign_roles(found: Sequence[str], request: Request, first_is_text: bool = False) -> Roles:
    """Return what each column is for, by the names that the file has, which may repeat or be empty.

    An unnamed first column is the index, as spreadsheets and data frames write it; so is a first column of text in a
    table that has its features in rows.
    """
    names, renamed = numbered(found)
    index, label = _one(request.index, found, names, "--index"), _one(request.labels, found, names, "--labels")
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
        features = places_of(originals_of(request.only, names), names)
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
    if name is None:
        return None
    for candidates in (found, names):
        if name in candidates:
            return candidates.index(name)
    raise TableError(f"{option} names {name!r}, which is not a feature of the file{nearest(name, names)}.")
