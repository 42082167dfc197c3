"""Results that are kept: selections.csv, scores.csv and result.json, the same for all commands; see docs/results.md."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli.output import csv_text, plain

if TYPE_CHECKING:
    from tamis.io.readers import Table

SCHEMA = "tamis-result/1"
"""Name and version of the layout of result.json; the version changes when a key changes its meaning or goes away."""

NAMES = ("selections.csv", "scores.csv", "result.json")
"""What is kept of lists and their scores."""


def document_of(command: str, file: Path, table: "Table", **parts: Any) -> dict[str, Any]:
    """Return a result for JSON: the same beginning for all commands, then the parts of one."""
    from tamis import __version__

    start = {"schema": SCHEMA, "tamis": __version__, "command": command, "input": str(file)}
    return start | {"read": table.report.document()} | parts


def write_result(folder: Path, document: dict[str, Any]) -> Path:
    """Write result.json."""
    from tamis.io.files import write_text

    text = json.dumps(plain(document), ensure_ascii=False, indent=2)
    return write_text(folder / "result.json", text + "\n")


def write_selections(folder: Path, selections: Sequence[dict[str, Any]]) -> Path:
    """Write selections.csv: a line for every feature of every list, best first.

    Parameters
    ----------
    folder : Path
        Where to.
    selections : sequence of dict
        With the keys method, k, seed and selected.
    """
    from tamis.io.files import write_text

    lines = [
        [entry["method"], entry["k"], entry["seed"], rank, name]
        for entry in selections
        for rank, name in enumerate(entry["selected"], start=1)
    ]
    return write_text(folder / "selections.csv", csv_text(["method", "k", "seed", "rank", "feature"], lines))


def write_scores_table(folder: Path, entries: Sequence[dict[str, Any]]) -> Path:
    """Write scores.csv: a line for every list, numbers with all their digits."""
    from tamis.io.files import write_text

    names = list(entries[0]["scores"])
    lines = [
        [entry["method"], entry["k"], entry["seed"], *(entry["scores"][name] for name in names), entry.get("seconds")]
        for entry in entries
    ]
    return write_text(folder / "scores.csv", csv_text(["method", "k", "seed", *names, "seconds"], lines))
