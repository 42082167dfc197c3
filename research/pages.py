"""Pages in Markdown: hand-written words around parts that a command makes from rows."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from research.ledger import Row
from research.style import COLOURS, figure
from tamis.io.files import write_text

Rows = Sequence[Row]


class Table(NamedTuple):
    """A table of text."""

    name: str
    title: str
    headings: list[str]
    rows: list[list[str]]

    def csv(self) -> str:
        """Return it as CSV."""
        stream = StringIO()
        csv.writer(stream, lineterminator="\n").writerows([self.headings, *self.rows])
        return stream.getvalue()

    def markdown(self) -> str:
        """Return it as Markdown, with numbers aligned to the right."""
        rule = ["---"] + ["---:"] * (len(self.headings) - 1)
        return "\n".join("| " + " | ".join(cells) + " |" for cells in (self.headings, rule, *self.rows))


def marks(name: str) -> tuple[str, str]:
    """Return the comments between which a made part of a page stands."""
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def replace_parts(path: str | PathLike[str], parts: Mapping[str, str]) -> Path:
    """Write the made parts of a page between their marks, and leave the words around them alone.

    Parameters
    ----------
    path : str or path
        The page.
    parts : mapping
        Name of a part to its new text; all are replaced, or none if one has no marks.
    """
    text = Path(path).read_text(encoding="utf-8")
    for name, part in parts.items():
        begin, end = marks(name)
        if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
            raise ValueError(f"{path}: the part {name!r} has no place; put one line {begin!r} before one line {end!r}.")
        before, rest = text.split(begin)
        after = rest.split(end)[1]
        # A mark may be indented, as in a list; the line of the end mark keeps what stands before it.
        indent = rest.split(end)[0].rpartition("\n")[2]
        text = f"{before}{begin}\n{part}\n{indent if not indent.strip() else ''}{end}{after}"
    return write_text(path, text)


def select_rows(rows: Rows, **wanted: object) -> list[Row]:
    """Return the rows whose trials have these values."""
    return [row for row in rows if all(row["trial"].get(name) == value for name, value in wanted.items())]


def bar_chart(values: Mapping[str, Mapping[str, Sequence[float]]], label: str, path: Path) -> None:
    """Draw a group of horizontal bars per entry and a bar per series, as means of the values between 0 and 1.

    Parameters
    ----------
    values : mapping
        ``values[entry][series]`` are the values of one bar; all entries have the same series.
    label : str
        Of the axis.
    path : Path
        Where to; .png and .svg are written.
    """
    series = list(next(iter(values.values())))
    places, height = np.arange(len(values)), 0.8 / len(series)
    with figure(path, 1, 1, 0.42 * len(values) + 1.2) as (axis,):
        for number, one in enumerate(series):
            means = [np.mean(entry[one]) for entry in values.values()]
            axis.barh(places + number * height, means, height, label=one, color=COLOURS[number])
        axis.set_yticks(places + 0.4 - height / 2, list(values))
        axis.margins(y=0.02)
        axis.invert_yaxis()
        axis.set(xlabel=label, xlim=(0, 1))
        axis.figure.legend(loc="outside lower center", ncols=2)
