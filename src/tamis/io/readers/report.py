"""What was noticed while a file was read: assumptions, features left out and why, and what the owner should check."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tamis.reprs import counted

ASSUMED, LEFT_OUT, NOTICED = "assumed", "left out", "noticed"
KINDS = {"number": "numbers", "category": "categories", "boolean": "booleans", "date": "dates", "duration": "durations"}
"""Kinds of features, with their plurals."""

MAX_SHOWN = 5
"""So many names are written out in a phrase."""


class Finding(NamedTuple):
    """One thing that was noticed.

    The text begins with a small letter and ends without a full stop; for features left out, it is the reason.
    """

    kind: str  # ASSUMED, LEFT_OUT, or NOTICED if the owner should check
    text: str
    option: str = ""  # of the command line, as it is typed, that changes it
    features: tuple[str, ...] = ()
    topic: str = ""  # findings of one kind and topic are told together; by default the text decides

    def told(self) -> str:
        """Return what is told of the features, and the option that changes it."""
        names, option = listed(self.features), self.option
        if self.kind == LEFT_OUT:
            more = f"; to use {'it' if len(self.features) == 1 else 'them'}: {option}" if option else ""
            return f"{names} ({self.text}{more})"
        text = f"{self.text} in {names}" if names else self.text
        return f"{text} (else {option})" if option else text


@dataclass(frozen=True)
class ReadReport:
    """What was read: rows, features by kind, missing cells and what was done about them, and all findings."""

    n_rows: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    missing_cells: int = 0
    missing_features: tuple[str, ...] = ()
    filled: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def n_features(self) -> int:
        """Number of features that are used."""
        return sum(self.kinds.values())

    def with_findings(self, *more: Finding) -> "ReadReport":
        """Return the report with further findings."""
        return replace(self, findings=(*self.findings, *more))

    def lines(self) -> list[str]:
        """Return the summary: what was read, what was left out, what was assumed; then what should be checked."""
        found, findings = [f"Read: {self.headline()}."], merged(self.findings)
        for kind in (LEFT_OUT, ASSUMED):
            if phrases := [finding.told() for finding in findings if finding.kind == kind]:
                found.append(f"{kind.capitalize()}: {'; '.join(phrases)}.")
        return found + [f"Note: {one.text}, pass {one.option}." for one in findings if one.kind == NOTICED]

    def headline(self) -> str:
        """Return rows, features by kind and missing cells in one phrase."""
        parts = [counted(count, kind, KINDS[kind]) for kind, count in self.kinds.items() if count]
        text = f"{counted(self.n_rows, 'row')}, {counted(self.n_features, 'feature')} ({', '.join(parts) or 'none'})"
        if not self.missing_cells:
            return text + ", no cell missing"
        share = 100 * self.missing_cells / max(1, self.n_rows * self.n_features)
        where = f" in {listed(self.missing_features)}" if self.missing_features else ""
        filled = f", {self.filled}" if self.filled else ""
        return f"{text}; {counted(self.missing_cells, 'cell')} missing ({share:.2g}%){where}{filled}"

    def document(self) -> dict[str, Any]:
        """Return everything for JSON."""
        kinds = {KINDS[kind]: count for kind, count in self.kinds.items()}
        missing = {"cells": self.missing_cells, "features": list(self.missing_features), "filled": self.filled}
        told = ("kind", "text", "option", "features")
        findings = [{name: getattr(found, name) for name in told} for found in self.findings]
        counts = {"rows": self.n_rows, "features": self.n_features, "kinds": kinds}
        return {**counts, "missing": missing, "findings": findings}


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Join findings that say the same of different features."""
    found: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        key = (finding.kind, finding.topic or finding.text)
        first = found.setdefault(key, finding)
        if first is not finding:
            joined = tuple(dict.fromkeys((*first.features, *finding.features)))
            found[key] = first._replace(features=joined, option=_joined_option(first, finding))
    return list(found.values())


def _joined_option(first: Finding, second: Finding) -> str:
    """Join ``--keep a`` and ``--keep b`` to ``--keep a,b``; of many, the first says how."""
    name, _, names = first.option.partition(" ")
    other, _, more = second.option.partition(" ")
    if name != other or not names or more in names.split(",") or len(names.split(",")) >= MAX_SHOWN:
        return first.option
    return f"{name} {names},{more}"


def listed(features: Iterable[object]) -> str:
    """Write ``'a', 'b' and 3 more``."""
    names = list(features)
    shown = ", ".join(repr(str(name)) for name in names[:MAX_SHOWN])
    return shown + (f" and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else "")


def shell_word(*names: str) -> str:
    """Write names so that a shell reads them as one word, and the command line as a list of them."""
    if all(name.replace("_", "").replace("-", "").replace(".", "").isalnum() and name[0] != "-" for name in names):
        return ",".join(names)
    quoted = ('"' + name.replace('"', '""') + '"' if {*name} & {*',"\n\r'} else name for name in names)
    return "'" + ",".join(quoted).replace("'", "'\\''") + "'"
