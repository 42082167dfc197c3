"""One run of an experiment: its trials, those chosen among them, and their rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from research.data import using_folder
from research.ledger import Ledger, Row, Trial
from research.paper.catalogue import experiment
from research.runner import Cluster, Outcome, Runner


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
        Whether the few and small trials are run.
    data_dir : Path or None
        Folder with local copies of the data sets.
    jobs : int
        Trials run at a time; -1 takes all cores.
    cluster : callable or None
        Makes a context within which joblib sends its work elsewhere, see :mod:`research.paper.backends`.
    choose : callable
        Tells of a trial whether it is to be run.
    """

    id: str
    results: Path
    quick: bool = False
    data_dir: Path | None = None
    jobs: int = 1
    cluster: Cluster | None = None
    choose: Callable[[Trial], bool] = lambda _: True

    @property
    def ledger(self) -> Ledger:
        """The results file."""
        return Ledger(self.results / f"{self.id}.jsonl")

    def trials(self) -> list[Trial]:
        """Return all trials asked for, whether they have a row or not."""
        return [trial for trial in experiment(self.id).trials(self.quick) if self.choose(trial)]

    def go(self) -> Iterator[Outcome]:
        """Run what is missing; every row is in the file when it is yielded."""
        work = partial(perform, self.id, self.data_dir)
        runner = Runner(self.ledger, work, experiment(self.id).parent, self.jobs, self.cluster)
        yield from runner.run(self.trials())


def perform(name: str, data_dir: Path | None, trial: Trial, parent: Row | None) -> Row:
    """Run one trial of an experiment in whatever process this is."""
    with using_folder(data_dir):
        return experiment(name).work(trial, parent)
