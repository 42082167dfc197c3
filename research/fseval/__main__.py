"""The commands of FSEVAL: ``python -m research.fseval run|page``."""

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from research.commands import data_option, jobs_option, listed, run_command
from research.data import using_folder
from research.fseval import bench
from research.fseval.page import PAGE, write_page
from research.runner import report

N_REPEATS_RANDOM = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return run_command(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m research.fseval", description=__doc__)
    commands = parser.add_subparsers(required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--results", type=Path, default=bench.RESULTS, help="folder of the rows, a file per method")
    run = commands.add_parser(
        "run", parents=[shared, data_option(), jobs_option()], help="run the trials that have no row yet"
    )
    run.set_defaults(command=_run)
    run.add_argument("--methods", default=",".join(bench.METHODS), help="a,b: names of selectors")
    run.add_argument("--sets", default=",".join(bench.FILES), help="a,b: only these sets")
    run.add_argument("--parts", default=",".join(bench.PARTS), help="clustering alone is quick")
    run.add_argument("--repeats", type=int, help=f"repeats; default: 1, {N_REPEATS_RANDOM} for random")
    page = commands.add_parser(
        "page", parents=[shared, data_option()], help="write the made parts of the page from the rows"
    )
    page.set_defaults(command=_page)
    page.add_argument("--output", type=Path, default=PAGE)
    return parser


def _run(options: argparse.Namespace) -> int:
    if find_spec("sdufseval") is None:
        raise ImportError("FSEVAL needs sdufseval; install it with pip install -r research/requirements.txt.")
    sets, parts = (_checked(name, getattr(options, name), known) for name, known in _CHOICES.items())
    known, unknown = bench.known_methods(listed(options.methods))
    for name in unknown:
        print(f"skipped: there is no selector {name!r}", file=sys.stderr)
    failed = 0
    for method in known:
        repeats = options.repeats or (N_REPEATS_RANDOM if method == "random" else 1)
        trials = bench.trials_of(method, sets, parts, repeats)
        outcomes = bench.run(method, trials, results=options.results, data_dir=options.data_dir, jobs=options.jobs)
        failed += report(outcomes, bench.describe)
    return 1 if failed else 0


_CHOICES: dict[str, Sequence[str]] = {"sets": list(bench.FILES), "parts": bench.PARTS}


def _checked(option: str, text: str, known: Sequence[str]) -> list[str]:
    chosen = listed(text)
    wrong = [name for name in chosen if name not in known]
    if wrong:
        raise ValueError(f"--{option} takes names among {', '.join(known)}; got {wrong[0]!r}.")
    return chosen


def _page(options: argparse.Namespace) -> int:
    with using_folder(options.data_dir):
        print(write_page(options.results, options.output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
