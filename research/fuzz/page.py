"""docs/reliability.md, made from the rows that the tools of this folder and of ``research.faults`` keep."""

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROWS = Path("docs/reliability")
PAGE = Path("docs/reliability.md")
PACKAGES = ("numpy", "scipy", "pyarrow", "h5py", "zarr", "anndata")

INTRODUCTION = """# Reliability

What becomes of damaged files, of runs that are killed, and of disks that fill up. This page is written by the commands
that it names; its rows are in [`reliability/`](reliability). What is promised is in [SECURITY.md](../SECURITY.md).
"""

FUZZ = """
## Damaged files

`make fuzz` (`python -m research.fuzz --files 20000 --write`) damages small valid files of every format: it truncates,
flips, inserts, swaps, edits headers, declared shapes and stored values, and makes files that unpack to far more than
they are. Each is read in a child process that may take 20 seconds of work and 2 GB. *Read* are files whose damage
leaves a valid table; a *clean error* is one sentence with the file and a remedy, also where Arrow asked for memory
that a damaged buffer declares and did not get it. All other outcomes are faults.
"""

FAULTS = """
## Killed runs, full disks, vanishing files

`make faults` (`python -m research.faults --write`) runs the command line and ends it by SIGKILL, SIGINT and SIGTERM at
random moments, lets disks fill up and folders vanish, and changes files while they are read. Inputs must stay as they
are, outputs must be whole or absent, exits must be 130 and 143 without a traceback, and a fit that goes on from its
checkpoint must choose what an undisturbed one chooses.
"""


def write(name: str, content: Mapping[str, Any]) -> None:
    """Keep the rows of a run beside those that it has none for, and make the page from all rows."""
    ROWS.mkdir(parents=True, exist_ok=True)
    if (ROWS / f"{name}.json").exists():
        content = json.loads((ROWS / f"{name}.json").read_text())["rows"] | dict(content)
    versions = {package: version(package) for package in PACKAGES} | {"python": platform.python_version()}
    document = {"versions": versions, "rows": content}
    (ROWS / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    PAGE.write_text(text(), encoding="utf-8")


def text() -> str:
    """Return the page."""
    from research.fuzz.child import OUTCOMES

    parts = [INTRODUCTION]
    for name, introduction in (("fuzz", FUZZ), ("faults", FAULTS)):
        if not (ROWS / f"{name}.json").exists():
            continue
        document = json.loads((ROWS / f"{name}.json").read_text())
        rows = document["rows"]
        table = outcome_table(rows, OUTCOMES) if name == "fuzz" else fault_table(rows)
        versions = ", ".join(f"{package} {number}" for package, number in document["versions"].items())
        parts += [introduction, "\n" + table, f"\nWith {versions}.\n"]
    return "".join(parts)


def outcome_table(counts: Mapping[str, Mapping[str, int]], kinds: Sequence[str]) -> str:
    """Return a table with a row for every format, and the sums."""
    numbers = {name: [found.get(kind, 0) for kind in kinds] for name, found in sorted(counts.items())}
    numbers["all"] = [sum(column) for column in zip(*numbers.values(), strict=True)]
    return markdown(["format", *kinds, "files"], [[name, *row, sum(row)] for name, row in numbers.items()])


def fault_table(rows: Mapping[str, Mapping[str, int]]) -> str:
    """Return a table with a row for every kind of disturbance."""
    kinds = list(dict.fromkeys(kind for found in rows.values() for kind in found))
    return markdown(
        ["disturbance", *kinds], [[name, *(found.get(kind, "–") for kind in kinds)] for name, found in rows.items()]
    )


def markdown(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table."""
    lines = [
        headings,
        ["---"] * len(headings),
        *([f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows),
    ]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"
