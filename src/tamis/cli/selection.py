"""One run of ``select``: read, fill, fit, analyse, write, print."""

import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tamis.cli import fitting, output, processes, results
from tamis.cli.options import EXIT_INTERRUPTED, Reading, parse_shape
from tamis.cli.progress import Bar, interruptible

if TYPE_CHECKING:
    from tamis.io.readers import Table
    from tamis.report import Analysis
    from tamis.verdict import Verdict

SHOWN = 20
"""So many of the chosen features are printed for a person."""

HEADINGS = ["rank", "feature", "score", "nearest_chosen", "correlation", "predicted", "why", "evidence"]
"""Of selected.csv and features.csv."""


@dataclass
class Selection:
    """One run of ``select``: what was asked for, and, once it is done, what came out."""

    file: Path
    k: int | None
    method: str
    seed: int
    folder: Path
    reading: Reading
    json: bool
    force: bool
    begun: float = field(default_factory=time.monotonic)

    def run(self, bar: Bar, shape: str | None, **lists: Any) -> None:
        """Do everything but print the result; under torchrun, only the first process analyses and writes."""
        with results.output_folder(self.folder) if processes.is_first() else nullcontext():
            results.check_outputs(self.paths.values(), [self.file], self.force)
            read = fitting.read_with_bar(self.file, self.reading.request(), bar)
            self._fit(read, bar, lists)
            if processes.is_first():
                self._analyse(bar)
                self._write(read, parse_shape(shape, self.table.shape[1]))

    @property
    def paths(self) -> dict[str, Path]:
        """The files that are written; what took longest to compute comes first."""
        stem, ending = results.name_parts(self.file)
        names = {"selector": "selector.tamis", "selected": "selected.csv", "features": "features.csv"}
        names |= {"page": "report.html", "reduced": f"{stem}-selected{ending}", "result": "result.json"}
        return {what: self.folder / name for what, name in names.items()}

    def _fit(self, read: "Table", bar: Bar, lists: dict[str, Any]) -> None:
        from tamis.io.writers import check_names

        check_names(self.paths["reduced"], read)
        self.table = fitting.fill_for(read, self.reading.missing, self.method)
        size = fitting.size_for(self.table, self.k)
        bar.stage("Starting")
        unfitted = fitting.make_selector(self.method, size, self.table, self.seed, **lists)
        if not self.json and processes.is_first():
            output.print_read(self.table)
            if self.k is None:
                output.say(
                    f"No -k was given: {size} features are chosen, the fewest that explain the structure of the table; "
                    "tamis curve shows what more would add, and -k asks for another number."
                )
        with interruptible() as state:
            self.selector = fitting.fit(unfitted, self.table, bar, state, size)
        self.stopped = state.asked and hasattr(self.selector, "history_")

    def _analyse(self, bar: Bar) -> None:
        """Analyse the choice; a training that was cut short is never trusted."""
        from tamis.report import analyse
        from tamis.verdict import Verdict

        bar.stage("Analysing the choice")
        # A method may take missing cells; scores need every one.
        self.filled = fitting.fill_for(self.table, None, None)
        structure = getattr(self.selector, "structure_", None)
        self.analysis: Analysis = analyse(self.selector, self.filled, structure, self.seed)
        found: Verdict = self.selector.verdict_
        cut = "Training was stopped early, so that the features are those in the lead at that moment."
        self.verdict = Verdict(False, [cut, *([] if found.trusted else found.reasons)]) if self.stopped else found

    def _write(self, read: "Table", shape: tuple[int, int] | None) -> None:
        from tamis.io.files import recording, write_text
        from tamis.io.writers import write_table
        from tamis.report import write_report
        from tamis.report.features import rows

        self.rows = rows(self.analysis)
        lines = [[r.rank, r.name, r.score, r.nearest, r.correlation, r.predicted, r.why, r.evidence] for r in self.rows]
        chosen, paths = [row.name for row in self.rows[: self.analysis.k]], self.paths
        reduced = results.reduced_table(read, chosen, paths["reduced"])
        page: dict[str, Any] = {"title": self.file.name, "steps": self.steps(), "image_shape": shape}
        with recording():
            self.selector.save(paths["selector"])
            write_text(paths["selected"], results.csv_text(HEADINGS, lines[: len(chosen)]))
            write_text(paths["features"], results.csv_text(HEADINGS, lines))
            write_report(paths["page"], self.selector, self.filled, self.analysis, self.verdict, **page)
            write_table(paths["reduced"], reduced, source=self.file, transpose=read_transposed(self.reading))
            self.document = self._document()
            results.write_result(self.folder, self.document)

    def steps(self) -> list[tuple[str, str]]:
        """Return what to do next: sentences, each with a command or an empty string."""
        return next_steps(self.file, self.paths["selector"], self.verdict, self.analysis.k, self.paths["reduced"])

    def _document(self) -> dict[str, Any]:
        chosen = [{"rank": r.rank, "feature": r.name, "score": r.score} for r in self.rows[: self.analysis.k]]
        return results.document_of(
            "select",
            self.file,
            self.table,
            shape=[self.table.shape[0], len(self.table.original_names)],
            method=self.method,
            k=len(chosen),
            seed=self.seed,
            stopped_early=self.stopped,
            selected=chosen,
            verdict=asdict(self.verdict),
            scores=self.analysis.scores,
            files={name: str(path) for name, path in self.paths.items()},
            seconds=round(time.monotonic() - self.begun, 2),
        )

    def show(self) -> None:
        """Print the result."""
        if self.json:
            output.print_json(self.document)
        else:
            self._print()
        if self.stopped:
            raise typer.Exit(EXIT_INTERRUPTED)

    def _print(self) -> None:
        from tamis.cli.words import in_options

        limit = min(self.analysis.k, SHOWN) if output.is_terminal() else self.analysis.k
        lines = [[str(row.rank), row.name, output.number(row.score), row.why] for row in self.rows[:limit]]
        more = f" (the best {limit} of {self.analysis.k}; all are in {self.paths['selected']})"
        title = f"Chosen features{more if limit < self.analysis.k else ''}"
        output.print_table(title, ["rank", "feature", "score", "why"], lines, numbers=(0, 2))
        output.say(self.verdict.headline + ".", "bold green" if self.verdict.trusted else "bold red")
        for text in self.verdict.reasons:
            output.say(f"• {in_options(text)}")
        for text, command in self.steps():
            output.say(f"{text} {command}".rstrip(), fold=False)
        output.say(f"Page: {self.paths['page']}", fold=False)


def read_transposed(reading: Reading) -> bool:
    """Return whether the file has features in rows."""
    return bool(reading.options.get("transpose"))


def next_steps(
    file: Path, selector: Path, verdict: "Verdict", k: int, reduced: Path | None = None
) -> list[tuple[str, str]]:
    """Return what to do next after a selection: sentences, each with a command or an empty string."""
    from shlex import quote

    table = quote(str(file))
    sizes = ("See what more or fewer features would keep:", f"tamis curve {table}")
    if not verdict.trusted:
        check = ("See whether the file was read as you mean it:", f"tamis check {table}")
        return [check, sizes, ("See what other methods choose:", f"tamis compare {table} -k {k}")]
    go_on = [(f"Go on with {reduced}, the table with these features alone.", "")] if reduced else []
    return [*go_on, ("Take the same features from another file:", f"tamis apply {quote(str(selector))} FILE"), sizes]
