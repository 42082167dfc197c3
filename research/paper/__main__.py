"""The commands that reproduce the paper: ``python -m research.paper list|run|fetch|figures|tables|page``."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from research.commands import data_option, jobs_option, listed, run_command
from research.data import using_folder
from research.ledger import Row, Trial
from research.paper.backends import BACKENDS, cluster
from research.paper.catalogue import HOMES, experiments
from research.paper.datasets import dataset, is_here
from research.paper.fetching import fetch, public_sources
from research.paper.fits import PRESETS
from research.paper.page import all_tables, draw_all, write_page
from research.paper.run import Run
from research.paper.sources import DATASETS
from research.runner import report
from tamis import SELECTORS
from tamis.io.files import write_text

ROOT = Path(__file__).parents[2]
RESULTS, QUICK_RESULTS = Path(__file__).with_name("results"), ROOT / "build" / "paper-quick"
FIGURES, PAGE = ROOT / "docs" / "images" / "paper", ROOT / "docs" / "paper.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return run_command(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m research.paper", description=__doc__)
    commands = parser.add_subparsers(required=True)
    rows = argparse.ArgumentParser(add_help=False)
    rows.add_argument("--results", type=Path, metavar="FOLDER", help="folder of the rows")
    rows.add_argument("--quick", action="store_true", help="few and small trials that need no data")
    figures = argparse.ArgumentParser(add_help=False)
    figures.add_argument("--figures", type=Path, metavar="FOLDER", help="folder of the figures")
    one = commands.add_parser("list", parents=[rows, data_option()], help="list experiments and data sets")
    one.set_defaults(command=_list)
    _add_run(commands.add_parser("run", parents=[rows, data_option(), jobs_option()], help="run what has no row yet"))
    one = commands.add_parser("fetch", help="download data sets into TAMIS_CACHE, by default ~/.cache/tamis")
    one.set_defaults(command=_fetch)
    one.add_argument("names", nargs="+", metavar="NAME")
    one = commands.add_parser("figures", parents=[rows, figures], help="draw the figures, as SVG and PNG")
    one.set_defaults(command=_figures)
    one = commands.add_parser("tables", parents=[rows], help="print the tables, as Markdown")
    one.set_defaults(command=_tables)
    one.add_argument("--output", "-o", type=Path, metavar="FOLDER", help="also write CSV files")
    one = commands.add_parser("page", parents=[rows, figures], help="write the page of all experiments")
    one.set_defaults(command=_page)
    one.add_argument("--output", "-o", type=Path, metavar="FILE", help="the page")
    return parser


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=_run)
    parser.add_argument("experiment", metavar="ID", help="an experiment that `list` names, or all")
    parser.add_argument("--data", metavar="NAMES", help="only these data sets: a,b")
    parser.add_argument("--methods", metavar="NAMES", help="only these methods: a,b")
    parser.add_argument("--backend", default="local", help=", ".join(BACKENDS))
    parser.add_argument("--address", help="of a running Dask or Ray cluster")
    parser.add_argument("--quiet", "-q", action="store_true", help="no line per row")


def _list(options: argparse.Namespace) -> int:
    folder = _results(options)
    print(f"Experiments; trials with a row in {folder}")
    for one in experiments():
        run = Run(one.id, folder, options.quick)
        wanted = run.trials()
        print(f"  {one.id}: {one.title}, {len(wanted) - len(run.ledger.missing(wanted))} of {len(wanted)}")
    print("Data sets")
    with using_folder(options.data_dir):
        for data in DATASETS:
            place = "here" if is_here(data.name) else "not here"
            print(f"  {data.name}: {place}; {data.licence}" + (f"; {data.note}" if data.note else ""))
    return 0


def _run(options: argparse.Namespace) -> int:
    choose, where = _chooser(options.data, options.methods), cluster(options.backend, options.address)
    failed = 0
    for name in HOMES if options.experiment == "all" else [options.experiment]:
        run = Run(name, _results(options), options.quick, options.data_dir, options.jobs, where, choose)
        wanted = run.trials()
        before = len(run.ledger.missing(wanted))
        failed += report(run.go(), None if options.quiet else _describe)
        left = len(run.ledger.missing(wanted))
        print(f"{name}: {before - left} new rows, {len(wanted) - left} of {len(wanted)} in {run.ledger.path}")
    return 1 if failed else 0


def _chooser(data: str | None, methods: str | None) -> Callable[[Trial], bool]:
    """Return the test of a trial that the options make; a trial without data or method passes."""
    names = {dataset(name).name for name in listed(data)}
    wanted = set(listed(methods))
    for name in wanted - set(PRESETS):
        SELECTORS[name]  # Raises the sentence that names the nearest method.

    def choose(trial: Trial) -> bool:
        in_data = not names or trial.get("data", next(iter(names))) in names
        return in_data and (not wanted or trial.get("method", next(iter(wanted))) in wanted)

    return choose


def _describe(row: Row) -> str:
    return f"{' '.join(str(value) for value in row['trial'].values())} ({row['seconds']:.1f} s)"


def _fetch(options: argparse.Namespace) -> int:
    for name in options.names:
        public_sources(name)  # A mistake shows before hours of downloading.
    for name in options.names:
        for path in fetch(name):
            print(path)
    return 0


def _figures(options: argparse.Namespace) -> int:
    draw_all(_results(options), _figures_folder(options))
    return 0


def _tables(options: argparse.Namespace) -> int:
    for table in all_tables(_results(options)):
        print(f"{table.title}:\n\n{table.markdown()}\n")
        if options.output is not None:
            options.output.mkdir(parents=True, exist_ok=True)
            print(write_text(options.output / f"{table.name}.csv", table.csv()))
    return 0


def _page(options: argparse.Namespace) -> int:
    kept = _results(options)
    default = PAGE if kept == RESULTS else kept / "paper.md"
    print(write_page(kept, _figures_folder(options), options.output or default))
    return 0


def _results(options: argparse.Namespace) -> Path:
    return options.results or (QUICK_RESULTS if options.quick else RESULTS)


def _figures_folder(options: argparse.Namespace) -> Path:
    """Return where figures go: those of the kept rows into the docs, others beside their rows."""
    kept = _results(options)
    return options.figures or (FIGURES if kept == RESULTS else kept / "figures")


if __name__ == "__main__":
    sys.exit(main())
