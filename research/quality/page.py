"""The page of the quality bench: tables between the marks of docs/quality.md, for each half of the sets."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from research.ledger import Ledger, Row
from research.pages import Table, replace_parts
from research.quality.bench import KS
from research.quality.scores import SCORES
from research.quality.sets import MAX_ROWS
from research.quality.split import HALVES, SEED, half
from research.quality.summary import REFERENCE, Summary, summarise

PAGE = Path(__file__).parents[2] / "docs" / "quality.md"
FOCUS = ("lscae", "structure-pursuit")
"""Methods whose losses are listed set by set."""


def write_page(results: Path, page: Path = PAGE) -> Path:
    """Write the made parts of the page from all rows of a folder."""
    rows = read_rows(results)
    if not rows:
        raise ValueError(f"{results}: holds no rows; run `python -m research.quality run` first.")
    return replace_parts(page, {"sets": _sets(rows), **{one: _half(rows, one) for one in HALVES}})


def read_rows(*folders: Path) -> list[Row]:
    """Read the rows of all methods."""
    return [row for folder in folders for path in sorted(folder.glob("*.jsonl")) for row in Ledger(path).rows()]


def compare(rows: Sequence[Row], methods: Sequence[str], sets: Sequence[str], ks: Sequence[int] = KS) -> str:
    """Return the tables of some methods (all that have rows if none are named) on the sets that all of them finished.

    A method of :data:`FOCUS` has its losses listed; so has the first of the named methods.
    """
    wanted = list(methods) or list(dict.fromkeys(row["trial"]["method"] for row in rows))
    rows = [row for row in rows if row["trial"]["method"] in wanted]
    common = [name for name in sets if set(summarise(rows, [name], ks).methods) == set(wanted)]
    if not common:
        raise ValueError(f"No set has all rows of {', '.join(wanted)}; name fewer --methods, --sets or --k.")
    focus = list(dict.fromkeys([*methods[:1], *FOCUS]))
    return _tables(summarise(rows, common, ks), focus) + f"\n\nSets: {', '.join(common)}."


def _sets(rows: list[Row]) -> str:
    shapes = {row["trial"]["set"]: row["shape"] for row in rows}
    lines = [f"The halves were dealt with seed {SEED}; tables of more rows were thinned to {MAX_ROWS:,} once.", ""]
    for one in HALVES:
        entries = [f"{name} ({shapes[name][0]:,} × {shapes[name][1]:,})" for name in half(one) if name in shapes]
        lines += [f"- {one}: {', '.join(entries)}"]
    return "\n".join(lines)


def _half(rows: list[Row], name: str) -> str:
    present = {row["trial"]["set"] for row in rows}
    summary = summarise(rows, [one for one in half(name) if one in present])
    if not summary.methods:
        return "No method has rows on all of these sets yet."
    parts = [_tables(summary, FOCUS)]
    if summary.incomplete:
        listed = ", ".join(f"{method} ({count})" for method, count in summary.incomplete.items())
        parts.append(f"Not shown, because rows are missing (number of finished sets): {listed}.")
    return "\n\n".join(parts)


def _tables(summary: Summary, focus: Sequence[str]) -> str:
    parts = [_shown(f"{len(summary.sets)} sets. Means over sets and sizes", _scores(summary))]
    parts.append(_shown("Mean ranks, 1 is best; fits that were left out count as last", _ranks(summary)))
    if REFERENCE in summary.methods:
        parts.append(_shown("Share of sets above random features", _shares(summary)))
    for method in focus:
        if method in summary.methods:
            title = f"Where `{method}` loses: the method with the largest lead, and how many lead"
            parts.append(_shown(title, _losses(summary, method)))
    return "\n\n".join(parts)


def _shown(title: str, table: Table) -> str:
    return f"{title}:\n\n{table.markdown()}"


def _scores(summary: Summary) -> Table:
    fitted = (~np.isnan(summary.values[0]).any(axis=2)).sum(axis=1)
    extra = [[str(count), f"{seconds:.2f}"] for count, seconds in zip(fitted, summary.seconds, strict=True)]
    table = _by_method(summary, summary.means(), "{:.3f}".format)
    position = {method: number for number, method in enumerate(summary.methods)}
    rows = [[*cells, *extra[position[cells[0]]]] for cells in table.rows]
    return table._replace(headings=[*table.headings, "sets fitted", "median seconds"], rows=rows)


def _ranks(summary: Summary) -> Table:
    return _by_method(summary, summary.mean_ranks(), "{:.2f}".format)


def _shares(summary: Summary) -> Table:
    table = _by_method(summary, summary.above_reference(), "{:.2f}".format)
    return table._replace(rows=[cells for cells in table.rows if cells[0] != REFERENCE])


def _by_method(summary: Summary, values: NDArray[np.float64], form: Callable[[float], str]) -> Table:
    """Make a table with a method per row, the best in mean rank first."""
    order = np.argsort(summary.mean_ranks().mean(axis=0), kind="stable")
    rows = [[summary.methods[m], *(form(value) for value in values[:, m])] for m in order]
    return Table("quality", "Quality", ["method", *SCORES.values()], rows)


def _losses(summary: Summary, method: str) -> Table:
    rows = []
    for name, scores in summary.ahead_of(method).items():
        cells = [f"{ahead[0][0]} +{ahead[0][1]:.3f} ({len(ahead)})" if ahead else "first" for ahead in scores.values()]
        rows.append([name, *cells])
    return Table(f"losses-{method}", "Losses", ["set", *SCORES.values()], rows)
