"""Columns of a file as they were read, and the table that they make."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tamis.io.errors import TableError
from tamis.io.readers.kinds import MISSING, Feature, Rules, UndecidedMarksError, encode, plain_feature, trimmed
from tamis.io.readers.layout import asked_decimal
from tamis.io.readers.numbers import decimals_shown, read_numbers
from tamis.io.readers.report import ASSUMED, LEFT_OUT, NOTICED, Finding, ReadReport, kind_counts, listed, shell_word
from tamis.io.readers.roles import Roles
from tamis.io.readers.table import Request, Table, label_array, match_names, numbered

LABEL_NAMES = ("target", "label", "labels", "class", "y", "outcome", "response")


@dataclass(frozen=True)
class Frame:
    """Columns of a file, by their position in it."""

    roles: Roles
    matrix: NDArray[Any]  # the columns that hold plain numbers
    plain: list[int]  # which those are
    others: dict[int, Any]  # all other columns that have a role, as Arrow arrays of any type
    findings: tuple[Finding, ...] = ()
    decimals: frozenset[str] = frozenset()  # the decimal marks that the plain numbers show beyond doubt

    def text_columns(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and cells of the features that are text."""
        for place in self.roles.features:
            if place in self.others and self.others[place].type in (pa.string(), pa.large_string()):
                yield self.roles.names[place], self.others[place]


def table_of(frame: Frame, request: Request) -> Table:
    """Make the table: every feature becomes numbers or is left out, and the report says what was assumed."""
    rules = _rules(frame, request)
    if request.transpose:
        return _turned(frame, rules)
    features, findings = _features(frame, request, rules)
    if not features:
        reasons = "; ".join(f"{listed(found.features)}: {found.text}" for found in findings if found.kind == LEFT_OUT)
        raise TableError(f"no feature is left to select from ({reasons}).")
    labels = [label for feature in features for label in feature.labels]
    groups = [feature.name for feature in features for _ in feature.labels]
    kinds = kind_counts(feature.kind for feature in features)
    return Table(
        _assembled(frame, features),
        np.array(numbered(labels)[0], dtype=object),
        *_sides(frame),
        groups=None if groups == labels else np.array(groups, dtype=object),
        texts={feature.name: feature.texts for feature in features if feature.texts is not None},
        report=ReadReport(len(features[0].values), kinds, findings=(*frame.findings, *findings)),
    )


def _rules(frame: Frame, request: Request) -> Rules:
    """Return how cells are to be understood: as the user says, else as the whole file shows."""
    decimal = asked_decimal(request)
    asked = decimal is not None
    if not asked:
        shown = frame.decimals | decimals_of_text(frame, request)
        decimal = next(iter(shown)) if len(shown) == 1 else None
    return Rules(_missing(request), decimal, asked, request.thousands, request.day_first)


def _missing(request: Request) -> frozenset[str]:
    return frozenset((*MISSING, *request.na_values))


def decimals_of_text(frame: Frame, request: Request) -> set[str]:
    """Return the decimal marks that numbers in the columns of text show beyond doubt."""
    shown: set[str] = set()
    for _, cells in frame.text_columns():
        shown |= decimals_shown(trimmed(cells, _missing(request))) if len(shown) < 2 else set()
    return shown


def _features(frame: Frame, request: Request, rules: Rules) -> tuple[list[Feature], list[Finding]]:
    """Turn the columns that are features into numbers, in the order of the file."""
    names = frame.roles.names
    keep = set(match_names(request.keep, names, "--keep")) | set(frame.roles.features if request.only else ())
    categorical = set(match_names(request.categorical, names, "--categorical"))
    columns = dict(zip(frame.plain, frame.matrix.T, strict=True))
    found: list[Feature] = []
    findings: list[Finding] = []
    undecided: dict[str, str] = {}
    for place in frame.roles.features:
        name, kept = names[place], place in keep
        # A saved selector knows the levels of a category.
        levels = [wanted.removeprefix(f"{name}=") for wanted in request.only if wanted.startswith(f"{name}=")]
        coded = place in categorical or bool(levels)
        if place in columns and not coded:
            result = plain_feature(name, columns[place], kept)
        else:
            column = _as_text(columns[place]) if place in columns else frame.others[place]
            try:
                result = encode(name, column, rules, keep=kept, categorical=coded, levels=levels)
            except UndecidedMarksError as error:
                undecided[name] = str(error)
                continue
        if isinstance(result, Feature) and request.drop_text and result.kind == "category":
            result = Finding(LEFT_OUT, "text, by --drop-text", "", (name,))
        if isinstance(result, Feature):
            found.append(result)
        findings += [result] if isinstance(result, Finding) else result.findings
    if undecided:
        raise TableError(_question(undecided))
    return found, [*findings, *_label_like(found, request), *_markers(frame)]


def _as_text(values: NDArray[Any]) -> Any:
    return pa.array([None if np.isnan(value) else f"{value:g}" for value in values], pa.string())


def _question(undecided: dict[str, str]) -> str:
    """Ask for the decimal mark, by the first cell that could be read in two ways."""
    name, cell = next(iter(undecided.items()))
    mark, word = (",", "comma") if "," in cell else (".", "point")
    return (
        f"the {word} of {cell!r} in {listed(undecided)} may be a decimal or a thousands mark; pass "
        f"--decimal '{mark}' or --thousands '{mark}', or leave it out with --drop {shell_word(name)}."
    )


def _label_like(features: Sequence[Feature], request: Request) -> list[Finding]:
    names = [] if request.only else [feature.name for feature in features if feature.name.lower() in LABEL_NAMES]
    text = "is named like a label and is used as a feature; if it is a label"
    return [Finding(NOTICED, f"{name!r} {text}", f"--labels {shell_word(name)}") for name in names]


def _markers(frame: Frame) -> list[Finding]:
    """Return which words in text were taken for missing values: they might be meant."""
    words = pa.array([word for word in MISSING if word])
    found: dict[str, list[str]] = {}
    for name, column in frame.text_columns():
        cells = pc.utf8_trim_whitespace(column)
        for word in pc.unique(cells.filter(pc.is_in(cells, value_set=words))).to_pylist():
            found.setdefault(word, []).append(name)
    return [Finding(ASSUMED, f"{word!r} was read as missing", "", tuple(names)) for word, names in found.items()]


def _assembled(frame: Frame, features: Sequence[Feature]) -> NDArray[Any]:
    """Lay the features side by side; a table of plain numbers is not copied."""
    if [feature.labels for feature in features] == [(frame.roles.names[place],) for place in frame.plain]:
        return frame.matrix
    kind = frame.matrix.dtype if frame.matrix.size else np.dtype(np.float64)
    return np.concatenate([feature.values for feature in features], axis=1, dtype=kind)


def _sides(frame: Frame) -> tuple[Any, Any, str, str]:
    """Return sample names, labels, and what the file calls them."""
    places = (frame.roles.index, frame.roles.label)
    rows, y = (None if place is None else label_array(frame.others[place].to_pylist()) for place in places)
    called = ("sample" if places[0] is None else frame.roles.names[places[0]],)
    return rows, y, *called, "label" if places[1] is None else frame.roles.names[places[1]]


def _turned(frame: Frame, rules: Rules) -> Table:
    """Make the table of a file that has features in rows: its columns are samples, all of numbers."""
    columns: dict[int, NDArray[Any]] = dict(zip(frame.plain, frame.matrix.T, strict=True))
    findings = list(frame.findings)
    for place in [place for place in frame.roles.features if place in frame.others]:
        name = frame.roles.names[place]
        cells = trimmed(frame.others[place], rules.missing)
        numbers = read_numbers(cells, rules.decimal, rules.thousands, rules.asked)
        if numbers.undecided:
            raise TableError(_question({name: numbers.undecided}))
        if numbers.values is None:
            findings.append(Finding(LEFT_OUT, "not numbers, as samples must be", "", (name,)))
        else:
            columns[place] = numbers.values
    if not columns:
        raise TableError("no feature is left to select from.")
    order = sorted(columns)
    X = np.array([columns[place] for place in order])
    found = _sides(frame)[0]
    names, renamed = numbered([""] * X.shape[1] if found is None else found.tolist())
    findings += renamed
    report = ReadReport(len(order), {"number": len(names)}, findings=tuple(findings))
    samples = np.array([frame.roles.names[place] for place in order], dtype=object)
    return Table(X, np.array(names, dtype=object), samples, report=report)
