"""The commands of the speed bench: ``python -m research.speed list|run|page|guard``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from research.commands import data_option, run_command
from research.data import using_folder
from research.ledger import Ledger, Row
from research.runner import Runner, report
from research.speed import (
    alternatives,
    baselines,
    dask_workers,
    growth,
    killed,
    large,
    memory,
    out_of_core,
    peer,
    processes,
    startup,
    text_files,
)  # fmt: skip
from research.speed.guard import guard
from research.speed.measure import DOCS, Measure

RESULTS = Path(__file__).with_name("results")
MEASURES: dict[str, Measure] = {
    one.name: one
    for one in (
        peer.MEASURE, alternatives.MEASURE, growth.MEASURE, large.MEASURE, memory.MEASURE,
        baselines.MEASURE, out_of_core.MEASURE, processes.MEASURE,
        dask_workers.MEASURE, startup.MEASURE, text_files.LARGE_CSV, text_files.WIDE_CSV, killed.MEASURE,
    )
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return run_command(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m research.speed", description=__doc__)
    commands = parser.add_subparsers(required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--results", type=Path, default=RESULTS, help="folder of the rows")
    shared.add_argument("measures", nargs="*", metavar="MEASURE", help="names that `list` prints; default: all")
    commands.add_parser("list", help="list the measurements").set_defaults(command=_list)
    run = commands.add_parser("run", parents=[shared, data_option()], help="measure what has no row yet")
    run.set_defaults(command=_run)
    run.add_argument("--anew", action="store_true", help="measure everything that can be measured here again")
    page = commands.add_parser("page", parents=[shared], help="write the pages from the rows")
    page.set_defaults(command=_page)
    page.add_argument("--docs", type=Path, default=DOCS, help="folder of the pages")
    watch = commands.add_parser("guard", help="compare quick ratios with the kept ones, and fail where one is worse")
    watch.add_argument("--write", action="store_true", help="keep the ratios of now where they are larger")
    watch.set_defaults(command=lambda options: guard(options.write))
    return parser


def _list(options: argparse.Namespace) -> int:  # noqa: ARG001
    for one in MEASURES.values():
        print(f"{one.name}: {one.about}")
    return 0


def _run(options: argparse.Namespace) -> int:
    import torch

    torch.set_num_threads(1)
    failed = 0
    with using_folder(options.data_dir):
        for one in _chosen(options.measures):
            ledger, trials = _ledger(options.results, one), one.trials()
            if options.anew:
                ledger.forget(trials)
            failed += report(Runner(ledger, one.work).run(trials), _describe)
    return 1 if failed else 0


def _page(options: argparse.Namespace) -> int:
    for one in _chosen(options.measures):
        rows = _ledger(options.results, one).rows()
        for path in one.write(rows, options.docs) if rows else []:
            print(f"{one.name}: {path}")
    return 0


def _chosen(names: list[str]) -> list[Measure]:
    for name in names:
        if name not in MEASURES:
            raise ValueError(f"There is no measurement {name!r}; known: {', '.join(MEASURES)}.")
    return [MEASURES[name] for name in names or MEASURES]


def _ledger(results: Path, one: Measure) -> Ledger:
    return Ledger(results / f"{one.name}.jsonl")


def _describe(row: Row) -> str:
    found = {name: value for name, value in row.items() if name not in ("trial", "versions", "picks")}
    return f"{' '.join(str(value) for value in row['trial'].values())}: {found}"


if __name__ == "__main__":
    sys.exit(main())
