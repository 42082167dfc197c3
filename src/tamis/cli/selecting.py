"""One run of ``select``, in its steps: read, fill, fit, look, write."""

import time
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from tamis.cli.options import EXIT_INTERRUPTED, Reading, parse_shape


class Selecting:
    """One run of ``select``; what it finds is kept as attributes until it is shown."""

    def __init__(
        self, file: Path, k: int | None, method: str, seed: int, output: Path | None, shape: str | None,
        reading: Reading, bar: Any, begun: float, quiet_report: bool, force: bool,
    ):  # fmt: skip
        from tamis.cli.output import default_folder

        self.file, self.k, self.method, self.seed, self.shape = file, k, method, seed, shape
        self.folder, self.force = output or default_folder(file, "tamis"), force
        self.reading, self.bar, self.begun, self.quiet_report = reading, bar, begun, quiet_report

    def go(self, keep: tuple[str, ...], never: tuple[str, ...], n_init: int | None, settings: dict[str, Any]) -> None:
        """Do everything but print the result."""
        from tamis.cli import fitting, output, processes
        from tamis.io.writers import check_names

        with output.output_folder(self.folder) if processes.is_first() else nullcontext():
            paths = output.selection_paths(self.folder, self.file)
            output.check_outputs(paths.values(), [self.file], self.force)
            self.read = fitting.read_with_bar(self.file, self.reading.request(), self.bar)
            check_names(paths["reduced"], self.read)
            self.table = fitting.fill_for(self.read, self.reading.missing, self.method)
            shape = parse_shape(self.shape, self.table.shape[1])
            size = fitting.size_for(self.table, self.k)
            self.bar.stage("Starting")
            lists: dict[str, Any] = {"keep": keep, "never": never, "n_init": n_init, "settings": settings}
            unfitted = fitting.make_selector(self.method, size, self.table, self.seed, **lists)
            self._say_what_was_read(size)
            with fitting.interruptible() as state:
                self.selector = fitting.fit(unfitted, self.table, self.bar, state, k=size)
            self.stopped = fitting.stopped_early(self.selector, state)
            if processes.is_first():
                self._look_and_write(shape)

    def _say_what_was_read(self, size: int) -> None:
        from tamis.cli import output, processes

        if self.quiet_report or not processes.is_first():
            return
        output.print_read(self.table)
        if self.k is None:
            output.say(
                f"No -k was given: {size} features are chosen, the fewest that explain the structure of the table; "
                "tamis curve shows what more would add, and -k asks for another number."
            )

    def _look_and_write(self, shape: tuple[int, int] | None) -> None:
        from tamis.cli import fitting, output, results
        from tamis.io.files import recording
        from tamis.report import analyse

        self.bar.stage("Looking at the choice")
        # A method may take missing cells; scores need every one.
        scored = fitting.fill_for(self.table, None, None)
        analysis = analyse(self.selector, scored.X, scored.y, self.seed)
        self.verdict, self.scores = self._verdict(), analysis.scores
        self.bar.stage("Writing")
        with recording():
            self.files = output.write_selection(
                self.folder, self.file, self.selector, (self.read, scored), analysis, self.verdict,
                transpose=self.reading.transpose, image_shape=shape,
            )  # fmt: skip
            results.write_result(self.folder, self._document())

    def _verdict(self) -> Any:
        """Return the verdict; a training that was cut short is never trusted."""
        from tamis.verdict import Verdict

        found = self.selector.verdict_
        if not self.stopped:
            return found
        cut = "Training was stopped early, so that the features are those in the lead at that moment."
        return Verdict(False, [cut, *([] if found.trusted else found.reasons)])

    def show(self, as_json: bool) -> None:
        """Print the result."""
        from tamis.cli import output

        if as_json:
            output.print_json(self._document())
        else:
            output.print_selection(self.selector, self.table, self.verdict, self.files)
        if self.stopped:
            raise typer.Exit(EXIT_INTERRUPTED)

    def _document(self) -> dict[str, Any]:
        from tamis.cli import results
        from tamis.cli.whole_features import original_names, original_scores

        scores = original_scores(self.selector, self.table)
        chosen = original_names(self.table, self.selector.selected_)
        return results.document_of(
            "select",
            self.file,
            self.table,
            shape=[self.table.shape[0], len(self.table.original_names)],
            method=self.method,
            k=len(chosen),
            seed=self.seed,
            stopped_early=self.stopped,
            selected=[{"rank": i, "feature": name, "score": scores[name]} for i, name in enumerate(chosen, start=1)],
            verdict=asdict(self.verdict),
            scores=self.scores,
            files=self.files,
            seconds=round(time.monotonic() - self.begun, 2),
        )
