"""What an experiment is: trials, the work of one, and what figures, tables and words are made of its rows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from research.ledger import Row, Trial
from research.pages import Rows, Table
from research.runner import no_parent


def no_figures(rows: Rows, folder: Path) -> list[Path]:  # noqa: ARG001
    """Draw nothing."""
    return []


def no_tables(rows: Rows) -> list[Table]:  # noqa: ARG001
    """Write no table."""
    return []


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper.

    Attributes
    ----------
    id, title : str
        Its name on the command line, and the heading of its section.
    question : str
        What is done, in words for the page.
    trials : callable
        ``trials(quick)`` returns all trials; quick ones are few and small, and hold ``"quick": True``.
    work : callable
        ``work(trial, parent)`` does one and returns what its row holds.
    verdict : callable
        ``verdict(rows)`` compares with the paper in two sentences, whose figures it computes.
    draw : callable
        ``draw(rows, folder)`` draws the figures and returns the paths of the PNG files.
    tables : callable
        ``tables(rows)`` makes the tables.
    parent : callable
        ``parent(trial)`` returns the trial whose row the work of this one begins with, or None.
    """

    id: str
    title: str
    question: str
    trials: Callable[[bool], list[Trial]]
    work: Callable[[Trial, Row | None], Row]
    verdict: Callable[[Rows], str]
    draw: Callable[[Rows, Path], list[Path]] = no_figures
    tables: Callable[[Rows], list[Table]] = no_tables
    parent: Callable[[Trial], Trial | None] = no_parent


def values_of(rows: Rows, name: str) -> list[Any]:
    """Return the distinct values that the trials have under a name, in ascending order."""
    return sorted({row["trial"][name] for row in rows if name in row["trial"]})
