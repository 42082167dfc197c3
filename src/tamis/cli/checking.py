"""``check``: what is read of a file, and the option that mends each problem, without a fit."""

from typing import TYPE_CHECKING

from tamis.cli.options import File, Json, Quiet, Reading, command

if TYPE_CHECKING:
    from tamis.io.readers.report import Finding


@command
def check(
    file: File,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """Say what is read of a table: rows, features by kind, what is left out and why, and what is assumed.

    Every remark comes with the option that changes it. Nothing is fitted and nothing is written.

    Examples
    --------
    - `tamis check survey.csv`
    - `tamis check sales.xlsx --sheet 2024 --decimal ,`
    - `tamis check survey.csv --json`
    """
    from tamis.cli import fitting, output, results
    from tamis.io.readers.missing import fill
    from tamis.io.readers.report import ASSUMED, LEFT_OUT, NOTICED, merged

    order = (NOTICED, LEFT_OUT, ASSUMED)
    with fitting.Bar(quiet or json) as bar:
        bar.stage("Starting")
        table = fitting.read_with_bar(file, reading.request(), bar)
        if reading.missing not in (None, "keep"):
            table = fill(table, reading.missing)
    if json:
        output.print_json(results.document_of("check", file, table, features=table.original_names))
        return
    output.say(f"{file.name}: {table.report.headline()}.")
    rows = [_row(finding) for finding in sorted(merged(table.report.findings), key=lambda one: order.index(one.kind))]
    if table.report.missing_cells and not table.report.filled:
        rows.append(["missing", "missing cells are filled with medians, unless the method takes them", "--missing"])
    if rows:
        output.print_table("What to know about it", ["what", "remark", "option"], rows)
    else:
        output.say("Nothing was assumed, left out or noticed.")


def _row(finding: "Finding") -> list[str]:
    from tamis.io.readers.report import LEFT_OUT, listed

    if finding.kind == LEFT_OUT:
        return [finding.kind, f"{listed(finding.features)}: {finding.text}", finding.option]
    where = f" in {listed(finding.features)}" if finding.features else ""
    return [finding.kind, finding.text + where, finding.option]
