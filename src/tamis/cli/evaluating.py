"""One run of ``evaluate``: read a list and a table, score, print and write."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

from tamis.cli.options import Reading, UsageError
from tamis.io.files import recording


class Evaluating:
    """One run of ``evaluate``; what it finds is kept as attributes until it is shown."""

    def __init__(
        self, file: Path, features: str, seed: int, folder: Path | None, reading: Reading, quiet: bool, force: bool
    ):
        self.file, self.features, self.seed = file, features, seed
        self.folder, self.reading, self.quiet, self.force = folder, reading, quiet, force

    def go(self, *, n_random: int, n_resamples: int, refits: int) -> None:
        """Read, score and write."""
        from tamis.cli import fitting, output, results, scoring

        names, self.selector = scoring.listed_features(self.features)
        if refits and self.selector is None:
            raise UsageError("--refits needs a saved selector (-f selector.tamis), whose method is fitted anew.")
        numbers = {"n_random": n_random, "n_resamples": n_resamples, "refits": refits}
        with output.output_folder(self.folder) if self.folder else nullcontext(), fitting.Bar(self.quiet) as bar:
            bar.stage("Starting")
            if self.folder:
                names_read = [self.file, Path(self.features)]
                output.check_outputs([self.folder / name for name in results.NAMES], names_read, self.force)
            read = fitting.read_with_bar(self.file, self.reading.request(), bar)
            self.table = fitting.fill_for(read, self.reading.missing, None)
            columns = self._columns(names)
            self.found = scoring.evaluate(
                self.table, columns, bar, seed=self.seed, selector=self.selector, **numbers
            )  # fmt: skip
            if self.folder:
                with recording():
                    self._write(self.folder)

    def _columns(self, names: tuple[str, ...]) -> Any:
        """Return the encoded features of the list; ``colour=red`` of a saved selector stands for ``colour``."""
        from tamis.cli.whole_features import original_names
        from tamis.io.readers.roles import originals_of

        columns = self.table.positions(originals_of(names, self.table.original_names), "--features")
        self.names = original_names(self.table, columns)
        return columns

    def document(self) -> dict[str, Any]:
        """Return everything for JSON."""
        from tamis.cli import results

        parts = {"features": self.names, "seed": self.seed, **self.found.document()}
        return results.document_of("evaluate", self.file, self.table, **parts)

    def _write(self, folder: Path) -> None:
        """Write the list, its scores with those of every random list, and everything as JSON."""
        from tamis.cli import results

        start = {"k": len(self.names), "seed": self.seed}
        entries = [{"method": "list", "scores": self.found.scores, **start}]
        for number in range(len(self.found.random["explained"])):
            scores = {name: values[number] for name, values in self.found.random.items()}
            entries.append({"method": f"random list {number + 1}", "scores": scores, **start})
        results.write_selections(folder, [{"method": "list", "selected": self.names, **start}])
        results.write_scores_table(folder, entries)
        results.write_result(folder, self.document())

    def show(self, as_json: bool) -> None:
        """Print the result."""
        from tamis.cli import output

        if as_json:
            output.print_json(self.document())
            return
        output.print_read(self.table)
        headings = ["score", "list", "over halves", "random lists (range)", "better than"]
        output.print_table(f"{len(self.names)} features of {self.file.name}", headings, self.found.rows(), numbers=(1,))
        wins = f"{100 * self.found.wins:.0f}%"
        output.say(f"Stability: on {wins} of halves of the samples, the list explains more than a random one.")
        if self.found.refits is not None:
            output.say(f"Refits on halves overlap by {self.found.refits:.2f} (1: the same features, 0: as by chance).")
        if self.folder:
            output.say(f"Results: {self.folder}")
