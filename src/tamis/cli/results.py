"""Results that are kept: folders, CSV files and result.json, the same for all commands; see docs/results.md."""

import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from tamis._version import __version__
from tamis.cli.options import UsageError
from tamis.cli.output import json_text
from tamis.io.files import is_own, remove_leftovers, write_text
from tamis.io.readers import Table, format_of
from tamis.io.writers import TABULAR, WRITERS

SCHEMA = "tamis-result/3"
"""Name and version of the layout of result.json; the version changes when a key changes its meaning or goes away."""

NAMES = ("selections.csv", "scores.csv", "result.json")
"""What is kept of lists and their scores."""

GUARDED = ("=", "+", "-", "@", "\t", "\r", "'")
"""Spreadsheets take a cell that begins so for a formula, or, with the last, leave a sign out."""


def check_outputs(paths: Iterable[Path], inputs: Sequence[Path], force: bool) -> None:
    """Raise UsageError if an input, or without ``force`` a file that tamis did not write, would be replaced."""
    for path in paths:
        for given in inputs:
            same = path.exists() and given.exists() and path.samefile(given)
            if same or (given.is_dir() and path.resolve().is_relative_to(given.resolve())):
                raise UsageError(f"{path}: would replace the input {given}; choose another place with -o.")
        if path.is_dir():
            raise UsageError(f"{path}: is a folder where a file is to be written; choose another place with -o.")
        if path.exists() and not force and not is_own(path):
            fault = "is there already, and is not as tamis wrote it"
            raise UsageError(f"{path}: {fault}; choose another place by -o, or pass --force.")


def default_folder(source: Path, command: str) -> Path:
    """Return the folder for the results of a table, named after all of its name but the ending."""
    return Path(f"{name_parts(source)[0] or 'table'}-{command}")


@contextmanager
def output_folder(path: Path) -> Iterator[Path]:
    """Make a folder at once, so that a mistake shows before hours of training; unmake it if nothing was written."""
    try:
        _make(path)
        yield path
    except BaseException:
        remove_empty()
        raise
    finally:
        _made.clear()


_made: list[Path] = []
"""Folders that were made for results which are not written yet."""


def _make(path: Path) -> None:
    try:
        for folder in [*reversed(path.parents), path]:
            if not folder.exists():
                folder.mkdir()
                _made.append(folder)
    except OSError as error:
        raise UsageError(f"{path}: cannot be made ({error.strerror or error}); choose another with -o.") from error
    if not path.is_dir():
        raise UsageError(f"{path}: is a file; -o takes a folder.")
    if not os.access(path, os.W_OK):
        raise UsageError(f"{path}: is not writable; choose another folder with -o.")
    remove_leftovers(path)


def remove_empty() -> None:
    """Remove folders that were made, if nothing was written into them."""
    for folder in reversed(_made):
        with suppress(OSError):
            folder.rmdir()


def name_parts(source: Path) -> tuple[str, str]:
    """Return the name of a table without its ending, and the ending of what is written of it."""
    if source.is_dir():
        return source.name.removesuffix(source.suffix), ".h5ad" if source.suffix.lower() == ".zarr" else ".parquet"
    ending = format_of(source)
    stem, inner = source.name[: -len(ending)], "." + ending.split(".")[1]
    if ending.endswith(".gz") and inner in WRITERS:
        return stem, ending
    # What is read but not written, such as workbooks and archives, becomes a text table.
    return stem, inner if inner in WRITERS or inner == ".h5ad" else ".csv"


def check_format(path: Path) -> None:
    """Refuse an ending in which no table is written."""
    ending = format_of(path)
    if ending.removesuffix(".gz") not in (*WRITERS, ".h5ad"):
        raise UsageError(f"{path}: tables are not written as {ending}; use one of {', '.join(WRITERS)}, .h5ad.")


def reduced_table(table: Table, names: Sequence[str], path: Path) -> Table:
    """Return some features of a table as the file has them: categories and dates as text, missing cells missing.

    Formats of numbers only, by the ending of the path, get the numbers that the table holds.
    """
    places = np.sort(table.positions(names, "--features"))
    plain_numbers = table.groups is None and not set(names) & set(table.texts)
    numeric = not format_of(path).startswith(TABULAR) or (plain_numbers and not table.report.missing_cells)
    if table.in_pieces or issparse(table.X) or numeric:
        return table.with_features(places)
    kept = [name for name in table.original_names if name in set(names)]
    X = np.empty((table.shape[0], len(kept)), dtype=object)
    for place, name in enumerate(kept):
        values = table.X[:, table.positions([name], "--features")[0]]
        X[:, place] = table.texts.get(name) or [None if value != value else float(value) for value in values]
    return replace(table, X=X, feature_names=np.array(kept, dtype=object), groups=None, texts={})


def csv_text(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV; numbers keep all their digits, and no text is taken for a formula by a spreadsheet."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows([["" if cell is None else guarded(cell) for cell in row] for row in rows])
    return stream.getvalue()


def guarded(cell: Any) -> Any:
    """Return a text with an apostrophe before what a spreadsheet would run; numbers stay as they are."""
    if not isinstance(cell, str) or not cell.startswith(GUARDED):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def unguarded(cell: str) -> str:
    """Return the text that :func:`guarded` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(GUARDED) else cell


def document_of(command: str, file: Path, table: Table, **parts: Any) -> dict[str, Any]:
    """Return a result for JSON: the same beginning for all commands, then the parts of one."""
    start = {"schema": SCHEMA, "tamis": __version__, "command": command, "input": str(file)}
    return {**start, "read": table.report.document(), **parts}


def write_result(folder: Path, document: dict[str, Any]) -> None:
    """Write result.json."""
    write_text(folder / "result.json", json_text(document) + "\n")


def write_lists(folder: Path, entries: Sequence[Any]) -> None:
    """Write selections.csv, with a line for every feature of every list, and scores.csv, with one for every list."""
    lines = [(e.method, e.k, e.seed, rank, name) for e in entries for rank, name in enumerate(e.selected, start=1)]
    write_text(folder / "selections.csv", csv_text(["method", "k", "seed", "rank", "feature"], lines))
    scores = [(e.method, e.k, e.seed, *e.scores.values(), e.seconds) for e in entries]
    write_text(folder / "scores.csv", csv_text(["method", "k", "seed", *entries[0].scores, "seconds"], scores))
