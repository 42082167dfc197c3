"""Cells without a value: markers among numbers, what sits far outside, and how gaps are filled."""

import re
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from tamis.io.errors import TableError
from tamis.io.readers.report import ASSUMED, LEFT_OUT, NOTICED, Finding, listed, shell_word
from tamis.io.readers.table import Request, Table
from tamis.reprs import counted

WAYS = ("keep", "median", "drop-rows", "error")
"""What ``--missing`` takes."""

SENTINELS = [float(f"{sign}{digit * size}") for digit in "789" for size in range(2, 8) for sign in ("", "-")]
SENTINELS += [-1e3, -9.0, -8.0, -7.0, 1e30, -1e30, 1e20, -1e20, -2147483648.0, 65535.0, 2147483647.0]
"""Numbers by which machines and people mark missing cells: 99, −88, −999, 9999, ..."""

MAX_MISSING = 0.5
"""A feature that is missing in more than this share of the rows is left out."""

NUMBER = re.compile(r"^\s*[+-]?(?:inf(?:inity)?|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*$", re.IGNORECASE)
Counts = NDArray[np.intp]


def mark_missing(table: Table, request: Request) -> Table:
    """Turn the numbers that the user names into missing cells where the file has numbers; refuse infinite ones."""
    numbers = [float(text) for text in request.na_values if NUMBER.match(text)]
    X = table.X
    values = X.data if issparse(X) else X
    if issparse(X) and 0.0 in numbers:
        raise TableError("--na-values 0 cannot be had: a sparse table does not tell its zeros from missing cells.")
    # Codes of categories, booleans and dates are no cells of the file, in which those named are missing already.
    as_written = [name not in table.kinds for name in table.originals] if table.kinds else True
    if numbers and (hit := np.isin(values, numbers) & as_written).any():
        values = np.where(hit, np.nan, values)
        X = csr_array((values, X.indices, X.indptr), shape=X.shape) if issparse(X) else values
    infinite = _counts(X, np.isinf)
    if total := int(infinite.sum()):
        names = table.feature_names[infinite > 0]
        fault = f"{counted(total, 'cell')} of {listed(names)} {'is' if total == 1 else 'are'} infinite"
        drop = f"leave features out with --drop {shell_word(str(names[0]))}"
        raise TableError(f"{fault}; pass --na-values inf,-inf to treat them as missing, or {drop}.")
    return replace(table, X=X)


def _counts(X: Any, test: Callable[[Any], Any]) -> Counts:
    """Count, for every encoded feature, the cells that pass a test which zeros do not pass."""
    if issparse(X):
        return np.bincount(X.tocoo().col[test(X.data)], minlength=X.shape[1])
    found, rows = np.zeros(X.shape[1], dtype=np.intp), max(1, 2**22 // max(1, X.shape[1]))
    for start in range(0, len(X), rows):
        found += test(X[start : start + rows]).sum(axis=0)
    return found


def report_gaps(table: Table, request: Request) -> Table:
    """Leave out features that are mostly missing, and report how many cells are missing and what may stand for it."""
    table = table if request.only else _without_empty_rows(table)
    gaps, n = _counts(table.X, np.isnan), table.shape[0]
    if (gaps == n).all():
        raise TableError("no cell holds a value.")
    kept = np.array([any(name == e or fnmatchcase(name, e) for e in request.keep) for name in table.originals], bool)
    empty = (gaps == n) | ((gaps > MAX_MISSING * n) & ~kept)
    if not request.only and empty.any() and not empty.all():
        some, none = (tuple(table.names_of(empty & which)) for which in (gaps < n, gaps == n))
        option = f"--keep {','.join(shell_word(name) for name in some[:5])}"
        mostly = Finding(LEFT_OUT, "missing in more than half of the rows", option, some)
        findings = [one for one in (mostly, Finding(LEFT_OUT, "it has no value at all", "", none)) if one.features]
        report, gaps = table.report.with_findings(*findings), gaps[~empty]
        table = replace(table.with_features(np.flatnonzero(~empty)), report=report)
    # All 0/1 features of a category are missing together; the category counts once.
    by_feature = {str(name): int(count) for name, count in zip(table.originals, gaps, strict=True) if count}
    report = replace(table.report, missing_cells=sum(by_feature.values()), missing_features=tuple(by_feature))
    return replace(table, report=report if request.only else report.with_findings(*_sentinels(table)))


def _without_empty_rows(table: Table) -> Table:
    """Leave out rows without any value, such as those below a table: all features would be missing together there."""
    if issparse(table.X) or table.X.dtype.kind != "f":
        return table
    rows = np.flatnonzero(np.isnan(table.X[:, 0]))
    empty = rows[np.isnan(table.X[rows]).all(axis=1)]
    if not 0 < len(empty) < table.shape[0]:
        return table
    finding = Finding(ASSUMED, f"{counted(len(empty), 'row')} without any value passed over")
    kept = np.setdiff1d(np.arange(table.shape[0]), empty)
    return replace(_with_rows(table, kept), report=table.report.with_findings(finding))


def _with_rows(table: Table, kept: Counts) -> Table:
    samples, y = (None if side is None else np.asarray(side)[kept] for side in (table.sample_names, table.y))
    texts = {name: [cells[i] for i in kept] for name, cells in table.texts.items()}
    return replace(table, X=table.X[kept], sample_names=samples, y=y, texts=texts)


def _sentinels(table: Table) -> list[Finding]:
    """Point out numbers such as −999 that lie far outside all others of their feature."""
    if issparse(table.X) or table.X.dtype.kind not in "fiu" or not table.X.size:
        return []
    found: dict[float, list[str]] = {}
    edges = [extreme.reduce(table.X, axis=0) for extreme in (np.fmin, np.fmax)]
    for place in np.flatnonzero(np.isin(edges, SENTINELS).any(axis=0)):
        for value in _far_sentinels(table.X[:, place]):
            found.setdefault(float(value), []).append(str(table.feature_names[place]))
    text = "lies far outside the other values of {}; if it stands for missing cells"
    return [Finding(NOTICED, f"{v:g} {text.format(listed(names))}", f"--na-values {v:g}") for v, names in found.items()]


def _far_sentinels(values: NDArray[Any]) -> Any:
    """Return which sentinels are farther from all other values than twice their range, which must not be a point."""
    marks = np.isin(values, SENTINELS)
    others, marks = values[~marks & ~np.isnan(values)].astype(np.float64), np.unique(values[marks])
    low, high = (others.min(), others.max()) if len(others) else (0.0, 0.0)
    return marks[np.maximum(low - marks, marks - high) > 2 * max(high - low, 1e-9)] if high > low else []


def fill(table: Table, way: str) -> Table:
    """Return the table with its missing cells dealt with by one of :data:`WAYS`; its report says what was done.

    ``"keep"`` leaves them, ``"median"`` fills them with the median of the feature or the commonest value of a
    category, ``"drop-rows"`` leaves out the rows that have any, and ``"error"`` refuses them.
    """
    if way not in WAYS:
        raise TableError(f"--missing takes {', '.join(WAYS)}; got {way!r}.")
    if not table.report.missing_cells:
        return table
    if way == "error":
        cells, names = counted(table.report.missing_cells, "cell"), table.report.missing_features
        raise TableError(f"{cells} missing, in {listed(names)}; pass --missing median to fill them, or drop-rows.")
    text = "which the method takes as missing"
    if way != "keep":
        table, text = _median_filled(table) if way == "median" else _rows_dropped(table)
    return replace(table, report=replace(table.report, filled=text))


def _median_filled(table: Table) -> tuple[Table, str]:
    from sklearn.impute import SimpleImputer

    X = table.X.astype(np.result_type(table.X.dtype, np.float32))
    groups = table.originals
    categories = {str(group) for group in groups[groups != table.feature_names]} & set(table.report.missing_features)
    for category in categories:
        members = np.flatnonzero(groups == category)
        gaps = np.isnan(X[:, members[0]])
        patterns, counts = np.unique(X[np.ix_(~gaps, members)], axis=0, return_counts=True)
        X[np.ix_(gaps, members)] = patterns[counts.argmax()]
    X = SimpleImputer(strategy="median", keep_empty_features=True, copy=False).fit_transform(X)
    more = ", categories with their commonest value" if categories else ""
    return replace(table, X=csr_array(X) if issparse(X) else X), "filled with medians" + more


def _rows_dropped(table: Table) -> tuple[Table, str]:
    rows = np.isnan(table.X.sum(axis=1)) if issparse(table.X) else np.isnan(table.X).any(axis=1)
    kept = np.flatnonzero(~rows)
    if not kept.size:
        raise TableError("--missing drop-rows leaves no row: every one has a missing cell; pass --missing median.")
    return _with_rows(table, kept), f"{counted(table.shape[0] - len(kept), 'row')} with them left out"
