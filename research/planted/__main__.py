"""The commands of the planted bench: ``python -m research.planted run|noise|sizes|dirty|page``."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from research.commands import jobs_option, listed, run_command
from research.ledger import Ledger, Row, Trial
from research.planted import dirty, fits, noise, sizes
from research.planted.bench import RESULTS
from research.planted.page import PAGE, write_page
from research.planted.seeds import HALVES, seeds_of
from research.runner import Runner, Work, report
from tamis import SELECTORS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return run_command(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m research.planted", description=__doc__)
    commands = parser.add_subparsers(required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--results", type=Path, default=RESULTS, help="folder of the rows")
    choice = argparse.ArgumentParser(add_help=False)
    choice.add_argument("--half", choices=HALVES, help="only the seeds of this half")
    choice.add_argument("--seeds", help="0,1: these seeds in place of those of the halves")
    parents = [shared, choice, jobs_option()]
    run = commands.add_parser("run", parents=parents, help="run the methods on tables of all kinds")
    run.set_defaults(command=_run)
    run.add_argument("--methods", default=",".join(fits.METHODS), help="a,b: names of selectors or simple rivals")
    run.add_argument("--kinds", help="a,b: only these kinds of tables")
    calibration = commands.add_parser("noise", parents=parents, help="test tables without structure")
    calibration.set_defaults(command=_noise)
    calibration.add_argument("--verdicts", action="store_true", help="the verdicts of all selectors instead")
    commands.add_parser("sizes", parents=parents, help="ask how many features to select").set_defaults(command=_sizes)
    dirt = commands.add_parser("dirty", parents=parents, help="missing cells and categories")
    dirt.set_defaults(command=_dirty)
    page = commands.add_parser("page", parents=[shared], help="write the made parts of the page from the rows")
    page.set_defaults(command=_page)
    page.add_argument("--output", type=Path, default=PAGE)
    return parser


def _run(options: argparse.Namespace) -> int:
    methods, kinds = listed(options.methods), listed(options.kinds) or list(fits.ALL_KINDS)
    fits.check_names(methods, kinds)
    seeds, failed = _seeds(options, fits.N_SEEDS), 0
    for method in methods:
        trials = fits.trials_of(method, kinds, seeds)
        outcomes = fits.run(method, trials, folder=options.results / fits.FOLDER.name, jobs=options.jobs)
        failed += report(outcomes, fits.describe)
    return 1 if failed else 0


def _noise(options: argparse.Namespace) -> int:
    if options.verdicts:
        trials = noise.verdict_trials(_seeds(options, noise.N_VERDICTS), SELECTORS)
        return _perform(options, "noise_verdicts", noise.verdict_work, trials, noise.describe_verdict)
    return _perform(options, "noise", noise.work, noise.trials(_seeds(options, noise.N_TABLES)), noise.describe)


def _sizes(options: argparse.Namespace) -> int:
    trials = sizes.trials(options.half, _named(options))
    return _perform(options, "sizes", sizes.work, trials, sizes.describe)


def _dirty(options: argparse.Namespace) -> int:
    trials = dirty.trials(_seeds(options, dirty.N_SEEDS))
    return _perform(options, "dirty", dirty.work, trials, dirty.describe)


def _page(options: argparse.Namespace) -> int:
    print(write_page(options.results, options.output))
    return 0


def _perform(
    options: argparse.Namespace, name: str, work: Work, trials: list[Trial], describe: Callable[[Row], str]
) -> int:
    outcomes = Runner(Ledger(options.results / f"{name}.jsonl"), work, jobs=options.jobs).run(trials)
    return 1 if report(outcomes, describe) else 0


def _seeds(options: argparse.Namespace, n_seeds: int) -> list[int]:
    return seeds_of(options.half, n_seeds, _named(options))


def _named(options: argparse.Namespace) -> list[int]:
    return [int(seed) for seed in listed(options.seeds)]


if __name__ == "__main__":
    sys.exit(main())
