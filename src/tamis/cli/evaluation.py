"""``evaluate`` a list of features against random ones; ``check`` a file; ``apply`` a saved selector to it."""

import csv
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import tamis
from tamis.cli import fitting, output, results
from tamis.cli.options import UsageError, split
from tamis.cli.progress import Bar
from tamis.columns import summarise_columns
from tamis.io.files import recording
from tamis.io.readers import fill
from tamis.io.readers.report import listed
from tamis.io.readers.table import originals_of
from tamis.io.sources.source import nameless
from tamis.io.writers import write_table
from tamis.metrics import dense_sample, random_columns, score_lists
from tamis.report import Entry, finding_rows
from tamis.report.analysis import owners
from tamis.reprs import counted
from tamis.verdict import Verdict, judge_table, structure_of

ROUNDING = 1e-9
"""Scores whose relative difference is smaller are equal: sums in another order differ in their last digits."""


def evaluate(given: Any) -> None:
    """Read a list and a table, score, write and print."""
    names = listed_features(given.features)
    with results.output_folder(given.output) if given.output else nullcontext(), Bar(given.quiet or given.json) as bar:
        if given.output:
            paths = [given.output / name for name in results.NAMES]
            results.check_outputs(paths, [given.file, Path(given.features)], given.force)
        table = fitting.read_with_bar(given.file, given.reading.request(), bar)
        table = fitting.fill_for(table, given.reading.missing, None)
        columns = table.positions(originals_of(names, table.original_names), "--features")
        entries = _scored(table, columns, given, bar)
        verdict = judge_table(table.X, columns, table.groups)
        document = results.document_of("evaluate", given.file, table, **_parts(entries, verdict))
        if given.output:
            with recording():
                results.write_lists(given.output, entries)
                results.write_result(given.output, document)
    if given.json:
        output.print_json(document)
    else:
        output.print_read(table.report)
        _print(document, given, verdict)


def _scored(table: Any, columns: Any, given: Any, bar: Bar) -> list[Entry]:
    """Return the list with its scores, and random lists with theirs."""
    bar.stage("Scoring")
    sample, chosen, owner = dense_sample(table.X, random_state=given.seed), table.names_of(columns), owners(table)
    lists = [columns, *random_columns(sample, columns, owner, given.random_lists, given.seed)]
    found = score_lists(sample, lists, structure_of(sample.Z, owner), table.y, random_state=given.seed)
    names = ["list", *(f"random list {number}" for number in range(1, len(lists)))]
    selected = [chosen, *([] for _ in names[1:])]
    return [
        Entry(name, name, len(chosen), given.seed, own, scores, {}, None)
        for name, own, scores in zip(names, selected, found, strict=True)
    ]


def _parts(entries: list[Entry], verdict: Verdict) -> dict[str, Any]:
    """Return what result.json tells of the list."""
    first, random = entries[0], {}
    for name, value in first.scores.items():
        values = np.array([entry.scores[name] for entry in entries[1:]])
        # Of redundancy less is better.
        gains = (values - value) * (1 if name == "redundancy" else -1)
        better = int((gains > ROUNDING * np.abs(values)).sum())
        random[name] = {"mean": values.mean(), "min": values.min(), "max": values.max()}
        random[name] |= {"lists": len(values), "better_than": better}
    told = {"features": first.selected, "seed": first.seed, "scores": first.scores, "random_lists": random}
    return told | {"verdict": asdict(verdict)}


def _print(document: dict[str, Any], given: Any, verdict: Verdict) -> None:
    rows = []
    for name, value in document["scores"].items():
        usual = document["random_lists"][name]
        shown = "{mean:.3f} ({min:.3f} to {max:.3f})".format(**usual)
        rows.append([name, f"{value:.3f}", shown, "{better_than} of {lists}".format(**usual)])
    title = f"{counted(len(document['features']), 'feature')} of {given.file.name}"
    output.print_table(title, ["score", "list", "random lists (range)", "better than"], rows, numbers=(1,))
    output.print_verdict(verdict)
    if given.output:
        output.say(f"Results: {given.output}", fold=False)


def listed_features(entry: str) -> tuple[str, ...]:
    """Read a list of features: a saved selector, a file with one a line or a column "feature", or ``a,b,c``."""
    path = Path(entry)
    if not path.is_file() and path.suffix in (".tamis", ".txt", ".csv"):
        raise UsageError(f"{entry}: there is no such file.")
    if path.suffix == ".tamis":
        selector = tamis.load(path)
        return saved_names(selector, selector.selected_)
    if not (names := _from_text(path) if path.is_file() else split([entry])):
        raise UsageError(f"{entry!r} lists no features; pass a,b,c, or a file with one a line.")
    return names


def saved_names(selector: Any, places: Any) -> tuple[str, ...]:
    """Return some names of a saved selector's features; those of nameless data are numbered as the readers do."""
    names = getattr(selector, "feature_names_in_", nameless(selector.n_features_in_))
    return tuple(str(name) for name in names[places])


def _from_text(path: Path) -> tuple[str, ...]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = [row for row in csv.reader(stream) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: is not a list of features, one a line ({error}).") from error
    names = [row[0].strip() for row in lines]
    for place in [place for place, cell in enumerate(lines[0] if lines else ()) if cell in ("feature", "gene")][:1]:
        names = [results.unguarded(row[place]) for row in lines[1:] if len(row) > place]
    return tuple(dict.fromkeys(names))


def check(given: Any) -> None:
    """Print what is read of a file."""
    way = given.reading.missing
    with Bar(given.quiet or given.json) as bar:
        table = fitting.read_with_bar(given.file, given.reading.request(), bar)
        table = fill(table, way) if way not in (None, "keep") else table
    if given.json:
        output.print_json(results.document_of("check", given.file, table, features=table.original_names))
        return
    output.say(f"{given.file.name}: {table.report.headline()}.")
    rows = finding_rows(table.report)
    if table.report.missing_cells and not table.report.filled:
        rows.append(("missing", "missing cells are filled with medians, unless the method takes them", "--missing"))
    if (constant := summarise_columns(table.X).constant).any():
        rows.append(("noticed", f"{listed(table.feature_names[constant])}: one value only, and never chosen", ""))
    if rows:
        output.print_table("What to know about it", ["what", "remark", "option"], rows)
    else:
        output.say("Nothing was assumed, left out or noticed.")


def apply(given: Any) -> None:
    """Write the features of a file that a saved selector chose."""
    with Bar(given.quiet) as bar, recording():
        selector = tamis.load(given.selector)
        only = {"only": saved_names(selector, selector.support_)}
        only["only_of"] = tuple(map(str, selector.selected_groups_))
        path = given.output or Path("{}-selected{}".format(*results.name_parts(given.file)))
        results.check_format(path)
        results.check_outputs([path], [given.selector, given.file], given.force)
        table = fitting.read_with_bar(given.file, given.reading.request(**only), bar)
        reduced = results.reduced_table(table, table.original_names, path)
        write_table(path, reduced, source=given.file, transpose=given.reading.transpose)
    output.print_read(table.report)
    samples, features = (counted(n, what) for n, what in zip(reduced.shape, ("sample", "feature"), strict=True))
    output.say(f"{samples} with {features}: {path}", fold=False)
