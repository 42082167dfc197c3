"""From the rows of the planted bench to tables: what methods found, on which kinds, and how much noise they picked."""

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from research.ledger import Row
from research.pages import Table
from research.planted.fits import ALL_KINDS, METHODS, TESTED
from research.planted.kinds import STRUCTURED_NUISANCE
from research.planted.seeds import HALVES, half_of

SIMPLE = ("laplacian-score", "variance", "pca-loadings", "correlation", "kmeans-f")
"""Simple rivals; a lead of one of them is a loss."""

MIN_LEAD = 0.05
"""A smaller lead is not listed."""


def in_half(rows: Iterable[Row], half: str) -> list[Row]:
    """Return the rows whose seeds belong to a half."""
    return [row for row in rows if half_of(row["trial"]["seed"]) == half]


def of_method(rows: Iterable[Row], method: str) -> list[Row]:
    """Return the rows of a method that were not left out."""
    return [row for row in rows if row["trial"]["method"] == method and "skipped" not in row]


def methods_in(rows: Iterable[Row]) -> list[str]:
    """Return the methods that have rows, in the order of the bench."""
    present = dict.fromkeys(row["trial"]["method"] for row in rows)
    return [*(name for name in METHODS if name in present), *(name for name in present if name not in METHODS)]


def mean_of(rows: Sequence[Row], name: str) -> float:
    """Return the mean of a value over rows, NaN without rows."""
    return float(np.mean([row[name] for row in rows])) if rows else np.nan


def shown(value: float, digits: int = 2) -> str:
    """Return a number as text, a dash for NaN."""
    return "–" if np.isnan(value) else f"{value:.{digits}f}"


def by_kind(rows: Sequence[Row]) -> Table:
    """Make the table of the share found, a kind per row and a method per column, and the means over kinds."""
    methods, cells = methods_in(rows), _cells(rows)
    kinds = [kind for kind in ALL_KINDS if any((method, kind) in cells for method in methods)]
    full = max(map(len, cells.values()), default=0)
    lines = [[kind.replace("_", " "), *(_cell(cells.get((m, kind), []), full) for m in methods)] for kind in kinds]
    lines += [["**mean**", *(_mean_over_kinds(cells, method, kinds) for method in methods)]] if kinds else []
    return Table("kinds", "Share found", ["kind", *methods], lines)


def _cell(rows: Sequence[Row], full: int) -> str:
    note = f" ({len(rows)})" if 0 < len(rows) < full else ""
    return shown(mean_of(rows, "share_found")) + note


def _mean_over_kinds(cells: dict[tuple[str, str], list[Row]], method: str, kinds: Sequence[str]) -> str:
    found = [mean_of(cells[method, kind], "share_found") for kind in kinds if (method, kind) in cells]
    note = f" ({len(found)} kinds)" if len(found) < len(kinds) else ""
    return shown(float(np.mean(found)) if found else np.nan, 3) + note


def _cells(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if "skipped" not in row:
            cells.setdefault((row["trial"]["method"], row["trial"]["kind"]), []).append(row)
    return cells


def means(rows: Sequence[Row]) -> Table:
    """Make the table of means over all tables, a method per row, both halves side by side."""
    headings = ["method", *(f"found, {half} (tables)" for half in HALVES)]
    headings += ["structures", "right", "noise picks", "noise while structured left", "median seconds"]
    lines = []
    for method in methods_in(rows):
        halves = [of_method(in_half(rows, half), method) for half in HALVES]
        found = [f"{shown(mean_of(half, 'share_found'), 3)} ({len(half)})" for half in halves]
        lines.append([method, *found, *_detail(halves[-1])])
    return Table("means", "Means", headings, lines)


def _detail(rows: Sequence[Row]) -> list[str]:
    seconds = float(np.median([row["fit_seconds"] for row in rows])) if rows else np.nan
    values = [shown(mean_of(rows, name)) for name in ("share_of_structures", "right")]
    noise = [_share_of_picks(rows, name) for name in ("n_noise", "n_noise_while_structured_left")]
    return [*values, *noise, shown(seconds)]


def _share_of_picks(rows: Sequence[Row], name: str) -> str:
    """Return the share of all picks that a count makes up, a dash for methods that do not count it."""
    counted = [row for row in rows if name in row]
    return f"{sum(row[name] for row in counted) / sum(row['k'] for row in counted):.1%}" if counted else "–"


def losses(rows: Sequence[Row], method: str) -> Table:
    """Make the table of the kinds on which simple rivals lead by more than :data:`MIN_LEAD`."""
    cells, lines = _cells(rows), []
    for kind in ALL_KINDS:
        own = {row["trial"]["seed"]: row["share_found"] for row in cells.get((method, kind), [])}
        leads = {rival: _lead(cells.get((rival, kind), []), own) for rival in SIMPLE}
        ahead = sorted((name for name in leads if leads[name] > MIN_LEAD), key=lambda name: -leads[name])
        if ahead:
            mean = float(np.mean(list(own.values())))
            lines.append([kind.replace("_", " "), shown(mean), ", ".join(f"{a} +{leads[a]:.2f}" for a in ahead)])
    return Table(f"losses-{method}", "Losses", ["kind", method, "simple rivals that lead"], lines)


def _lead(rival: Sequence[Row], own: dict[int, float]) -> float:
    """Return by how much a rival leads on the tables that both were fitted to."""
    leads = [row["share_found"] - own[row["trial"]["seed"]] for row in rival if row["trial"]["seed"] in own]
    return float(np.mean(leads)) if leads else 0.0


def verdicts(rows: Sequence[Row]) -> Table:
    """Make the table of warnings: of right fits few should warn, of wrong ones nearly all."""
    lines = []
    for method, structured in product(TESTED, (False, True)):
        own = of_method(rows, method)
        found = [row for row in own if (row["trial"]["kind"] in STRUCTURED_NUISANCE) is structured]
        right, wrong = ([row for row in found if row["right"] is truth] for truth in (True, False))
        if found:
            nuisance = "with structure" if structured else "without"
            lines.append([method, nuisance, *(_warned(group) for group in (right, wrong))])
    return Table("verdicts", "Verdicts", ["method", "nuisance", "right fits that warn", "wrong fits that warn"], lines)


def _warned(rows: Sequence[Row]) -> str:
    count = sum(not row["trusted"] for row in rows)
    return f"{count} of {len(rows)} ({count / len(rows):.0%})" if rows else "–"
