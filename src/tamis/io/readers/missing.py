"""Cells without a value: markers among numbers, what sits far outside, and how gaps are filled."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from tamis.io.errors import TableError
from tamis.io.readers.report import LEFT_OUT, NOTICED, Finding, counted, listed, shell_word
from tamis.io.readers.table import Request, Table

WAYS = ("keep", "median", "drop-rows", "error")
"""What ``--missing`` takes."""

SENTINELS = np.array(
    [sign * (10**size - 1) * 10**zeros for size in range(2, 8) for zeros in (0,) for sign in (1, -1)]
    + [-1e3, -9.0, 1e30, -1e30, 1e20, -1e20, -2147483648.0, 65535.0, 2147483647.0]
)
"""Numbers by which machines and people mark missing cells: 99, −999, 9999, ..."""

MOSTLY = 0.5
"""A feature that is missing in more than this share of the rows is left out."""


def mark_missing(table: Table, request: Request) -> Table:
    """Turn the numbers that the user names into missing cells, and complain of infinite ones."""
    numbers = [value for value in map(_number, request.na_values) if value is not None]
    X = table.X
    values = X.data if issparse(X) else X
    if issparse(X) and 0.0 in numbers:
        raise TableError(
            "--na-values 0 cannot be had, since a sparse table does not tell its zeros from missing cells."
        )
    if numbers and values.size:
        hit = np.isin(values, [value for value in numbers if not np.isnan(value)])
        if hit.any():
            values = np.where(hit, np.nan, values)
            X = csr_array((values, X.indices, X.indptr), shape=X.shape) if issparse(X) else values
    infinite = _counts(X, np.isinf)
    if infinite.any():
        places = np.flatnonzero(infinite)
        raise TableError(
            f"{counted(int(infinite.sum()), 'cell')} of {listed(table.feature_names[places])} "
            f"{'is' if infinite.sum() == 1 else 'are'} infinite; pass --na-values inf,-inf to treat them as missing, "
            f"or leave features out with --drop {shell_word(str(table.feature_names[places[0]]))}."
        )
    return replace(table, X=X)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _counts(X: Any, test: Any) -> NDArray[np.intp]:
    """Count, for every encoded feature, the cells that pass a test which zeros do not pass."""
    if issparse(X):
        return np.bincount(X.tocoo().col[test(X.data)], minlength=X.shape[1])
    if X.dtype.kind != "f":
        return np.zeros(X.shape[1], dtype=np.intp)
    found, rows = np.zeros(X.shape[1], dtype=np.intp), max(1, 2**22 // max(1, X.shape[1]))
    for start in range(0, len(X), rows):
        found += test(X[start : start + rows]).sum(axis=0)
    return found


def look_for_gaps(table: Table, request: Request) -> Table:
    """Leave out features that are mostly missing, and tell how many cells are missing and what may stand for it."""
    gaps = _counts(table.X, np.isnan)
    n = table.shape[0]
    kept = _kept(table, request)
    empty = ((gaps > MOSTLY * n) & ~kept) | ((gaps == n) & (not request.only))
    if empty.any() and not empty.all():
        table = _without(table, empty, gaps)
        gaps = gaps[~empty]
    elif gaps.size and (gaps == n).all():
        raise TableError("no cell holds a value.")
    groups = table.feature_names if table.groups is None else table.groups
    # All 0/1 features of a category are missing together; the category counts once.
    by_feature = {str(name): int(count) for name, count in zip(groups[gaps > 0], gaps[gaps > 0], strict=True)}
    report = replace(table.report, missing_cells=sum(by_feature.values()), missing_features=tuple(by_feature))
    report = report if request.only else report.with_findings(*_sentinels(table))
    return replace(table, report=report)


def _kept(table: Table, request: Request) -> NDArray[np.bool_]:
    if request.only:
        return np.ones(table.shape[1], dtype=bool)
    found = np.zeros(table.shape[1], dtype=bool)
    known = [name for name in request.keep if name in table.original_names]
    found[table.positions(known, "--keep")] = True
    return found


def _without(table: Table, empty: NDArray[np.bool_], gaps: NDArray[np.intp]) -> Table:
    groups = table.feature_names if table.groups is None else table.groups
    names = tuple(dict.fromkeys(str(name) for name in groups[empty]))
    kinds = dict(table.report.kinds)
    for name in names:
        kind = "number" if name not in table.texts else _kind(table, name)
        kinds[kind] = kinds.get(kind, len(names)) - 1
    full = {str(name) for name in groups[gaps < table.shape[0]]}
    some, none = tuple(name for name in names if name in full), tuple(name for name in names if name not in full)
    option = f"--keep {','.join(shell_word(name) for name in some[:5])}"
    findings = [Finding(LEFT_OUT, "missing in more than half of the rows", option, some)] if some else []
    findings += [Finding(LEFT_OUT, "it has no value at all", "", none)] if none else []
    return replace(
        table,
        X=table.X[:, ~empty],
        feature_names=table.feature_names[~empty],
        groups=None if table.groups is None else table.groups[~empty],
        report=replace(table.report, kinds=kinds).with_findings(*findings),
    )


def _kind(table: Table, name: str) -> str:
    """Return the kind of a feature that is written as text; categories have 0/1 features named by their levels."""
    members = [str(label) for label in table.feature_names[table.groups == name]] if table.groups is not None else []
    return "category" if members and members != [name] else next(iter(set(table.report.kinds) - {"number"}), "number")


def _sentinels(table: Table) -> list[Finding]:
    """Point out numbers such as −999 that lie far outside all others of their feature."""
    if issparse(table.X) or table.X.dtype.kind not in "fiu" or not table.X.size:
        return []
    found: dict[float, list[str]] = {}
    with np.errstate(invalid="ignore"):
        for low in (True, False):
            edge = np.fmin.reduce(table.X, axis=0) if low else np.fmax.reduce(table.X, axis=0)
            for place in np.flatnonzero(np.isin(edge, SENTINELS)):
                if _is_far(table.X[:, place], edge[place]):
                    found.setdefault(float(edge[place]), []).append(str(table.feature_names[place]))
    return [
        Finding(
            NOTICED,
            f"{value:g} lies far outside the other values of {listed(names)}; if it stands for missing cells",
            f"--na-values {value:g}",
        )
        for value, names in found.items()
    ]


def _is_far(values: NDArray[Any], edge: float) -> bool:
    """Tell whether a value is farther from all others than twice their range, which must not be a single point."""
    others = values[(values != edge) & ~np.isnan(values)]
    if len(others) < 2:
        return False
    low, high = others.min(), others.max()
    distance = low - edge if edge < low else edge - high
    return bool(distance > 2 * max(high - low, 1e-9) and high > low)


def fill(table: Table, way: str) -> Table:
    """Deal with missing cells.

    Parameters
    ----------
    table : Table
        With NaN where a cell is missing.
    way : {"keep", "median", "drop-rows", "error"}
        Keep them, fill them with the median of the feature (a category with its commonest value), leave out the
        rows that have any, or refuse them.

    Returns
    -------
    Table
        Its report says what was done.
    """
    if way not in WAYS:
        raise TableError(f"--missing takes {', '.join(WAYS)}; got {way!r}.")
    if not table.report.missing_cells:
        return table
    if way == "error":
        cells, names = counted(table.report.missing_cells, "cell"), table.report.missing_features
        raise TableError(f"{cells} missing, in {listed(names)}; pass --missing median to fill them, or drop-rows.")
    if way == "keep":
        return _said(table, "which the method takes as missing")
    return _median_filled(table) if way == "median" else _rows_dropped(table)


def _said(table: Table, text: str) -> Table:
    return replace(table, report=replace(table.report, filled=text))


def _median_filled(table: Table) -> Table:
    if issparse(table.X):
        return _said(replace(table, X=_sparse_filled(table.X)), "filled with medians")
    X = np.array(table.X, dtype=np.result_type(table.X.dtype, np.float32))
    groups = table.feature_names if table.groups is None else table.groups
    categories = {str(group) for group in groups[groups != table.feature_names]} & set(table.report.missing_features)
    for place in np.flatnonzero(_counts(X, np.isnan)):
        gaps = np.isnan(X[:, place])
        if str(groups[place]) not in categories:
            X[gaps, place] = 0.0 if gaps.all() else np.median(X[~gaps, place])
    for category in categories:
        members = np.flatnonzero(groups == category)
        gaps = np.isnan(X[:, members[0]])
        X[np.ix_(gaps, members)] = _commonest(X[np.ix_(~gaps, members)])
    more = ", categories with their commonest value" if categories else ""
    return _said(replace(table, X=X), "filled with medians" + more)


def _sparse_filled(X: Any) -> Any:
    """Fill the stored gaps of a CSR matrix; zeros that are not stored count for the median."""
    filled = csr_array(X, dtype=np.result_type(X.dtype, np.float32), copy=True)
    gaps = np.flatnonzero(np.isnan(filled.data))
    for place in np.unique(filled.indices[gaps]):
        column = X[:, [place]].toarray()
        filled.data[gaps[filled.indices[gaps] == place]] = np.median(column[~np.isnan(column)])
    return filled


def _commonest(rows: NDArray[Any]) -> NDArray[Any]:
    patterns, counts = np.unique(rows, axis=0, return_counts=True)
    return patterns[counts.argmax()]


def _rows_dropped(table: Table) -> Table:
    gaps = np.zeros(table.shape[0], dtype=bool)
    if issparse(table.X):
        coordinates = table.X.tocoo()
        gaps[coordinates.row[np.isnan(coordinates.data)]] = True
    else:
        gaps = np.isnan(table.X).any(axis=1)
    kept = np.flatnonzero(~gaps)
    if not kept.size:
        raise TableError(
            "--missing drop-rows leaves no row, since every one has a missing cell; pass --missing median."
        )
    dropped = replace(
        table,
        X=table.X[kept],
        sample_names=None if table.sample_names is None else table.sample_names[kept],
        y=None if table.y is None else np.asarray(table.y)[kept],
        texts={name: [cells[i] for i in kept] for name, cells in table.texts.items()},
    )
    return _said(dropped, f"{counted(int(gaps.sum()), 'row')} with them left out")
