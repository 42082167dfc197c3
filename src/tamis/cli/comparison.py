"""Several selections of one table: ``curve`` over sizes, ``compare`` over methods."""

import time
from dataclasses import replace
from itertools import product
from typing import Any

import typer

from tamis.cli import fitting, output, results
from tamis.cli import options as o
from tamis.cli.progress import Bar, interruptible
from tamis.io.files import recording
from tamis.io.readers import ReadReport, Table
from tamis.metrics import dense_sample
from tamis.report import Entry, write_comparison
from tamis.report.analysis import owners, scored
from tamis.selectors import SELECTORS
from tamis.verdict import structure_of

USUAL = ("lscae", "structure-pursuit", "cae", "laplacian-score", "mcfs", "variance", "random")
"""Compared by default: the quick ones, and what they must beat."""

RANDOM_LISTS = 3


def curve(given: Any) -> None:
    """Choose lists of several sizes."""
    sizes = [] if given.k == "auto" else o.parse_sizes(given.k)
    _Comparison("curve", given, [given.method], sizes).run()


def compare(given: Any) -> None:
    """Choose lists by several methods."""
    methods = SELECTORS if given.methods == "all" else dict.fromkeys(o.split([given.methods or ",".join(USUAL)]))
    for name in methods:
        SELECTORS[name]  # Raises the sentence that names the nearest method.
    _Comparison("compare", given, list(methods), [given.k]).run()


class _Comparison:
    """Several selections, one after the other; what is finished is kept when the user interrupts."""

    def __init__(self, command: str, given: Any, methods: list[str], sizes: list[int]) -> None:
        self.command, self.given, self.methods, self.sizes = command, given, methods, sizes
        self.settings, self.seed = o.parse_settings(given), given.seed
        self.folder = given.output or results.default_folder(given.file, command)
        self.suggested: int | None = None
        self.entries: list[Entry] = []

    def run(self) -> None:
        """Read, fit and score everything, write and print it."""
        given, way = self.given, self.given.reading.missing
        with results.output_folder(self.folder), Bar(given.quiet or given.json) as bar:
            paths = [self.folder / name for name in ("report.html", *results.NAMES)]
            results.check_outputs(paths, [given.file], given.force)
            read = fitting.read_with_bar(given.file, given.reading.request(), bar)
            if self.sizes:
                fitting.size_for(read, max(self.sizes))
            self.table = fitting.fill_for(read, None if way == "keep" else way, None)
            fitting.check_rows(self.table)
            tables, settings = self._tables(read), {method: self._own_settings(method) for method in self.methods}
            if self.command == "curve":
                self._suggest(tables[self.given.method])
            if not given.json:
                output.print_read(self._told(tables))
            self._fit_all(tables, settings, bar)
            with recording():
                self._write()
        self._show()

    def _suggest(self, table: Table) -> None:
        """Find the number of features that explains the structure, and sizes around it if none were named."""
        try:
            self.suggested = fitting.size_for(table)
        except o.NoStructureFoundError:
            if not self.sizes:
                raise
        if not self.sizes and self.suggested is not None:
            around = {max(1, self.suggested * factor // 4) for factor in (1, 2, 3, 4, 6, 8)}
            self.sizes = sorted(size for size in around if size <= len(self.table.original_names))

    def _tables(self, read: Table) -> dict[str, Table]:
        """Return the table of each method; those that take missing cells get it as it was read."""
        way = self.given.reading.missing
        keeping = {m for m in self.methods if way == "keep" or (way is None and fitting.allows_missing(m))}
        return {m: fitting.fill_for(read, "keep", m) if m in keeping else self.table for m in self.methods}

    def _own_settings(self, method: str) -> dict[str, Any]:
        """Return the settings that a method knows; ``compare`` passes each one its own."""
        if self.command == "curve":
            return self.settings
        known = {name: set[str]().union(*fitting.settable(name)) for name in self.methods}
        if strange := set(self.settings) - set().union(*known.values()):
            raise o.UsageError(f"none of the methods has a parameter {min(strange)!r}; leave --set {min(strange)} out.")
        return {name: value for name, value in self.settings.items() if name in known[method]}

    def _told(self, tables: dict[str, Table]) -> ReadReport:
        """Return the report that is printed; methods that take missing cells are named beside it."""
        report = self.table.report
        keeping = [method for method, table in tables.items() if table.report.filled != report.filled]
        return replace(report, filled=f"{report.filled} (kept for {', '.join(keeping)})") if keeping else report

    def _fit_all(self, tables: dict[str, Table], settings: dict[str, Any], bar: Bar) -> None:
        sample = dense_sample(self.table.X, random_state=self.seed)
        structure = structure_of(sample.Z, owners(self.table))
        with interruptible("stopping; what is finished is kept. Press Ctrl-C again to quit at once.") as state:
            for method, k in product(self.methods, self.sizes):
                begun = time.monotonic()
                unfitted = fitting.make_selector(method, k, tables[method], self.seed, settings=settings[method])
                selected = fitting.fit(unfitted, tables[method], bar, state, f"{method}, k = {k}").selected_
                seconds = time.monotonic() - begun
                if state.asked:
                    break  # The last fit was cut short, and says nothing about its method.
                scores, random = scored(sample, selected, self.table, structure, RANDOM_LISTS, self.seed)
                name = f"k = {k}" if self.command == "curve" else method
                names = self.table.names_of(selected)
                self.entries.append(Entry(name, method, k, self.seed, names, scores, random, seconds))
        self.interrupted = state.asked
        if not self.entries:
            raise KeyboardInterrupt

    def conclusion(self) -> str:
        """Return what follows, in one sentence."""
        if self.command == "curve" and self.suggested is None:
            return "No size is suggested: apart from near copies, no feature depends on another more than by chance."
        if self.command == "curve":
            return f"Suggested: k = {self.suggested}. A further feature would add little that these do not tell."
        best = max(self.entries, key=lambda entry: entry.scores["explained"])
        return f"The list of {best.name} explains most: {best.scores['explained']:.0%} of the structure."

    def _write(self) -> None:
        results.write_lists(self.folder, self.entries)
        start = (self.suggested or self.sizes[0]) if self.command == "curve" else None
        words: dict[str, Any] = {"title": self.given.file.name, "lead": self.conclusion(), "read": self.table.report}
        self.page = write_comparison(self.folder / "report.html", self.entries, **words, start=start)
        suggestion = {"suggested_k": self.suggested} if self.command == "curve" else {}
        kept = {"interrupted": self.interrupted, **suggestion, "entries": [entry._asdict() for entry in self.entries]}
        self.document = results.document_of(self.command, self.given.file, self.table, **kept, page=str(self.page))
        results.write_result(self.folder, self.document)

    def _show(self) -> None:
        """Print the result."""
        if self.given.json:
            output.print_json(self.document)
        else:
            headings = ["k" if self.command == "curve" else "method", *self.entries[0].scores, "seconds"]
            names = [str(entry.k) if self.command == "curve" else entry.name for entry in self.entries]
            scores = [[f"{value:.3f}" for value in entry.scores.values()] for entry in self.entries]
            rows = [[n, *s, f"{e.seconds:.1f}"] for n, s, e in zip(names, scores, self.entries, strict=True)]
            output.print_table(self.given.file.name, headings, rows, numbers=range(1, len(headings)))
            output.say(self.conclusion())
            output.say(f"Page: {self.page}", fold=False)
        if self.interrupted:
            raise typer.Exit(o.EXIT_INTERRUPTED)
