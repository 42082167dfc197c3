"""What commands print: tables, sentences and JSON, for a person or for a pipe."""

import json
import math
import sys
from collections.abc import Sequence
from textwrap import fill
from typing import Any

from tamis.cli.words import in_options


def is_terminal() -> bool:
    """Return whether results go to a person."""
    return sys.stdout.isatty()


def print_json(document: Any) -> None:
    """Print one JSON document."""
    print(json_text(document))


def json_text(document: Any) -> str:
    """Return a document as JSON; numbers that JSON lacks are null."""
    return json.dumps(_plain(document), ensure_ascii=False, indent=2)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()
) -> None:
    """Print a table: drawn for a person, tab-separated for a pipe."""
    if not is_terminal():
        for row in [headings, *rows]:
            print("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(title=f"\n{title}", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for i, heading in enumerate(headings):
        drawn.add_column(heading, justify="right" if i in numbers else "left", overflow="fold")
    for row in rows:
        # Text, since names of features may hold what rich would read as markup.
        drawn.add_row(*(Text(cell) for cell in row))
    Console().print(drawn)


def print_read(report: Any) -> None:
    """Print what was read in three lines, and what should be noticed."""
    for line in report.lines():
        say(line)


def say(text: str, style: str = "", fold: bool = True) -> None:
    """Print a sentence: with the results for a person, on standard error if the results go into a pipe.

    Paths and commands are not folded, so that they can be copied.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=not is_terminal())
    if is_terminal() and fold:
        text = fill(text, console.width, subsequent_indent="  " if text.startswith("• ") else "")
    console.print(Text(text, style=style), soft_wrap=True)


def print_verdict(verdict: Any) -> None:
    """Print whether a list may be trusted, and why."""
    say(verdict.headline + ".", "bold green" if verdict.trusted else "bold red")
    for text in verdict.reasons:
        say(f"• {in_options(text)}")


def number(value: Any) -> str:
    """Write a number shortly, a dash for none."""
    return "–" if value is None or not math.isfinite(value) else f"{float(value):.4g}"
