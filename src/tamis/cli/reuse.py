"""``check`` a file; ``apply`` a saved selector to it."""

from pathlib import Path
from typing import Any

import tamis
from tamis.cli import fitting, output, results
from tamis.cli.evaluation import saved_names
from tamis.cli.progress import Bar
from tamis.columns import summarise_columns
from tamis.io.files import recording
from tamis.io.readers.missing import fill
from tamis.io.readers.report import listed
from tamis.io.writers import write_table
from tamis.report import finding_rows


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
    constant = summarise_columns(table.X).constant
    if constant.any():
        rows.append(("noticed", f"{listed(table.feature_names[constant])}: one value only, and never chosen", ""))
    if rows:
        output.print_table("What to know about it", ["what", "remark", "option"], rows)
    else:
        output.say("Nothing was assumed, left out or noticed.")


def apply(given: Any) -> None:
    """Write the features of a file that a saved selector chose."""
    with Bar(given.quiet) as bar, recording():
        selector = tamis.load(given.selector)
        names = [saved_names(selector)[place] for place in selector.get_support(indices=True)]
        path = given.output or Path("{}-selected{}".format(*results.name_parts(given.file)))
        results.check_format(path)
        results.check_outputs([path], [given.selector, given.file], given.force)
        table = fitting.read_with_bar(given.file, given.reading.request(only=tuple(names)), bar)
        reduced = results.reduced_table(table, table.original_names, path)
        write_table(path, reduced, source=given.file, transpose="transpose" in given.reading.options)
    output.print_read(table)
    output.say(f"{reduced.shape[0]} samples with {reduced.shape[1]} features: {path}", fold=False)
