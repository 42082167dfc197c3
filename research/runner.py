"""Running the trials that have no row yet, on several cores or machines, one row at a time."""

import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from joblib import Parallel, delayed

from research.data import MissingDataError
from research.ledger import Ledger, Row, Trial, trial_key

PACKAGES = ("tamis", "numpy", "scipy", "scikit-learn", "torch")

Work = Callable[[Trial, Row | None], Row]
"""``work(trial, parent)`` does one trial and returns what its row holds; ``parent`` is the row it starts from."""

Cluster = Callable[[], AbstractContextManager[Any]]
"""Makes a context within which joblib sends its work elsewhere."""


def no_parent(trial: Trial) -> Trial | None:  # noqa: ARG001
    """Return None: the trial needs no other trial's row."""
    return None


@dataclass(frozen=True)
class Outcome:
    """What became of a trial: its row, or why there is none."""

    trial: Trial
    row: Row | None = None
    problem: str = ""
    lacks_data: bool = False


@dataclass(frozen=True)
class Runner:
    """Runs trials and appends their rows to a results file.

    Attributes
    ----------
    ledger : Ledger
        The results file.
    work : callable
        Does one trial; it must be importable by worker processes if ``jobs`` is not 1.
    parent_of : callable
        ``parent_of(trial)`` is the trial whose row the work of this one starts from, or None.
    jobs : int
        Trials run at a time; -1 takes all cores.
    cluster : callable or None
        Where else joblib sends its work.
    """

    ledger: Ledger
    work: Work
    parent_of: Callable[[Trial], Trial | None] = no_parent
    jobs: int = 1
    cluster: Cluster | None = None

    def run(self, trials: Iterable[Trial]) -> Iterator[Outcome]:
        """Run the trials that are missing; every row is in the file when it is yielded.

        Trials that start from the row of another one, such as a smaller panel of the same ranking, come after it.
        """
        with self.ledger.sole_writer():
            self.ledger.repair()
            missing = self.ledger.missing(trials)
            yield from self._stage([(trial, None) for trial in missing if self.parent_of(trial) is None])
            rows = {trial_key(row["trial"]): row for row in self.ledger.rows()}
            later = [(trial, rows.get(trial_key(self.parent_of(trial) or {}))) for trial in missing]
            yield from self._stage([(trial, parent) for trial, parent in later if parent is not None])

    def _stage(self, tasks: Sequence[tuple[Trial, Row | None]]) -> Iterator[Outcome]:
        if not tasks:
            return
        with self.cluster() if self.cluster else nullcontext():
            parallel = Parallel(n_jobs=self.jobs, return_as="generator_unordered", batch_size=1)
            for outcome in parallel(delayed(perform)(self.work, trial, parent) for trial, parent in tasks):
                if outcome.row is not None:
                    self.ledger.append(outcome.row)
                yield outcome


def perform(work: Work, trial: Trial, parent: Row | None = None) -> Outcome:
    """Run one trial in whatever process this is; a failure is reported and does not end the others."""
    begun = time.perf_counter()
    try:
        found = work(trial, parent)
    except MissingDataError as error:
        return Outcome(trial, problem=str(error), lacks_data=True)
    except Exception as error:
        return Outcome(trial, problem=f"{type(error).__name__}: {error}")
    seconds = round(time.perf_counter() - begun, 3)
    return Outcome(trial, {"trial": trial, **found, "seconds": seconds, "versions": versions()})


def report(outcomes: Iterable[Outcome], describe: Callable[[Row], str] | None) -> int:
    """Print a line per row as it comes, then what was skipped and what failed; return the number of failures.

    Without ``describe`` rows are not printed.
    """
    problems: dict[str, bool] = {}
    failures = 0
    for outcome in outcomes:
        if outcome.row is not None:
            if describe is not None:
                print(describe(outcome.row), flush=True)
        elif outcome.lacks_data:
            problems[f"skipped: {outcome.problem}"] = True
        else:
            failures += 1
            problems[f"failed: {outcome.trial}: {outcome.problem}"] = True
    for problem in problems:
        print(problem, file=sys.stderr)
    return failures


@cache
def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    found = {name: version(name) for name in PACKAGES}
    machine = {"cores": str(os.cpu_count()), "machine": platform.machine()}
    return {"python": platform.python_version(), **found, **machine}
