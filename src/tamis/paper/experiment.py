"""What an experiment is: trials, the work of one, and what figures, tables and words are made of its rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tamis.paper.ledger import Row, Trial

Rows = Sequence[Row]


class Table(NamedTuple):
    """A table of text."""

    name: str
    title: str
    headings: list[str]
    rows: list[list[str]]

    def markdown(self) -> str:
        """Write it as Markdown, with numbers to the right."""
        rule = ["---"] + ["---:"] * (len(self.headings) - 1)
        return "\n".join("| " + " | ".join(cells) + " |" for cells in (self.headings, rule, *self.rows))


def no_figures(rows: Rows, folder: Path) -> list[Path]:  # noqa: ARG001
    """Draw nothing."""
    return []


def no_tables(rows: Rows) -> list[Table]:  # noqa: ARG001
    """Write no table."""
    return []


def no_parent(trial: Trial) -> Trial | None:  # noqa: ARG001
    """Need no other trial's row."""
    return None


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
        ``trials(quick)`` gives all trials; quick ones are few and small, and hold ``"quick": True``.
    work : callable
        ``work(trial, parent)`` does one and gives what its row holds.
    verdict : callable
        ``verdict(rows)`` compares with the paper in two sentences, whose figures it computes.
    draw : callable
        ``draw(rows, folder)`` draws the figures and gives the paths of the PNG files.
    tables : callable
        ``tables(rows)`` makes the tables.
    parent : callable
        ``parent(trial)`` gives the trial whose row the work of this one begins with, or None.
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


def select_rows(rows: Rows, **wanted: Any) -> list[Row]:
    """Give the rows whose trials have these values."""
    return [row for row in rows if all(row["trial"].get(name) == value for name, value in wanted.items())]


def values_of(rows: Rows, name: str) -> list[Any]:
    """Give the distinct values that the trials have under a name, in ascending order."""
    return sorted({row["trial"][name] for row in rows if name in row["trial"]})
