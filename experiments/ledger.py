"""The results files of the design notes; a stopped run goes on where it was."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tamis.paper.ledger import Ledger

RESULTS = Path(__file__).parent.parent / "docs" / "design-notes" / "results"


def read(name: str) -> list[dict[str, Any]]:
    """Give the rows of a results file."""
    return Ledger(RESULTS / f"{name}.jsonl").rows()


def run(name: str, trials: Iterable[dict[str, Any]], work: Callable[..., dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Do the trials that are not in the file yet; append and yield each row."""
    ledger = Ledger(RESULTS / f"{name}.jsonl")
    with ledger.sole_writer():
        ledger.repair()
        for trial in ledger.missing(trials):
            row = {"trial": trial, **work(**trial)}
            ledger.append(row)
            yield row
