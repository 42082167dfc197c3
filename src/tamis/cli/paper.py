"""The commands that reproduce the paper: ``tamis paper``."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli.options import Quiet, UsageError, command, complain, split

if TYPE_CHECKING:
    from tamis.paper.runner import Outcome, Run

app = typer.Typer(
    help="Run the paper's experiments, and draw its figures and tables.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

RESULTS, QUICK_RESULTS = Path("paper-results"), Path("paper-results-quick")
Results = Annotated[
    Path | None,
    typer.Option(
        "--results", metavar="FOLDER", help="Folder of the rows; by default paper-results, or paper-results-quick."
    ),
]
QuickRun = Annotated[bool, typer.Option("--quick", help="Few and small trials that need no data; for a first look.")]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="FOLDER", envvar="TAMIS_DATA", help="Folder with local copies of the data sets."
    ),
]
Figures = Annotated[
    Path | None, typer.Option("--figures", metavar="FOLDER", help="Folder of the figures; by default in the results.")
]


@app.command("list")
@command
def list_experiments(results: Results = None, quick: QuickRun = False, data_dir: DataDir = None) -> None:
    """List the experiments with their progress, and the data sets with where they are.

    Examples
    --------
    - `tamis paper list`
    - `tamis paper list --data-dir data --results docs/paper/results`
    """
    from tamis.cli.output import print_table
    from tamis.paper.catalogue import experiments
    from tamis.paper.datasets import is_here, using_folder
    from tamis.paper.runner import Run
    from tamis.paper.sources import DATASETS

    folder = _folder(results, quick)
    lines = []
    for one in experiments():
        run = Run(one.id, folder, quick)
        wanted = run.trials()
        lines.append([one.id, one.title, f"{len(wanted) - len(run.ledger.missing(wanted))} of {len(wanted)}"])
    print_table(f"Experiments; trials done in {folder}", ["id", "what", "done"], lines)
    with using_folder(data_dir):
        sets = [[d.name, d.printed or "–", "yes" if is_here(d.name) else "no", d.licence, d.note] for d in DATASETS]
    print_table("Data sets", ["name", "in the paper", "here", "licence", "note"], sets)


@app.command()
@command
def run(
    experiment: Annotated[
        str, typer.Argument(metavar="ID", help="An experiment that `tamis paper list` names, or all.")
    ],
    data_dir: DataDir = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Trials at a time; -1 takes all cores.")] = 1,
    quick: QuickRun = False,
    results: Results = None,
    data: Annotated[str | None, typer.Option("--data", metavar="NAMES", help="Only these data sets: a,b.")] = None,
    methods: Annotated[str | None, typer.Option("--methods", metavar="NAMES", help="Only these methods: a,b.")] = None,
    backend: Annotated[str, typer.Option("--backend", help="local, dask or ray.")] = "local",
    address: Annotated[str | None, typer.Option("--address", help="Of a running Dask or Ray cluster.")] = None,
    quiet: Quiet = False,
) -> None:
    """Do the trials of an experiment that have no row yet; each row is written as its trial ends.

    A run that was stopped, in whatever way, goes on where it was. Data sets that are not there are passed over.

    Examples
    --------
    - `tamis paper run fig-chi --jobs -1`
    - `tamis paper run table-results --data-dir data --methods laplacian-score,mcfs --data Yale,ALLAML`
    - `tamis paper run all --quick`
    - `tamis paper run table-results --backend dask --address tcp://head:8786`
    """
    from tamis.paper.backends import cluster
    from tamis.paper.catalogue import HOMES
    from tamis.paper.runner import Run

    if jobs == 0:
        raise UsageError("--jobs takes a number of trials at a time, or -1 for all cores; got 0.")
    if data_dir is not None and not data_dir.is_dir():
        raise UsageError(f"{data_dir}: there is no such folder; --data-dir takes the folder with the data sets.")
    choose, where, failed = _chooser(data, methods), cluster(backend, address), 0
    for name in HOMES if experiment == "all" else [experiment]:
        one = Run(name, _folder(results, quick), quick, data_dir, jobs, where, choose)
        failed += _run_with_bar(one, quiet)
    if failed:
        raise typer.Exit(1)


def _chooser(data: str | None, methods: str | None) -> Any:
    """Give the test of a trial that the options make; a trial without data or method passes."""
    from tamis.paper.datasets import dataset
    from tamis.selectors import SELECTORS

    names = {dataset(name).name for name in split([data])} if data else None
    wanted = set(split([methods])) if methods else None
    for name in wanted or ():
        if name != "lscae-paper":
            SELECTORS[name]  # Raises the sentence that names the nearest method.

    def choose(trial: dict[str, Any]) -> bool:
        in_data = names is None or trial.get("data", next(iter(names))) in names
        return in_data and (wanted is None or trial.get("method", next(iter(wanted))) in wanted)

    return choose


def _run_with_bar(one: "Run", quiet: bool) -> int:
    """Do a run; say what was passed over, and give the number of trials that failed."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    wanted = one.trials()
    missing = len(one.ledger.missing(wanted))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    skipped: dict[str, None] = {}
    failures: list[Outcome] = []
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=quiet) as progress:
        bar = progress.add_task(one.id, total=len(wanted), completed=len(wanted) - missing)
        for outcome in one.go():
            progress.advance(bar)
            if outcome.lacks_data:
                skipped[outcome.problem] = None
            elif outcome.row is None:
                failures.append(outcome)
    for sentence in skipped:
        complain(f"passed over: {sentence}")
    for outcome in failures:
        complain(f"{one.id} {outcome.trial}: {outcome.problem}")
    left = len(one.ledger.missing(wanted))
    print(f"{one.id}: {missing - left} new row(s), {len(wanted) - left} of {len(wanted)} done in {one.ledger.path}")
    return len(failures)


@app.command()
@command
def fetch(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Data sets that `tamis paper list` names.")],
    quiet: Quiet = False,
) -> None:
    """Download data sets into the cache folder (TAMIS_CACHE, by default ~/.cache/tamis), and check them.

    Examples
    --------
    - `tamis paper fetch Yale GISETTE`
    """
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from tamis.paper.fetching import fetch as download
    from tamis.paper.fetching import public_sources

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    for name in names:
        public_sources(name)  # A mistake shows before hours of downloading.
    for name in names:
        with Progress(*columns, console=Console(stderr=True), disable=quiet) as progress:
            bar = progress.add_task(name, total=None)
            paths = download(name, partial(_move, progress, bar))
        for path in paths:
            print(path)


def _move(progress: Any, bar: Any, done: int, total: int) -> None:
    progress.update(bar, completed=done, total=total or None)


@app.command()
@command
def figures(results: Results = None, quick: QuickRun = False, folder: Figures = None) -> None:
    """Draw the figures of all experiments that have rows, as SVG and PNG.

    Examples
    --------
    - `tamis paper figures --results docs/paper/results --figures docs/images/paper`
    """
    from tamis.paper.page import draw_all

    kept = _folder(results, quick)
    draw_all(kept, folder or kept / "figures")


@app.command()
@command
def tables(
    results: Results = None,
    quick: QuickRun = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Also write CSV files.")
    ] = None,
) -> None:
    """Print the tables of all experiments that have rows, as Markdown.

    Examples
    --------
    - `tamis paper tables`
    - `tamis paper tables --results docs/paper/results -o tables`
    """
    from tamis.cli.output import csv_text, output_folder
    from tamis.files import write_text
    from tamis.paper.page import all_tables

    made = all_tables(_folder(results, quick))
    for table in made:
        print(f"{table.title}:\n\n{table.markdown()}\n")
    if output is not None:
        with output_folder(output):
            for table in made:
                print(write_text(output / f"{table.name}.csv", csv_text(table.headings, table.rows)))


@app.command()
@command
def page(
    results: Results = None,
    quick: QuickRun = False,
    folder: Figures = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The page; by default in the results.")
    ] = None,
) -> None:
    """Write one Markdown page of all experiments: figures, our numbers, printed numbers, and how they agree.

    Examples
    --------
    - `tamis paper page --results docs/paper/results --figures docs/images/paper -o docs/paper.md`
    """
    from tamis.paper.page import write_page

    kept = _folder(results, quick)
    print(write_page(kept, folder or kept / "figures", output or kept / "paper.md"))


def _folder(results: Path | None, quick: bool) -> Path:
    return results or (QUICK_RESULTS if quick else RESULTS)
