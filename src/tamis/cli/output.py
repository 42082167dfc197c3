"""What commands print and write."""

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from tamis.cli.options import UsageError
from tamis.io.files import is_own, remove_leftovers

if TYPE_CHECKING:
    from tamis.io.readers import Table
    from tamis.report.analysis import Analysis
    from tamis.verdict import Verdict

SHOWN = 20

TABULAR = (".csv", ".tsv", ".txt", ".tab", ".parquet", ".pq", ".feather", ".arrow")
"""Endings of formats whose features may hold text."""

FOLDERS = {".zarr": ".h5ad"}
"""In which format the reduced table of a folder is written; Parquet, if it is not listed."""


GUARDED = ("=", "+", "-", "@", "\t", "\r", "'")
"""Spreadsheets take a cell that begins so for a formula, or, with the last, leave a sign out."""


def check_outputs(paths: Iterable[Path], inputs: Iterable[Path], force: bool) -> None:
    """Raise :class:`UsageError` if an input, or a file that tamis did not write, would be replaced.

    Parameters
    ----------
    paths : iterable of Path
        The files that are going to be written.
    inputs : iterable of Path
        What the command reads, which is never replaced.
    force : bool
        Whether files that tamis did not write may be replaced.
    """
    inputs = list(inputs)
    for path in paths:
        for given in inputs:
            if _is_within(path, given):
                raise UsageError(f"{path}: would replace the input {given}; choose another place with -o.")
        if path.is_dir():
            raise UsageError(f"{path}: is a folder where a file is to be written; choose another place with -o.")
        if path.exists() and not force and not is_own(path):
            raise UsageError(
                f"{path}: is there already, and is not as tamis wrote it; choose another place by -o, or pass --force."
            )


def _is_within(path: Path, given: Path) -> bool:
    """Tell whether a path is a given file, by whatever name, or lies in a given folder."""
    if path.exists() and given.exists() and path.samefile(given):
        return True
    return given.is_dir() and path.resolve().is_relative_to(given.resolve())


def default_folder(source: Path, command: str) -> Path:
    """Return the folder for the results of a table, named after all of its name but the ending."""
    return Path(f"{name_parts(source)[0] or 'table'}-{command}")


@contextmanager
def output_folder(path: Path) -> Iterator[Path]:
    """Make a folder at once, so that a mistake shows before hours of training; unmake it if nothing was written."""
    made: list[Path] = []
    try:
        _make(path, made)
        yield path
    except BaseException:
        remove_empty(made)
        raise
    finally:
        for folder in made:
            _made.remove(folder)


_made: list[Path] = []
"""Folders that were made for results which are not written yet."""


def _make(path: Path, made: list[Path]) -> None:
    try:
        for folder in [*reversed(path.parents), path]:
            if not folder.exists():
                folder.mkdir()
                made.append(folder)
                _made.append(folder)
    except OSError as error:
        raise UsageError(f"{path}: cannot be made ({error.strerror or error}); choose another with -o.") from error
    if not path.is_dir():
        raise UsageError(f"{path}: is a file; -o takes a folder.")
    if not os.access(path, os.W_OK):
        raise UsageError(f"{path}: is not writable; choose another folder with -o.")
    remove_leftovers(path)


def remove_empty(folders: list[Path] = _made) -> None:
    """Remove folders that were made, if nothing was written into them."""
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()


def csv_text(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table as CSV; numbers keep all their digits, and no text is taken for a formula by a spreadsheet."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows([["" if cell is None else guarded(cell) for cell in row] for row in rows])
    return stream.getvalue()


def guarded(cell: Any) -> Any:
    """Return a text with an apostrophe before what a spreadsheet would run; numbers stay as they are."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(GUARDED) and not _is_number(cell) else cell


def unguarded(cell: str) -> str:
    """Return the text that :func:`guarded` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(GUARDED) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def name_parts(source: Path) -> tuple[str, str]:
    """Return the name of a table without its ending, and the ending of what is written of it."""
    from tamis.io.readers import format_of
    from tamis.io.writers import WRITERS

    if source.is_dir():
        return source.name.removesuffix(source.suffix), FOLDERS.get(source.suffix.lower(), ".parquet")
    ending = format_of(source)
    stem, inner = source.name[: -len(ending)], "." + ending.split(".")[1]
    if ending.endswith(".gz") and inner in WRITERS:
        return stem, ending
    # What is read but not written, such as workbooks and archives, becomes a text table.
    return stem, inner if inner in WRITERS or inner == ".h5ad" else ".csv"


def check_written(path: Path) -> None:
    """Refuse an ending in which no table is written."""
    from tamis.io.readers import format_of
    from tamis.io.writers import WRITERS

    ending = format_of(path)
    if ending.removesuffix(".gz") not in (*WRITERS, ".h5ad"):
        raise UsageError(f"{path}: tables are not written as {ending}; use one of {', '.join(WRITERS)}, .h5ad.")


def reduced_table(table: "Table", names: Sequence[str], ending: str) -> "Table":
    """Return some features of a table as the file has them: categories and dates as text, missing cells missing.

    Formats of numbers only, by their ending, get the numbers that the table holds.
    """
    from dataclasses import replace

    import numpy as np
    from scipy.sparse import issparse

    from tamis.io.writers import take

    places = np.sort(table.positions(names, "--features"))
    plain_numbers = table.groups is None and not set(names) & set(table.texts)
    numeric = not ending.startswith(TABULAR) or (plain_numbers and not table.report.missing_cells)
    if table.in_pieces or issparse(table.X) or numeric:
        return take(table, places)
    columns = {name: table.texts.get(name) for name in table.original_names if name in set(names)}
    X = np.empty((table.shape[0], len(columns)), dtype=object)
    for place, (name, cells) in enumerate(columns.items()):
        X[:, place] = cells if cells is not None else _cells(table.X[:, table.positions([name], "--features")[0]])
    found = np.array(list(columns), dtype=object)
    return replace(table, X=X, feature_names=found, groups=None, texts={})


def _cells(values: Any) -> list[Any]:
    return [None if value != value else float(value) for value in values]


def selection_paths(folder: Path, source: Path) -> dict[str, Path]:
    """Return the files that ``select`` writes."""
    stem, ending = name_parts(source)
    return {
        "selector": folder / "selector.tamis",
        "selected": folder / "selected.csv",
        "features": folder / "features.csv",
        "page": folder / "report.html",
        "reduced": folder / f"{stem}-selected{ending}",
        "result": folder / "result.json",
    }


def write_selection(
    folder: Path, source: Path, selector: Any, tables: "tuple[Table, Table]", analysis: "Analysis", verdict: "Verdict",
    *, transpose: bool, image_shape: tuple[int, int] | None,
) -> dict[str, str]:  # fmt: skip
    """Write all that ``select`` gives, each file in one piece; what took longest to compute comes first.

    The first table is as the file has it, with its missing cells; the second is the one that was scored.
    """
    from tamis.cli.whole_features import original_names
    from tamis.io.files import write_text
    from tamis.io.readers import format_of
    from tamis.io.writers import write_table
    from tamis.report import write_report

    read, table = tables
    headings = ["rank", "feature", "score", "nearest_chosen", "correlation", "predicted", "why"]
    cells = feature_rows(selector, analysis, table)
    chosen = original_names(table, selector.selected_)
    paths = selection_paths(folder, source)
    reduced = reduced_table(read, chosen, format_of(paths["reduced"]))
    selector.save(paths["selector"])
    write_text(paths["selected"], csv_text(headings, cells[: len(chosen)]))
    write_text(paths["features"], csv_text(headings, cells))
    write_report(paths["page"], selector, table, analysis, verdict, title=source.name, image_shape=image_shape)
    write_table(paths["reduced"], reduced, source=source, transpose=transpose)
    return {name: str(path) for name, path in paths.items()}


def feature_rows(selector: Any, analysis: "Analysis", table: "Table") -> list[list[Any]]:
    """Return a line for every feature of the file, best first; a category has the words of its best 0/1 feature."""
    from tamis.cli.whole_features import original_scores
    from tamis.report.table import rows

    names, scores = table.feature_names.tolist(), original_scores(selector, table)
    groups = dict(zip(names, (table.feature_names if table.groups is None else table.groups).tolist(), strict=True))
    found: dict[str, list[Any]] = {}
    for row in rows(selector, analysis, names, limit=None):
        name = groups[row.name]
        score = scores[name] if row.score is not None or name != row.name else None
        nearest = groups.get(row.nearest, row.nearest)
        if name not in found:
            found[name] = [len(found) + 1, name, score, nearest, row.correlation, row.explained, row.reason]
    return list(found.values())


def print_json(document: Any) -> None:
    """Print one JSON document; numbers that JSON lacks are null."""
    print(json.dumps(plain(document), ensure_ascii=False, indent=2))


def plain(value: Any) -> Any:
    """Return a value as JSON has it; numbers that JSON lacks are null."""
    import math

    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()
) -> None:
    """Print a table: drawn for a person, tab-separated for a pipe."""
    from tamis.cli.fitting import is_terminal

    if not is_terminal():
        for row in [headings, *rows]:
            print("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for i, heading in enumerate(headings):
        drawn.add_column(heading, justify="right" if i in numbers else "left", overflow="fold")
    for row in rows:
        # Text, since names of features may hold what rich would read as markup.
        drawn.add_row(*(Text(cell) for cell in row))
    Console().print(drawn)


def print_read(table: "Table") -> None:
    """Print what was read: in three lines, and what should be looked at."""
    for line in table.report.lines():
        say(line)


def print_selection(selector: Any, table: "Table", verdict: "Verdict", files: dict[str, str]) -> None:
    """Print the chosen features, the verdict, and where the page is."""
    from tamis.cli.fitting import is_terminal
    from tamis.cli.whole_features import original_names, original_scores
    from tamis.cli.words import in_options

    chosen, scores = original_names(table, selector.selected_), original_scores(selector, table)
    limit = SHOWN if is_terminal() else len(chosen)
    rows = [[str(i), name, number(scores[name])] for i, name in enumerate(chosen[:limit], start=1)]
    more = f" (the best {limit} of {len(chosen)}; all are in {files['selected']})" if limit < len(chosen) else ""
    print_table(f"Chosen features{more}", ["rank", "feature", "score"], rows, numbers=(0, 2))
    say(verdict.headline + ".", "green" if verdict.trusted else "red")
    for text in verdict.reasons:
        say(f"  • {in_options(text)}")
    say(f"Page: {files['page']}")


def say(text: str, style: str | None = None) -> None:
    """Print a sentence: with the results for a person, on standard error if the results go into a pipe."""
    from rich.console import Console
    from rich.text import Text

    from tamis.cli.fitting import is_terminal

    console = Console(stderr=not is_terminal())
    if is_terminal() and not text.startswith("Page"):
        # A path stays in one piece, so that it can be copied; sentences are folded between words.
        text = fill(text, console.width, subsequent_indent="    " if text.startswith("  ") else "")
    console.print(Text(text, style=f"bold {style}" if style else ""), soft_wrap=True)


def number(value: Any) -> str:
    """Write a number shortly, a dash for none."""
    import math

    return "–" if value is None or not math.isfinite(value) else f"{float(value):.4g}"
