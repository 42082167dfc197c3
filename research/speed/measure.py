"""What a measurement is: trials, the work of one, and the pages that are written from its rows."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from research.ledger import Row, Trial
from research.methods import takes_seed
from research.runner import Work
from tamis import SELECTORS

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True)
class Measure:
    """A measurement with one results file.

    Attributes
    ----------
    name, about : str
        Its name on the command line and in the results folder, and what it measures.
    trials : callable
        ``trials()`` returns the trials that can be run here.
    work : callable
        Does one trial.
    write : callable
        ``write(rows, docs)`` writes the parts of pages, in a folder of docs, that are made from its rows.
    """

    name: str
    about: str
    trials: Callable[[], list[Trial]]
    work: Work
    write: Callable[[list[Row], Path], list[Path]]


def no_page(rows: list[Row], docs: Path) -> list[Path]:  # noqa: ARG001
    """Write nothing; the rows are the result."""
    return []


def machine(rows: list[Row]) -> str:
    """Return what the newest row was measured on."""
    found = rows[-1]["versions"]
    return f"{found['cores']} cores, {found['machine']}, Python {found['python']}, torch {found['torch']}"


def fit_cpu_seconds(method: str, X: Any, k: int, turns: int = 1) -> float:
    """Return the least processor time, over some turns, of a whole default fit on one thread."""
    kind: Any = SELECTORS[method]
    selector, best = kind(k, random_state=0) if takes_seed(kind) else kind(k), float("inf")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(turns):
            begun = time.process_time()
            selector.fit(X)
            best = min(best, time.process_time() - begun)
    return best
