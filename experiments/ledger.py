"""A results file to which every trial is appended as it ends; a stopped run goes on where it was."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "docs" / "design-notes" / "results"


def read(name: str) -> list[dict[str, Any]]:
    """Give the rows of a results file."""
    path = RESULTS / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run(name: str, trials: Iterable[dict[str, Any]], work: Callable[..., dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Do the trials that are not in the file yet; append and yield each row."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.jsonl"
    done = {_key(row["trial"]) for row in read(name)}
    for trial in trials:
        if _key(trial) in done:
            continue
        row = {"trial": trial, **work(**trial)}
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        yield row


def _key(trial: dict[str, Any]) -> str:
    return json.dumps(trial, sort_keys=True)
