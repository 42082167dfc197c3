"""Columns of a file as they were read, and the table that they make."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tamis.io.errors import TableError
from tamis.io.readers.kinds import MISSING, Feature, Rules, UndecidedMarksError, encode, looks_like_id, trimmed
from tamis.io.readers.layout import asked_decimal
from tamis.io.readers.numbers import decimals_shown, read_numbers
from tamis.io.readers.report import ASSUMED, LEFT_OUT, NOTICED, Finding, ReadReport, kind_counts, listed, shell_word
from tamis.io.readers.roles import Roles
from tamis.io.readers.table import Request, Table, label_array, match_names, numbered

LABEL_NAMES = ("target", "label", "labels", "class", "y", "outcome", "response")


@dataclass(frozen=True)
class Frame:
    """Columns of a file, by their position in it.

    Attributes
    ----------
    roles : Roles
        Names of all columns of the file, and what they are for.
    matrix : ndarray of shape (n, p)
        The columns that hold plain numbers.
    plain : list of int
        Which those are.
    others : dict of int to pyarrow array
        All other columns that have a role, of any type.
    findings : tuple of Finding
        What the reader assumed.
    decimals : frozenset of str
        The decimal marks that the plain numbers show beyond doubt.
    """

    roles: Roles
    matrix: NDArray[Any]
    plain: list[int]
    others: dict[int, Any]
    findings: tuple[Finding, ...] = ()
    decimals: frozenset[str] = field(default_factory=frozenset)


def table_of(frame: Frame, request: Request) -> Table:
    """Make the table: every feature becomes numbers or is left out, and the report says what was assumed."""
    rules = rules_of(frame, request)
    if request.transpose:
        return _turned(frame, rules)
    features, findings = _features(frame, request, rules)
    if not features:
        reasons = "; ".join(f"{listed(found.features)}: {found.text}" for found in findings if found.kind == LEFT_OUT)
        raise TableError(f"no feature is left to select from ({reasons}).")
    X = _assembled(frame, features)
    groups = np.array([feature.name for feature in features for _ in feature.labels], dtype=object)
    names = numbered([label for feature in features for label in feature.labels])[0]
    whole = all(len(feature.labels) == 1 and feature.labels[0] == feature.name for feature in features)
    report = ReadReport(
        len(X), kind_counts(feature.kind for feature in features), findings=(*frame.findings, *findings)
    )
    return Table(
        X,
        np.array(names, dtype=object),
        *_sides(frame),
        groups=None if whole else groups,
        texts={feature.name: feature.texts for feature in features if feature.texts is not None},
        report=report,
    )


def rules_of(frame: Frame, request: Request) -> Rules:
    """Say how cells are to be understood: as the user says, else as the whole file shows."""
    missing = frozenset(MISSING) | frozenset(request.na_values)
    asked = asked_decimal(request)
    if asked:
        return Rules(missing, asked, True, request.thousands, request.day_first)
    shown = frame.decimals | decimals_of_text(frame, request)
    decimal = next(iter(shown)) if len(shown) == 1 else None
    return Rules(missing, decimal, False, request.thousands, request.day_first)


def decimals_of_text(frame: Frame, request: Request) -> set[str]:
    """Return the decimal marks that numbers in the columns of text show beyond doubt."""
    missing = frozenset(MISSING) | frozenset(request.na_values)
    shown: set[str] = set()
    for place in frame.roles.features:
        if len(shown) < 2 and place in frame.others and _is_text(frame.others[place]):
            shown |= decimals_shown(trimmed(frame.others[place], missing))
    return shown


def _is_text(column: Any) -> bool:
    return pa.types.is_string(column.type) or pa.types.is_large_string(column.type)


def _features(frame: Frame, request: Request, rules: Rules) -> tuple[list[Feature], list[Finding]]:
    """Turn the columns that are features into numbers, in the order of the file."""
    names = frame.roles.names
    keep = set(match_names(request.keep, names, "--keep")) | (set(frame.roles.features) if request.only else set())
    categorical = set(match_names(request.categorical, names, "--categorical"))
    columns = {place: column for column, place in enumerate(frame.plain)}
    found: list[Feature] = []
    findings: list[Finding] = []
    undecided: dict[str, str] = {}
    for place in frame.roles.features:
        levels = _levels_wanted(request.only, names[place]) if request.only else []
        if place in columns and place not in categorical and not levels:
            result = _plain(names[place], frame.matrix[:, columns[place]], place in keep)
        else:
            column = _texts_of(frame.matrix[:, columns[place]]) if place in columns else frame.others[place]
            try:
                coded = place in categorical or bool(levels)
                result = encode(names[place], column, rules, keep=place in keep, categorical=coded, levels=levels)
            except UndecidedMarksError as error:
                undecided[names[place]] = str(error)
                continue
        if isinstance(result, Feature) and request.drop_text and result.kind == "category":
            result = Finding(LEFT_OUT, "text, by --drop-text", "", (names[place],))
        findings += [result] if isinstance(result, Finding) else result.findings
        found += [result] if isinstance(result, Feature) else []
    if undecided:
        raise TableError(_question(undecided))
    return found, [*findings, *_label_like(found, request), *_markers(frame)]


def _levels_wanted(only: Sequence[str], name: str) -> list[str]:
    """Return the levels of a category that a saved selector knows."""
    start = f"{name}="
    return [wanted.removeprefix(start) for wanted in only if wanted.startswith(start)]


def _plain(name: str, values: NDArray[Any], keep: bool) -> Feature | Finding:
    if not keep and looks_like_id(name, 2, 2):  # By its name; only then are the values counted.
        present = values[~np.isnan(values)]
        if (present % 1 == 0).all() and looks_like_id(name, len(np.unique(present)), len(present)):
            return Finding(
                LEFT_OUT,
                "numbers that differ in every row, as identifiers do",
                f"--keep {shell_word(name)}",
                (name,),
            )
    return Feature(name, "number", values[:, None], (name,))


def _texts_of(values: NDArray[Any]) -> Any:
    return pa.array([None if np.isnan(value) else f"{value:g}" for value in values], pa.string())


def _question(undecided: dict[str, str]) -> str:
    """Ask for the decimal mark, by the first cell that could be read in two ways."""
    name, cell = next(iter(undecided.items()))
    mark = "," if "," in cell else "."
    where = f"in {listed(undecided)}" if len(undecided) > 1 else f"in {name!r}"
    return (
        f"the {'comma' if mark == ',' else 'point'} of {cell!r} {where} may be a decimal or a thousands mark; pass "
        f"--decimal '{mark}' or --thousands '{mark}', or leave it out with --drop {shell_word(name)}."
    )


def _label_like(features: Sequence[Feature], request: Request) -> list[Finding]:
    if request.only:
        return []
    return [
        Finding(
            NOTICED,
            f"{feature.name!r} is named like a label and is used as a feature; if it is a label",
            f"--labels {shell_word(feature.name)}",
        )
        for feature in features
        if feature.name.lower() in LABEL_NAMES and feature.name != request.labels
    ]


def _markers(frame: Frame) -> list[Finding]:
    """Say which words in text were taken for missing values: they might be meant."""
    words = pa.array([word for word in MISSING if word])
    found: dict[str, list[str]] = {}
    for place in frame.roles.features:
        if place in frame.others and _is_text(frame.others[place]):
            cells = pc.utf8_trim_whitespace(frame.others[place])
            for word in pc.unique(cells.filter(pc.is_in(cells, value_set=words))).to_pylist():
                found.setdefault(word, []).append(frame.roles.names[place])
    return [Finding(ASSUMED, f"{word!r} was read as missing", "", tuple(names)) for word, names in found.items()]


def _assembled(frame: Frame, features: Sequence[Feature]) -> NDArray[Any]:
    """Lay the features side by side; a table of plain numbers is not copied."""
    plain = [frame.roles.names[place] for place in frame.plain]
    if [feature.name for feature in features] == plain and all(f.values.shape[1] == 1 for f in features):
        return frame.matrix
    width = sum(feature.values.shape[1] for feature in features)
    kind = frame.matrix.dtype if frame.matrix.size else np.dtype(np.float64)
    X = np.empty((len(features[0].values), width), dtype=kind)
    start = 0
    for feature in features:
        stop = start + feature.values.shape[1]
        X[:, start:stop] = feature.values
        start = stop
    return X


def _sides(frame: Frame) -> tuple[Any, Any, str, str]:
    """Return sample names, labels, and what the file calls them."""
    roles = frame.roles
    rows = None if roles.index is None else label_array(_cells(frame.others[roles.index]))
    y = None if roles.label is None else label_array(_cells(frame.others[roles.label]))
    return (
        rows,
        y,
        "sample" if roles.index is None else roles.names[roles.index],
        "label" if roles.label is None else roles.names[roles.label],
    )


def _cells(column: Any) -> Iterable[Any]:
    return column.to_pylist()


def _turned(frame: Frame, rules: Rules) -> Table:
    """Make the table of a file that has features in rows: its columns are samples, all of numbers."""
    matrix, plain, findings = [frame.matrix], list(frame.plain), list(frame.findings)
    for place in [place for place in frame.roles.features if place in frame.others]:
        column = frame.others[place]
        numbers = read_numbers(trimmed(column, rules.missing), rules.decimal, rules.thousands, rules.asked)
        if numbers.undecided:
            raise TableError(_question({frame.roles.names[place]: numbers.undecided}))
        if numbers.values is None:
            findings.append(Finding(LEFT_OUT, "not numbers, as samples must be", "", (frame.roles.names[place],)))
        else:
            matrix.append(numbers.values[:, None])
            plain.append(place)
    order = np.argsort(plain)
    X = np.concatenate(matrix, axis=1)[:, order] if len(matrix) > 1 else frame.matrix
    samples = np.array([frame.roles.names[plain[i]] for i in order], dtype=object)
    if not len(samples):
        raise TableError("no feature is left to select from.")
    found = _sides(frame)[0]
    names, repeated = numbered([f"feature_{i}" for i in range(len(X))] if found is None else found.tolist())
    if repeated:
        findings.append(Finding(ASSUMED, "names that occur more than once were numbered", "", tuple(repeated)))
    report = ReadReport(len(samples), {"number": len(names)}, findings=tuple(findings))
    return Table(np.ascontiguousarray(X.T), np.array(names, dtype=object), samples, report=report)
