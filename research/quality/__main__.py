"""The commands of the quality bench: ``python -m research.quality sets|split|run|show|page``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from research.commands import data_option, jobs_option, listed, run_command
from research.data import using_folder
from research.quality import bench
from research.quality.page import PAGE, compare, read_rows, write_page
from research.quality.sets import SETS, load, real_set
from research.quality.split import HALVES, half, write_split
from research.runner import report
from tamis import SELECTORS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return run_command(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m research.quality", description=__doc__)
    commands = parser.add_subparsers(required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--results", type=Path, default=bench.RESULTS, help="folder of the rows, a file per method")
    choice = argparse.ArgumentParser(add_help=False)
    choice.add_argument("--methods", help="a,b: names of selectors, or module:function of (X, k, seed); default: all")
    choice.add_argument("--sets", help="a,b: only these sets")
    choice.add_argument("--half", choices=HALVES, help="only the sets of this half")
    choice.add_argument("--k", help="10,20: only these sizes")
    parents = [shared, data_option(), jobs_option()]
    run = commands.add_parser("run", parents=[choice, *parents], help="run the trials that have no row yet")
    run.set_defaults(command=_run)
    run.add_argument("--seeds", help="0,1: these seeds in place of the method's own number of them")
    show = commands.add_parser("show", parents=[choice], help="print the tables of some methods, sets and sizes")
    show.set_defaults(command=_show)
    show.add_argument("--results", type=Path, action="append", help="folder of rows; may be repeated")
    page = commands.add_parser("page", parents=[shared], help="write the made parts of the page from the rows")
    page.set_defaults(command=_page)
    page.add_argument("--output", type=Path, default=PAGE)
    sets = commands.add_parser("sets", parents=[data_option()], help="list the sets with their shapes")
    sets.set_defaults(command=_sets)
    commands.add_parser("split", help="write split.json anew; the same seed gives the same halves").set_defaults(
        command=_split
    )
    return parser


def _run(options: argparse.Namespace) -> int:
    sets, ks = _chosen_sets(options), _chosen_sizes(options)
    seeds = [int(seed) for seed in listed(options.seeds)] or None
    methods = listed(options.methods) or list(SELECTORS)
    for method in methods:
        bench.ranking_of(method)  # A mistake shows before hours of fitting.
    failed = 0
    for method in methods:
        trials = bench.trials_of(method, sets, ks, seeds)
        outcomes = bench.run(method, trials, results=options.results, data_dir=options.data_dir, jobs=options.jobs)
        failed += report(outcomes, bench.describe)
    return 1 if failed else 0


def _chosen_sets(options: argparse.Namespace) -> list[str]:
    names = [real_set(name).name for name in listed(options.sets)] or list(SETS)
    return [name for name in names if options.half is None or name in half(options.half)]


def _chosen_sizes(options: argparse.Namespace) -> list[int]:
    return [int(k) for k in listed(options.k)] or list(bench.KS)


def _show(options: argparse.Namespace) -> int:
    rows = read_rows(*(options.results or [bench.RESULTS]))
    print(compare(rows, listed(options.methods), _chosen_sets(options), _chosen_sizes(options)))
    return 0


def _page(options: argparse.Namespace) -> int:
    print(write_page(options.results, options.output))
    return 0


def _sets(options: argparse.Namespace) -> int:
    with using_folder(options.data_dir):
        for name in SETS:
            X, y = load(name)
            place = next(one for one in HALVES if name in half(one))
            print(f"{name}: {X.shape[0]} × {X.shape[1]}, {len(set(y.tolist()))} classes, {place}")
    return 0


def _split(options: argparse.Namespace) -> int:  # noqa: ARG001
    print(write_split())
    return 0


if __name__ == "__main__":
    sys.exit(main())
