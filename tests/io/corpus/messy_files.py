"""A corpus of messy files, made by this script: every file with what must come of it.

``python tests/io/corpus/messy_files.py FOLDER`` writes them all, to be tried by hand.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

A = [100.0, 250.0, 30.0, 410.0, 95.0, 333.0, 12.0, 280.0]
B = [1.5, 22.5, 13.25, 1.25, 24.5, 2.75, 13.5, 21.75]
C = [1.0, 2.0, 1.0, 2.0, 2.0, 1.0, 2.0, 1.0]
"""Three features of eight rows; by variance, a comes before b before c."""


@dataclass(frozen=True)
class Case:
    """A file and what must come of it.

    Attributes
    ----------
    file : str
        Name of the file.
    content : bytes
        What it holds.
    options : tuple of str
        Options of the command line.
    selected : tuple of str
        The two features that the variance chooses; empty if the file is refused.
    features : tuple of str
        All features that are used; those selected and ``c``, if it is not given.
    first : dict
        Numbers that the first row must be read as.
    said : tuple of str
        Phrases that must be in the output: every assumption.
    error : str
        The sentence that must be said, if the file is refused.
    """

    file: str
    content: bytes
    options: tuple[str, ...] = ()
    selected: tuple[str, ...] = ("a", "b")
    features: tuple[str, ...] = ("a", "b", "c")
    first: dict[str, float] = field(default_factory=lambda: {"a": 100.0, "b": 1.5, "c": 1.0})
    said: tuple[str, ...] = ()
    error: str = ""


def lines(columns, sep=",", header=True, end="\n"):
    """Return columns as a text table; cells are written as they are given."""
    rows = [sep.join(str(cell) for cell in row) for row in zip(*columns.values(), strict=True)]
    return end.join([sep.join(columns)] * header + rows) + end


def plain(**more):
    """Return the three features and further ones, as text."""
    return {"a": [f"{v:g}" for v in A], "b": [f"{v:g}" for v in B], "c": [f"{v:g}" for v in C]} | more


def text(file="t.csv", said=(), options=(), *, sep=",", change=lambda table: table, encode="utf-8", **more):
    """Return a case of a text file with the three features and further ones."""
    settings = {name: more.pop(name) for name in ("selected", "features", "first", "error") if name in more}
    content = change(lines(plain(**more), sep)).encode(encode)
    return Case(file, content, tuple(options), said=tuple(said), **settings)


def refused(file, content, error, *options):
    """Return a case of a file that is refused."""
    return Case(file, content if isinstance(content, bytes) else content.encode(), options, (), (), {}, (), error)


def swapped(table):
    """Write decimal commas instead of points."""
    return table.replace(",", ";").replace(".", ",")


def write_all(folder, cases):
    """Write the files of all cases, each into a folder of its own."""
    for name, case in cases.items():
        place = Path(folder) / name.replace(" ", "-").replace("/", "-")
        place.mkdir(parents=True, exist_ok=True)
        (place / case.file).write_bytes(case.content)


if __name__ == "__main__":
    from corpus_cases import CASES

    write_all(sys.argv[1], CASES)
    print(f"{len(CASES)} files in {sys.argv[1]}")
