"""The page of the planted bench: tables between the marks of docs/planted.md, made from rows only."""

from collections.abc import Callable, Sequence
from pathlib import Path

from research.ledger import Ledger, Row
from research.pages import Table, replace_parts
from research.planted import calibration, dirty, tables
from research.planted.bench import DOCS
from research.planted.fits import FOLDER, TESTED
from research.planted.seeds import HALVES

PAGE = DOCS / "planted.md"
NO_ROWS = "There are no rows yet."


def write_page(results: Path, page: Path = PAGE) -> Path:
    """Write the made parts of the page from the rows of a folder."""
    rows = [row for path in sorted((results / FOLDER.name).glob("*.jsonl")) for row in Ledger(path).rows()]
    if not rows:
        raise ValueError(f"{results}: holds no rows; run `python -m research.planted run` first.")
    noise, verdicts, sizes, dirt = (
        Ledger(results / f"{name}.jsonl").rows() for name in ("noise", "noise_verdicts", "sizes", "dirty")
    )
    made = {"sizes": _sizes(sizes), "dirty": _dirty(tables.in_half(dirt, HALVES[1]))}
    return replace_parts(page, _fits(rows) | _noise(noise, verdicts) | made)


def _fits(rows: Sequence[Row]) -> dict[str, str]:
    confirming = tables.in_half(rows, HALVES[1])
    return {
        "means": tables.means(rows).markdown(),
        "kinds": _shown(tables.by_kind(confirming)),
        "losses": "\n\n".join(_losses(confirming, method) for method in TESTED),
        "structure": _structure(rows),
        "verdicts": _halves(rows, tables.verdicts),
    }


def _losses(rows: Sequence[Row], method: str) -> str:
    if not tables.of_method(rows, method):
        return f"`{method}` has no rows yet."
    table = tables.losses(rows, method)
    if not table.rows:
        return f"`{method}`: no simple rival leads by more than {tables.MIN_LEAD:g} on any kind."
    return f"`{method}` loses by more than {tables.MIN_LEAD:g} on {_kinds(len(table.rows))}:\n\n{table.markdown()}"


def _structure(rows: Sequence[Row]) -> str:
    parts = [_halves(rows, calibration.structure)]
    kinds = calibration.structure_by_kind(tables.in_half(rows, HALVES[1]))
    if kinds.rows:
        title = "Kinds of the confirming half with missed features, or with a false share above the level"
        parts.append(f"{title}:\n\n{kinds.markdown()}")
    return "\n\n".join(parts)


def _noise(noise: Sequence[Row], verdicts: Sequence[Row]) -> dict[str, str]:
    return {
        "noise": _halves(noise, calibration.noise),
        "noise-verdicts": _halves(verdicts, calibration.noise_verdicts),
    }


def _sizes(rows: Sequence[Row]) -> str:
    parts = []
    for half in HALVES[::-1]:
        found = tables.in_half(rows, half)
        if found:
            summary, table = calibration.sizes_summary(found), calibration.sizes(found)
            parts.append(f"{half.capitalize()} seeds. {summary}\n\n{table.markdown()}")
    return "\n\n".join(parts) or NO_ROWS


def _dirty(rows: Sequence[Row]) -> str:
    if not rows:
        return NO_ROWS
    return f"{dirty.page_table(rows).markdown()}\n\n{dirty.categories_found(rows)}"


def _halves(rows: Sequence[Row], make: Callable[[Sequence[Row]], Table]) -> str:
    """Return a table for each half that has rows, the confirming one first."""
    parts = []
    for half in HALVES[::-1]:
        found = tables.in_half(rows, half)
        if found:
            parts.append(f"{half.capitalize()} seeds:\n\n{_shown(make(found))}")
    return "\n\n".join(parts) or NO_ROWS


def _shown(table: Table) -> str:
    return table.markdown() if table.rows else NO_ROWS


def _kinds(count: int) -> str:
    return "1 kind" if count == 1 else f"{count} kinds"
