"""The commands of the panels bench: ``python -m research.panels run|page``."""

import argparse
import sys
from collections.abc import Sequence

from research.commands import data_option, listed, run_command
from research.panels import bench
from research.panels.page import write_page
from research.panels.rivals import LABELLED, WAYS
from research.panels.sets import SETS
from research.runner import report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m research.panels", description=__doc__)
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", parents=[data_option()], help="run the trials that have no row yet")
    run.set_defaults(command=_run)
    run.add_argument("--ways", help="a,b: only these ways")
    run.add_argument("--sets", help="a,b: only these sets")
    commands.add_parser("page", help="write the made parts of the page from the rows").set_defaults(command=_page)
    return run_command(parser, arguments)


def _run(options: argparse.Namespace) -> int:
    ways, sets = listed(options.ways) or [*WAYS, *LABELLED, bench.ALL], listed(options.sets) or list(SETS)
    unknown = [name for name in [*ways, *sets] if name not in {**WAYS, **LABELLED, bench.ALL: None, **SETS}]
    if unknown:
        raise ValueError(f"There is no {unknown[0]!r}; known: {', '.join([*WAYS, *LABELLED, *SETS])}.")
    return 1 if report(bench.run(bench.trials_of(ways, sets), data_dir=options.data_dir), bench.describe) else 0


def _page(options: argparse.Namespace) -> int:  # noqa: ARG001
    print(write_page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
