"""The commands that score lists and lay several selections side by side: evaluate, curve, compare."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli.options import (
    EXIT_INTERRUPTED,
    File,
    Force,
    Jobs,
    Json,
    Method,
    NoStructureFoundError,
    Quiet,
    Reading,
    Restarts,
    Seed,
    Settings,
    UsageError,
    command,
    parse_settings,
    parse_sizes,
    split,
)

if TYPE_CHECKING:
    from tamis.cli.scoring import Entry

USUAL = ("lscae", "structure-pursuit", "cae", "laplacian-score", "mcfs", "variance", "random")
"""Compared by default, as far as they are there: the quick ones, and what they must beat."""

Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FOLDER", help="Folder for report.html, selections.csv, scores.csv and result.json."
    ),
]


@command
def evaluate(
    file: File,
    features: Annotated[
        str,
        typer.Option("--features", "-f", metavar="LIST", help="selected.csv, selector.tamis, a text file, or a,b,c."),
    ],
    random_lists: Annotated[int, typer.Option("--random", min=1, help="Random lists to compare with.")] = 20,
    resamples: Annotated[int, typer.Option("--resamples", min=1, help="Halves of the samples to score on.")] = 10,
    refits: Annotated[
        int, typer.Option("--refits", min=0, help="Fit a saved selector anew on so many halves, to see what stays.")
    ] = 0,
    seed: Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Folder for selections.csv, scores.csv and result.json."),
    ] = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """Score any list of features, however it was chosen, against random lists of the same size.

    Examples
    --------
    - `tamis evaluate genes.parquet -f genes-tamis/selected.csv`
    - `tamis evaluate cells.h5ad -f CD3D,NKG7,LYZ --labels cell_type`
    - `tamis evaluate genes.parquet -f genes-tamis/selector.tamis --refits 5 --json`
    """
    from tamis.cli.evaluating import Evaluating

    run = Evaluating(file, features, seed, output, reading, quiet or json, force)
    run.go(n_random=random_lists, n_resamples=resamples, refits=refits)
    run.show(json)


@command
def curve(
    file: File,
    k: Annotated[
        str,
        typer.Option("-k", "--sizes", metavar="SIZES", help="5,10,20,50 or 10:50:10; auto fits the table."),
    ] = "auto",
    method: Method = "lscae",
    n_init: Restarts = None,
    seed: Seed = 0,
    settings: Settings = None,
    output: Output = None,
    jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """Choose lists of several sizes, plot their scores, and suggest a size.

    The suggestion is the smallest number of features after which no further one explains a quarter of another
    direction of the structure, on rows held out. Ctrl-C keeps the finished sizes.

    Examples
    --------
    - `tamis curve genes.parquet -k 5,10,20,50,100`
    - `tamis curve cells.h5ad -k 10:50:10 --labels cell_type -o curve`
    """
    sizes = None if k == "auto" else parse_sizes(k)
    plan = None if sizes is None else _plan(method, sizes)
    run = _Several(
        "curve", file, plan, seed, n_init, parse_settings(settings), output, reading, quiet, json, jobs, force
    )
    run.method = method
    run.go()
    run.finish()


def _plan(method: str, sizes: list[int]) -> list[tuple[str, str, int]]:
    return [(f"k = {size}", method, size) for size in sizes]


@command
def compare(
    file: File,
    k: Annotated[int, typer.Option("-k", "--features", min=1, help="How many features.")],
    methods: Annotated[
        str | None, typer.Option("--methods", "-m", metavar="NAMES", help="Methods: a,b,c or all.")
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    output: Output = None,
    jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """Lay several methods side by side: scores, time, and how far they agree.

    Ctrl-C keeps the finished methods.

    Examples
    --------
    - `tamis compare genes.parquet -k 50`
    - `tamis compare cells.h5ad -k 50 --methods lscae,cae,variance --labels cell_type -o comparison`
    """
    plan = [(name, name, k) for name in _methods(methods)]
    run = _Several(
        "compare", file, plan, seed, None, parse_settings(settings), output, reading, quiet, json, jobs, force
    )
    run.go()
    run.finish()


def _methods(text: str | None) -> list[str]:
    from tamis.selectors import SELECTORS

    if text == "all":
        return list(SELECTORS)
    if text is None:
        return [name for name in USUAL if name in SELECTORS.homes]
    wanted = list(dict.fromkeys(split([text])))
    for name in wanted:
        if name not in SELECTORS.homes:
            SELECTORS[name]  # Raises the sentence that names the nearest method.
    return wanted


class _Several:
    """Several selections of one table, one after the other; what is finished is kept when the user interrupts."""

    def __init__(
        self, command_name: str, file: Path, plan: list[tuple[str, str, int]] | None, seed: int, n_init: int | None,
        settings: dict[str, Any], folder: Path | None, reading: Reading, quiet: bool,
        as_json: bool, jobs: int, force: bool,
    ):  # fmt: skip
        from tamis.cli.output import default_folder

        self.command, self.file, self.plan, self.seed = command_name, file, plan or [], seed
        self.method = "lscae"
        self.suggested: int | None = None
        self.n_init, self.settings, self.reading, self.jobs = n_init, settings, reading, jobs
        self.quiet, self.as_json = quiet or as_json, as_json
        self.folder, self.force = folder or default_folder(file, command_name), force
        self.entries: list[Entry] = []
        self.interrupted = False

    def go(self) -> None:
        """Read, fit and score everything, and write it."""
        from tamis.cli import fitting, output, results
        from tamis.io.files import recording
        from tamis.metrics import dense_sample

        with output.output_folder(self.folder), fitting.Bar(self.quiet) as bar:
            bar.stage("Starting")
            names = ("report.html", *results.NAMES)
            output.check_outputs([self.folder / name for name in names], [self.file], self.force)
            read = fitting.read_with_bar(self.file, self.reading.request(), bar)
            if self.plan:
                fitting.size_for(read, max(size for _, _, size in self.plan))
            scored = None if self.reading.missing == "keep" else self.reading.missing
            self.table = fitting.fill_for(read, scored, None)
            fitting.check_rows(self.table)
            if self.command == "curve":
                self._suggest()
            tables = self._tables(read)
            tasks = self._tasks(tables, dense_sample(self.table.X, random_state=self.seed))
            if not self.as_json:
                output.print_read(self._told(tables))
            self._fit_all(tasks, bar)
            with recording():
                self._write()

    def _suggest(self) -> None:
        """Find the number of features that explains the structure, and sizes around it if none were named."""
        from tamis.cli import fitting

        features = len(self.table.original_names)
        try:
            self.suggested = min(fitting.suggested_curve(self.table).k, features)
        except NoStructureFoundError:
            if not self.plan:
                raise
        if not self.plan and self.suggested is not None:
            around = {max(1, self.suggested * factor // 4) for factor in (1, 2, 3, 4, 6, 8)}
            self.plan = _plan(self.method, sorted(size for size in around if size <= features))

    def _tables(self, read: Any) -> dict[str, Any]:
        """Return the table that each method is fitted on: as it was read, or the one filled table that is scored."""
        from tamis.cli import fitting

        way, methods = self.reading.missing, {method for _, method, _ in self.plan}
        keeping = {method for method in methods if way == "keep" or (way is None and fitting.allows_missing(method))}
        return {m: fitting.fill_for(read, "keep", m) if m in keeping else self.table for m in methods}

    def _told(self, tables: dict[str, Any]) -> Any:
        """Return the table whose report is printed; methods that take missing cells are named beside it."""
        from dataclasses import replace

        keeping = [method for method, table in tables.items() if table.report.filled != self.table.report.filled]
        if not keeping:
            return self.table
        filled = f"{self.table.report.filled} (kept for {', '.join(keeping)})"
        return replace(self.table, report=replace(self.table.report, filled=filled))

    def _tasks(self, tables: dict[str, Any], sample: Any) -> list[tuple[Any, ...]]:
        return [
            (name, method, size, tables[method], sample, self.seed, self.n_init, self._own_settings(method))
            for name, method, size in self.plan
        ]

    def _fit_all(self, tasks: list[tuple[Any, ...]], bar: Any) -> None:
        from tamis.cli import fitting, scoring

        with fitting.interruptible("stopping; what is finished is kept. Press Ctrl-C again to quit at once.") as state:
            for entry in scoring.try_all(tasks, bar, state, self.jobs):
                if state.asked:
                    break  # The last fit was cut short, and says nothing about its method.
                self.entries.append(entry)
        self.interrupted = state.asked
        if not self.entries:
            raise KeyboardInterrupt

    def _own_settings(self, method: str) -> dict[str, Any]:
        """Leave out settings of other methods; ``compare`` gives each one those that it knows."""
        import inspect

        from tamis.selectors import SELECTORS

        if self.command != "compare":
            return self.settings
        known = [set(inspect.signature(SELECTORS[name].__init__).parameters) for _, name, _ in self.plan]
        strange = set(self.settings) - set().union(*known)
        if strange:
            raise UsageError(f"none of the methods has a parameter {min(strange)!r}.")
        own = inspect.signature(SELECTORS[method].__init__).parameters
        return {name: value for name, value in self.settings.items() if name in own}

    @property
    def sizes(self) -> list[int]:
        return [size for _, _, size in self.plan[: len(self.entries)]]

    def headings(self) -> list[str]:
        """Return the headings of the table."""
        return ["k" if self.command == "curve" else "method", *self.entries[0].scores, "seconds"]

    def rows(self) -> list[list[str]]:
        """Return the lines of the table."""
        first = [str(size) for size in self.sizes] if self.command == "curve" else [e.name for e in self.entries]
        return [
            [name, *(f"{value:.3f}" for value in entry.scores.values()), f"{entry.seconds:.1f}"]
            for name, entry in zip(first, self.entries, strict=True)
        ]

    def conclusion(self) -> str:
        """Say what follows, in one sentence."""
        if self.command == "curve" and self.suggested is None:
            return "No size is suggested: no feature depends on any other more than chance would have it."
        if self.command == "curve":
            return (
                f"Suggested: k = {self.suggested}; no further feature explains a quarter of another direction of the "
                "structure on rows held out."
            )
        best = min(self.entries, key=lambda entry: entry.scores["J"])
        return f"Smallest J: {best.name}, which explains {100 * best.scores['explained']:.0f}% of the other features."

    def document(self) -> dict[str, Any]:
        """Return everything for JSON."""
        from tamis.cli import results

        suggestion = {"suggested_k": self.suggested} if self.command == "curve" else {}
        kept = {"interrupted": self.interrupted, **suggestion, "entries": self.documents(), "page": str(self.page)}
        return results.document_of(self.command, self.file, self.table, **kept)

    def documents(self) -> list[dict[str, Any]]:
        """Return every selection: method, size, seed, features, scores, those of random lists, and seconds."""
        from tamis.cli.whole_features import original_names

        return [
            {
                "name": entry.name,
                "method": method,
                "k": size,
                "seed": self.seed,
                "selected": original_names(self.table, entry.selected),
                "scores": entry.scores,
                "random": entry.random,
                "seconds": entry.seconds,
            }
            for entry, (_, method, size) in zip(self.entries, self.plan, strict=False)
        ]

    def _write(self) -> None:
        from tamis.cli import results, scoring
        from tamis.report import plots, write_scores

        scores = [entry.scores for entry in self.entries]
        if self.command == "curve":
            figures = plots.score_lines(self.sizes, scores, [entry.random for entry in self.entries])
        else:
            names = [entry.name for entry in self.entries]
            figures = [*plots.score_bars(names, scores), plots.overlap_figure(names, scoring.overlaps(self.entries))]
        results.write_selections(self.folder, self.documents())
        results.write_scores_table(self.folder, self.documents())
        title = f"{self.file.name}: {'several sizes' if self.command == 'curve' else 'several methods'}"
        self.page = write_scores(
            self.folder / "report.html", figures, self.headings(), self.rows(), title=title, lead=self.conclusion()
        )
        results.write_result(self.folder, self.document())

    def finish(self) -> None:
        """Print the result."""
        from tamis.cli import output

        if self.as_json:
            output.print_json(self.document())
        else:
            output.print_table(self.file.name, self.headings(), self.rows(), numbers=range(1, len(self.headings())))
            output.say(self.conclusion())
            output.say(f"Page: {self.page}")
        if self.interrupted:
            raise typer.Exit(EXIT_INTERRUPTED)
