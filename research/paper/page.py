"""One page of all experiments, written from the kept rows."""

from collections.abc import Callable
from os.path import relpath
from pathlib import Path

from research.ledger import Ledger, LedgerError, Row
from research.pages import Rows, Table
from research.paper.catalogue import experiments
from research.paper.experiment import Experiment
from tamis.io.files import write_text

HEAD = """# The paper, reproduced

*Deep Unsupervised Feature Selection by Discarding Nuisance and Correlated Features* (Shaham, Lindenbaum, Svirsky and
Kluger, 2021), experiment by experiment. This page is written by a command from rows that are kept in `{results}`; no
number on it is typed by hand. Printed numbers are those of the paper. Labels score selections and never choose
a feature; they choose k in the paper's own protocol, and the settings of one clustering, where it is said.

```sh
export TAMIS_DATA=...    # a folder with the data sets; `python -m research.paper list` says which are there
{commands}
```
"""
QUICK = (
    "**These are the rows of a quick run: sizes are reduced, data sets are replaced by small ones, and nothing here "
    "counts.**"
)


def read_rows(results: Path, name: str) -> list[Row]:
    """Read the rows of an experiment; quick rows and full ones in one file are refused."""
    ledger = Ledger(results / f"{name}.jsonl")
    rows = ledger.rows()
    if len({bool(row["trial"].get("quick")) for row in rows}) > 1:
        raise LedgerError(
            f"{ledger.path}: holds rows of quick and of full runs; keep them in separate --results folders."
        )
    return rows


def draw_all(results: Path, figures: Path, told: Callable[[Path], object] = print) -> None:
    """Draw the figures of all experiments that have rows."""
    for one in experiments():
        rows = read_rows(results, one.id)
        for path in one.draw(rows, figures) if rows else []:
            told(path)


def all_tables(results: Path) -> list[Table]:
    """Make the tables of all experiments that have rows."""
    found = [(one, read_rows(results, one.id)) for one in experiments()]
    return [table for one, rows in found if rows for table in one.tables(rows)]


def write_page(results: Path, figures: Path, page: Path) -> Path:
    """Draw everything and write the page, with links that are relative to it."""
    found = [(one, read_rows(results, one.id)) for one in experiments()]
    lines = [f"python -m research.paper run {one.id}" for one, _ in found] + ["python -m research.paper page"]
    parts = [HEAD.format(results=relpath(results, page.parent), commands="\n".join(lines))]
    if any(row["trial"].get("quick") for _, rows in found for row in rows):
        parts.append(QUICK + "\n")
    parts += [_section(one, rows, figures, page) for one, rows in found]
    page.parent.mkdir(parents=True, exist_ok=True)
    return write_text(page, "\n".join(parts))


def _section(one: Experiment, rows: Rows, figures: Path, page: Path) -> str:
    lines = [f"## {one.title}", "", f"`{one.id}`: {one.question}", ""]
    if not rows:
        return "\n".join([*lines, f"No rows are kept yet: `python -m research.paper run {one.id}` makes them.", ""])
    for path in one.draw(rows, figures):
        lines += [f"![{one.title}]({relpath(path, page.parent)})", ""]
    for table in one.tables(rows):
        lines += [f"{table.title}:", "", table.markdown(), ""]
    return "\n".join([*lines, one.verdict(rows), "", _origin(rows), ""])


def _origin(rows: Rows) -> str:
    """Say what the rows were made with."""
    versions = {f"tamis {row['versions']['tamis']}, scikit-learn {row['versions']['scikit-learn']}" for row in rows}
    hours = sum(row["seconds"] for row in rows) / 3600
    return f"*{len(rows)} rows, made by {'; '.join(sorted(versions))} in {hours:.2f} hours of one core.*"
