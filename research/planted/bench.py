"""What the benches of planted tables share: their files, and the commands ``run`` and ``page``."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from research.commands import jobs_option, listed, run_command
from research.ledger import Ledger, Row, Trial
from research.runner import Runner, Work, report

RESULTS = Path(__file__).with_name("results")
DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True)
class Bench:
    """A bench with one results file and one page.

    Attributes
    ----------
    name : str
        Of the module and of its results file.
    methods : sequence of str
        All methods; ``--methods`` chooses among them.
    trials : callable
        ``trials(methods)`` returns the trials of some methods.
    work : callable
        Does one trial.
    describe : callable
        Returns a line about a row.
    write_page : callable
        Writes the page from rows and returns its path.
    """

    name: str
    methods: Sequence[str]
    trials: Callable[[Iterable[str]], list[Trial]]
    work: Work
    describe: Callable[[Row], str]
    write_page: Callable[[list[Row]], Path]

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run one command and return its exit code."""
        parser = argparse.ArgumentParser(prog=f"python -m research.planted.{self.name}")
        parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the rows")
        commands = parser.add_subparsers(required=True)
        run = commands.add_parser("run", parents=[jobs_option()], help="run the trials that have no row yet")
        run.set_defaults(command=self._run)
        run.add_argument("--methods", default=",".join(self.methods), help="a,b: only these methods")
        page = commands.add_parser("page", help="write the page from the rows")
        page.set_defaults(command=self._page)
        return run_command(parser, arguments)

    def ledger(self, results: Path) -> Ledger:
        """Return the results file in a folder."""
        return Ledger(results / f"{self.name}.jsonl")

    def _run(self, options: argparse.Namespace) -> int:
        chosen = listed(options.methods)
        for method in chosen:
            if method not in self.methods:
                raise ValueError(f"--methods takes names among {', '.join(self.methods)}; got {method!r}.")
        outcomes = Runner(self.ledger(options.results), self.work, jobs=options.jobs).run(self.trials(chosen))
        return 1 if report(outcomes, self.describe) else 0

    def _page(self, options: argparse.Namespace) -> int:
        print(self.write_page(self.ledger(options.results).rows()))
        return 0
