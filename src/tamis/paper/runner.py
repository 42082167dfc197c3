"""Doing the trials of an experiment that are missing, on several cores or machines, one row at a time."""

import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from tamis.paper.catalogue import experiment
from tamis.paper.datasets import MissingDataError, using_folder
from tamis.paper.ledger import Ledger, Row, Trial, trial_key

PACKAGES = ("tamis", "numpy", "scipy", "scikit-learn", "torch")


@dataclass(frozen=True)
class Outcome:
    """What became of a trial: its row, or why there is none."""

    trial: Trial
    row: Row | None = None
    problem: str = ""
    lacks_data: bool = False


@dataclass(frozen=True)
class Run:
    """One run of an experiment.

    Attributes
    ----------
    id : str
        Which experiment.
    results : Path
        Folder of the results files.
    quick : bool
        Whether the few and small trials are done.
    data_dir : Path or None
        Folder with local copies of the data sets.
    jobs : int
        Trials done at a time; -1 takes all cores.
    cluster : callable
        Gives a context within which joblib sends its work elsewhere, see :mod:`tamis.paper.backends`.
    choose : callable
        Tells of a trial whether it is to be done.
    """

    id: str
    results: Path
    quick: bool = False
    data_dir: Path | None = None
    jobs: int = 1
    cluster: Callable[[], AbstractContextManager[Any]] | None = None
    choose: Callable[[Trial], bool] = lambda _: True

    @property
    def ledger(self) -> Ledger:
        """The results file."""
        return Ledger(self.results / f"{self.id}.jsonl")

    def trials(self) -> list[Trial]:
        """Give all trials asked for, done or not."""
        return [trial for trial in experiment(self.id).trials(self.quick) if self.choose(trial)]

    def go(self) -> Iterator[Outcome]:
        """Do what is missing; every row is in the file when it is yielded.

        Trials that begin with the row of another one, such as a smaller panel of the same ranking, come after it.
        """
        parent_of = experiment(self.id).parent
        with self.ledger.sole_writer():
            self.ledger.repair()
            missing = self.ledger.missing(self.trials())
            yield from self._stage([(trial, None) for trial in missing if parent_of(trial) is None])
            rows = {trial_key(row["trial"]): row for row in self.ledger.rows()}
            later = [(trial, rows.get(trial_key(parent_of(trial) or {}))) for trial in missing if parent_of(trial)]
            yield from self._stage([(trial, parent) for trial, parent in later if parent is not None])

    def _stage(self, work: Sequence[tuple[Trial, Row | None]]) -> Iterator[Outcome]:
        if not work:
            return
        from contextlib import nullcontext

        ledger = self.ledger
        with self.cluster() if self.cluster else nullcontext():
            parallel = Parallel(n_jobs=self.jobs, return_as="generator_unordered", batch_size=1)
            tasks = (delayed(perform)(self.id, trial, parent, self.data_dir) for trial, parent in work)
            for outcome in parallel(tasks):
                if outcome.row is not None:
                    ledger.append(outcome.row)
                yield outcome


def perform(name: str, trial: Trial, parent: Row | None, data_dir: Path | None) -> Outcome:
    """Do one trial in whatever process this is; a failure is told, so that it does not end the others."""
    begun = time.perf_counter()
    try:
        with using_folder(data_dir):
            found = experiment(name).work(trial, parent)
    except MissingDataError as error:
        return Outcome(trial, problem=str(error), lacks_data=True)
    except Exception as error:
        return Outcome(trial, problem=f"{type(error).__name__}: {error}")
    seconds = round(time.perf_counter() - begun, 3)
    return Outcome(trial, {"trial": trial, **found, "seconds": seconds, "versions": versions()})


@cache
def versions() -> dict[str, str]:
    """Give the versions that a result depends on."""
    found = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **found, "cores": str(os.cpu_count())}
