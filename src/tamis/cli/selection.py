"""``select``: read, fill, fit, analyse, write, print."""

import time
from contextlib import nullcontext
from dataclasses import asdict
from shlex import quote
from typing import Any

import typer

from tamis.cli import fitting, output, processes, results
from tamis.cli.options import EXIT_INTERRUPTED, UsageError, parse_k, parse_settings, parse_shape, split
from tamis.cli.progress import Bar, interruptible
from tamis.io.files import recording, write_text
from tamis.io.readers import Table
from tamis.io.writers import check_names, write_table
from tamis.reprs import counted
from tamis.selectors import SELECTORS

SHOWN = 20
"""So many of the chosen features are printed for a person."""

HEADINGS = ["rank", "feature", "score", "nearest_chosen", "correlation", "predicted", "why", "evidence"]
"""Of selected.csv and features.csv."""


def select(given: Any) -> None:
    """Choose features and write them; under torchrun, only the first process analyses, writes and prints."""
    run, first = _Selection(given), processes.is_first()
    with Bar(given.quiet or given.json or not first) as bar, processes.together():
        SELECTORS[given.method]  # Raises the sentence that names the nearest method.
        with results.output_folder(run.folder) if first else nullcontext():
            results.check_outputs(run.paths.values(), [given.file], given.force)
            read = fitting.read_with_bar(given.file, given.reading.request(), bar)
            run.fit(read, bar)
            if first:
                run.analyse(bar)
                run.write(read)
    if first:
        run.show()


class _Selection:
    """One run of ``select``: what was asked for, and, once it is done, what came out."""

    def __init__(self, given: Any) -> None:
        self.given, self.begun, self.k = given, time.monotonic(), parse_k(given.k)
        self.folder = given.output or results.default_folder(given.file, "tamis")
        names = {"selector": "selector.tamis", "selected": "selected.csv", "features": "features.csv"}
        names |= {"page": "report.html", "reduced": "{}-selected{}".format(*results.name_parts(given.file))}
        self.paths = {what: self.folder / name for what, name in (names | {"result": "result.json"}).items()}

    def fit(self, read: Table, bar: Bar) -> None:
        """Fill missing cells if the method needs it, find out how many features to choose, and fit."""
        given = self.given
        check_names(self.paths["reduced"], read)
        self.table = fitting.fill_for(read, given.reading.missing, given.method)
        if given.image_shape and self.table.groups is not None:
            raise UsageError("--image-shape takes a table of pixels, and this one holds categories; leave it out.")
        self.shape = parse_shape(given.image_shape, self.table.shape[1])
        shown = not given.json and processes.is_first()
        if shown:
            output.print_read(self.table.report)
        size = fitting.size_for(self.table, self.k)
        bar.stage("Starting")
        lists: dict[str, Any] = {"keep": split(given.must_keep), "never": split(given.never)}
        settings = parse_settings(given)
        unfitted = fitting.make_selector(given.method, size, self.table, given.seed, settings=settings, **lists)
        if shown and self.k is None:
            chosen = f"{counted(size, 'feature')} {'is' if size == 1 else 'are'} chosen"
            fewest = f"{chosen}, the fewest that explain the structure of the table"
            more = "tamis curve shows what more would add, and -k asks for another number"
            output.say(f"No -k was given: {fewest}; {more}.")
        with interruptible() as state:
            self.selector = fitting.fit(unfitted, self.table, bar, state)
        self.stopped = state.asked and hasattr(self.selector, "history_")

    def analyse(self, bar: Bar) -> None:
        """Analyse the choice; a training that was cut short is never trusted."""
        from tamis.report.analysis import analyse, rows
        from tamis.verdict import Verdict

        bar.stage("Analysing the choice")
        # A method may take missing cells; scores need every one.
        self.filled = fitting.fill_for(self.table, None, None)
        structure = getattr(self.selector, "structure_", None)
        self.analysis = analyse(self.selector, self.filled, structure, self.given.seed)
        found = self.selector.verdict_
        cut = "Training was stopped early, so that the features are those in the lead at that moment."
        self.verdict = Verdict(False, [cut, *([] if found.trusted else found.reasons)]) if self.stopped else found
        self.rows = rows(self.analysis)
        self.chosen = self.rows[: self.analysis.k]
        self.steps = self._next_steps()

    def write(self, read: Table) -> None:
        """Write all files, each in one piece; what took longest to compute comes first."""
        from tamis.report import write_report

        given, paths = self.given, self.paths
        lines = [[r.rank, r.name, r.score, r.nearest, r.correlation, r.predicted, r.why, r.evidence] for r in self.rows]
        reduced = results.reduced_table(read, [row.name for row in self.chosen], paths["reduced"])
        page: dict[str, Any] = {"title": given.file.name, "steps": self.steps, "image_shape": self.shape}
        with recording():
            self.selector.save(paths["selector"])
            write_text(paths["selected"], results.csv_text(HEADINGS, lines[: len(self.chosen)]))
            write_text(paths["features"], results.csv_text(HEADINGS, lines))
            write_report(paths["page"], self.selector, self.filled, self.analysis, self.verdict, **page)
            write_table(paths["reduced"], reduced, source=given.file, transpose=given.reading.transpose)
            self.document = self._document()
            results.write_result(self.folder, self.document)

    def _document(self) -> dict[str, Any]:
        given, table = self.given, self.table
        chosen = [{"rank": row.rank, "feature": row.name, "score": row.score} for row in self.chosen]
        asked = {"shape": [table.shape[0], len(table.original_names)], "method": given.method, "k": len(chosen)}
        asked |= {"seed": given.seed, "stopped_early": self.stopped, "selected": chosen}
        found = {"verdict": asdict(self.verdict), "scores": self.analysis.scores}
        files = {name: str(path) for name, path in self.paths.items()}
        seconds = round(time.monotonic() - self.begun, 2)
        return results.document_of("select", given.file, table, **asked, **found, files=files, seconds=seconds)

    def show(self) -> None:
        """Print the result."""
        if self.given.json:
            output.print_json(self.document)
        else:
            shown = self.chosen[:SHOWN] if output.is_terminal() else self.chosen
            rows = [[str(row.rank), row.name, output.number(row.score), row.why] for row in shown]
            more = f" (the best {len(shown)} of {len(self.chosen)}; all are in {self.paths['selected']})"
            title = f"Chosen features{more if len(shown) < len(self.chosen) else ''}"
            output.print_table(title, ["rank", "feature", "score", "why"], rows, numbers=(0, 2))
            output.print_verdict(self.verdict)
            for step in self.steps:
                output.say(" ".join(step).rstrip(), fold=False)
            output.say(f"Page: {self.paths['page']}", fold=False)
        if self.stopped:
            raise typer.Exit(EXIT_INTERRUPTED)

    def _next_steps(self) -> list[tuple[str, str]]:
        """Return what to do next: sentences, each with a command or an empty string."""
        table, flags = quote(str(self.given.file)), self.given.reading.flags()
        sizes = ("See what more or fewer features would keep:", f"tamis curve {table}{flags}")
        if not self.verdict.trusted:
            check = ("See whether the file was read as you mean it:", f"tamis check {table}{flags}")
            other = f"tamis compare {table} -k {len(self.chosen)}{flags}"
            return [check, sizes, ("See what other methods choose:", other)]
        go_on = (f"Go on with {self.paths['reduced']}, the table with these features alone.", "")
        apply = f"tamis apply {quote(str(self.paths['selector']))} FILE"
        return [go_on, ("Take the same features from another file:", apply), sizes]
