"""Columns of a file as they were read, and the table that they make."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tamis.io.errors import TableError
from tamis.io.readers.kinds import UNDECIDED, Feature, clock, encode, is_text, left_out, plain_feature, trimmed
from tamis.io.readers.layout import is_number
from tamis.io.readers.numbers import marks_of_features
from tamis.io.readers.report import ASSUMED, LEFT_OUT, NOTICED, Finding, ReadReport, listed, merged, shell_word
from tamis.io.readers.table import Request, Roles, Table, label_array, match_names
from tamis.io.request import MISSING
from tamis.io.sources.source import nameless

TELLING = ("--sheet", "--delimiter", "--header", "--no-header")
"""Options of which a wrong guess may leave no feature."""

LABEL_NAMES = ("target", "label", "labels", "class", "y", "outcome", "response")


class Frame(NamedTuple):
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
            if place in self.others and is_text(self.others[place].type):
                yield self.roles.names[place], pc.cast(self.others[place], pa.string())

    def side(self, place: int | None) -> Any:
        """Return the sample names or labels in a column; None if there is none."""
        return None if place is None else label_array(self.others[place].to_pylist())

    def marks_of_text(self, missing: Collection[str]) -> set[str]:
        """Return the decimal marks that the features of text show beyond doubt."""
        return marks_of_features(trimmed(cells, missing) for _, cells in self.text_columns())


def table_of(frame: Frame, request: Request) -> Table:
    """Make the table: every feature becomes numbers or is left out, and the report says what was assumed.

    The columns of a file that has features in rows are samples.
    """
    features, findings = _features(frame, request)
    if not features:
        reasons = "; ".join(found.told() for found in merged(findings) if found.kind == LEFT_OUT)
        told = [one for one in frame.findings if one.kind == NOTICED or one.option.startswith(TELLING)]
        hints = "".join(f"; {one.text}, {'else ' * (one.kind == ASSUMED)}pass {one.option}" for one in told)
        raise TableError(f"no feature is left to select from: {reasons}{hints}.")
    labels = [label for feature in features for label in feature.labels]
    groups = [feature.name for feature in features for _ in feature.labels]
    if alike := sorted({label for name, label in zip(groups, labels, strict=True) if name != label} & {*groups}):
        remedy = f"rename it, or leave it out with --drop {shell_word(alike[0])}"
        raise TableError(f"the feature {alike[0]!r} is named like a level of another one; {remedy}.")
    others = [feature for feature in features if feature.texts is not None]
    X, samples, y = _assembled(frame, features), *map(frame.side, (frame.roles.index, frame.roles.label))
    report, owners = ReadReport(findings=(*frame.findings, *findings)), np.array(groups, dtype=object)
    if request.transpose:
        return Table(np.ascontiguousarray(X.T), nameless(len(X)) if samples is None else samples, owners, report=report)
    return Table(
        X, np.array(labels, dtype=object), samples, y, *frame.roles.side_names,
        groups=None if groups == labels else owners,
        kinds={feature.name: feature.kind for feature in others},
        texts={feature.name: feature.texts or [] for feature in others},
        report=report,
    )  # fmt: skip


def _features(frame: Frame, request: Request) -> tuple[list[Feature], list[Finding]]:
    """Turn the columns that are features into numbers, in the order of the file."""
    names, roles = frame.roles.names, frame.roles
    keep = set(roles.features if request.only or request.transpose else match_names(request.keep, names, "--keep"))
    categorical = set(match_names(request.categorical, names, "--categorical"))
    encoded = [name for name in request.only if "=" in name]  # A saved selector knows the levels of a category.
    asked = request.asked_decimal
    shown = set() if asked else frame.decimals | frame.marks_of_text(request.missing_words)
    decimal = next(iter(shown)) if len(shown) == 1 else asked
    columns = dict(zip(frame.plain, frame.matrix.T, strict=True))
    found: list[Feature] = []
    findings: list[Finding] = []
    for place in roles.features:
        name = names[place]
        known = [wanted.removeprefix(f"{name}=") for wanted in encoded if wanted.startswith(f"{name}=")]
        levels = known if known or place in categorical else None
        if place in columns and levels is None:
            result = plain_feature(name, columns[place], place in keep)
        else:
            column = frame.others.get(place)
            if column is None:
                cells = [None if np.isnan(v) else np.format_float_positional(v, trim="-") for v in columns[place]]
                column = pa.array(cells, pa.string())
            result = encode(name, column, request, decimal, keep=place in keep, levels=levels)
        if isinstance(result, Feature):
            result = _unwanted(result, request) or (None if place in keep or request.only else clock(result)) or result
        if request.only and not request.transpose:
            _check_selected(name, result, request)
        found += [result] if isinstance(result, Feature) else []
        findings += [result] if isinstance(result, Finding) else result.findings
    _check_marks(findings)
    return found, [*findings, *label_like([feature.name for feature in found], request), *_markers(frame)]


def _check_selected(name: str, result: Feature | Finding, request: Request) -> None:
    """Refuse a feature that was selected and is not there, or not as numbers any more."""
    reason = result.text if isinstance(result, Finding) and result.kind == LEFT_OUT else ""
    if isinstance(result, Feature) and result.kind == "category" and name in request.only:
        word = next((text for text in result.texts or () if text and not is_number(text, ".")), "")
        reason = f"it held numbers when it was selected, and holds text such as {word!r} now"
    if reason:
        option = getattr(result, "option", "").replace("|", " or ") or "--na-values if the text marks missing cells"
        raise TableError(f"the selected feature {name!r} cannot be taken: {reason}; mend the file, or pass {option}.")


def _unwanted(feature: Feature, request: Request) -> Finding | None:
    if request.transpose and feature.kind != "number":
        return left_out(feature.name, "not numbers, as samples must be")
    return left_out(feature.name, "text, by --drop-text") if request.drop_text and feature.kind == "category" else None


def _check_marks(findings: Sequence[Finding]) -> None:
    """Ask for the decimal mark, by the first cell that could be read in two ways."""
    if undecided := [finding for finding in findings if finding.kind == UNDECIDED]:
        cell, names = undecided[0].text, [finding.features[0] for finding in undecided]
        mark, word = (",", "comma") if "," in cell else (".", "point")
        doubt = f"the {word} of {cell!r} in {listed(names)} may be a decimal or a thousands mark"
        options = f"--decimal '{mark}' or --thousands '{mark}', or leave it out with --drop {shell_word(names[0])}"
        raise TableError(f"{doubt}; pass {options}.")


def label_like(features: Sequence[str], request: Request) -> list[Finding]:
    """Return which features are named like labels, and might be such."""
    wanted = [] if request.only or request.transpose else features
    text = "is named like a label and is used as a feature; if it is a label"
    names = [name for name in wanted if name.lower() in LABEL_NAMES]
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
    kind = frame.matrix.dtype if frame.matrix.size else np.float64
    return np.concatenate([feature.values for feature in features], axis=1, dtype=kind)
