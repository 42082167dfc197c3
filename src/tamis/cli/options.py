"""Options that commands share, their help, errors as one sentence, and lists as users write them."""

import csv
import inspect
import re
import sys
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from pkgutil import resolve_name
from shlex import quote
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple, get_origin, get_type_hints

from typer import Argument, Exit, Option
from typer.core import TyperCommand

from tamis.io.request import Request, Words

EXIT_ERROR, EXIT_NO_STRUCTURE, EXIT_INTERRUPTED = 2, 3, 130

File = Annotated[Path, Argument(metavar="FILE", help="The table: CSV, Excel, Parquet, JSON, .npz, .h5ad, ...")]
Saved = Annotated[Path, Argument(metavar="SELECTOR", help="A saved selector, such as selector.tamis.")]
Method = Annotated[str, Option("--method", "-m", help="Method; tamis methods lists them.")]
Seed = Annotated[int, Option("--seed", help="Seed; the same seed gives the same features.")]
Json = Annotated[bool, Option("--json", help="Print the result as JSON, and nothing else, on standard output.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="No progress bar.")]
Settings = Annotated[list[str] | None, Option("--set", metavar="NAME=VALUE", help="Other parameter; repeatable.")]
Force = Annotated[bool, Option("--force", help="Replace files of these names that tamis did not write.")]
Restarts = Annotated[int | None, Option("--n-init", min=1, help="Restarts, of which the best is kept.")]
Folder = Annotated[Path | None, Option("--output", "-o", metavar="FOLDER", help="Folder for the results.")]

Count = Annotated[str, Option("-k", "--features", metavar="N|auto", help="How many; auto: as few as explain all.")]
Names = Annotated[list[str] | None, Option("--must-keep", metavar="NAMES", help="Features to choose anyway: a,b.")]
Banned = Annotated[list[str] | None, Option("--never", metavar="NAMES", help="Features never to choose: 'MT-*'.")]
State = Annotated[Path | None, Option("--checkpoint", metavar="FOLDER", help="From which a killed run goes on.")]
Shape = Annotated[str | None, Option("--image-shape", metavar="HxW", help="Shape of images, if they are pixels.")]
Sizes = Annotated[str, Option("-k", "--sizes", metavar="SIZES", help="5,10,20 or 10:50:10; auto fits the table.")]
Size = Annotated[int, Option("-k", "--features", min=1, help="How many features.")]
Methods = Annotated[str | None, Option("--methods", "-m", metavar="NAMES", help="Methods: a,b,c or all.")]
List = Annotated[str, Option("--features", "-f", metavar="LIST", help="selected.csv, selector.tamis or a,b,c.")]
Random = Annotated[int, Option("--random", min=1, help="Random lists to compare with.")]
Reduced = Annotated[Path | None, Option("--output", "-o", metavar="FILE", help="The table; its ending decides.")]

BatchKey = Annotated[str | None, Option("--batch-key", metavar="NAME", help="Column of obs with the batches.")]
GeneKey = Annotated[str | None, Option("--gene-key", metavar="NAME", help="Column of var with gene symbols.")]
PanelFile = Annotated[Path | None, Option("--output", "-o", metavar="FILE", help="The table of the panel (CSV).")]

MISSING = "Missing cells: keep, median, drop-rows or error; by default keep if the method can."
READING: dict[str, Any] = {"missing": Annotated[str, "WAY", MISSING], **get_type_hints(Request, include_extras=True)}
READING = {name: hint for name, hint in READING.items() if get_origin(hint) is Annotated}
"""The options by which all commands read a file, by their names in a request."""

PANEL = "How to read the file"


class UsageError(ValueError):
    """The command line asks for something that cannot be done; the message is one sentence."""


class NoStructureFoundError(Exception):
    """The table has no structure, so that there is nothing to choose."""


class Reading(NamedTuple):
    """How a command reads its file: what to do about missing cells, and the fields of a request that were given."""

    missing: str | None
    options: dict[str, Any]

    def request(self, **changes: Any) -> Request:
        """Turn the options into what the readers take."""
        given: dict[str, Any] = {n: split(v) if isinstance(v, list) else v for n, v in self.options.items()}
        if "delimiter" in given:
            given["delimiter"] = {"\\t": "\t", "tab": "\t", "space": " "}.get(given["delimiter"], given["delimiter"])
        self._check(given.get("delimiter", ","), given.get("decimal"), given.get("thousands"))
        return Request(**(given | changes))

    @property
    def transpose(self) -> bool:
        """Whether the user says that features are in rows."""
        return bool(self.options.get("transpose"))

    def flags(self) -> str:
        """Return the options as they are typed, to be repeated in another command."""
        parts = []
        for name, value in (self.options | ({"missing": self.missing} if self.missing else {})).items():
            on, _, off = _flag(name).partition("/")
            text = ",".join(value) if isinstance(value, list) else str(value)
            parts.append((on if value else off) if isinstance(value, bool) else f"{on}={quote(text)}")
        return "".join(f" {part}" for part in parts if part)

    def _check(self, delimiter: str, decimal: str | None, thousands: str | None) -> None:
        if len(delimiter) != 1:
            raise UsageError(f"--delimiter takes one sign (or 'tab'); got {delimiter!r}.")
        for name, value, allowed, words in (
            ("decimal", decimal, ".,", ". or , "),
            ("thousands", thousands, ".,' ", ", or . or ' or a space"),
            ("missing", self.missing, ("keep", "median", "drop-rows", "error"), "keep, median, drop-rows or error"),
        ):
            if value is not None and value not in tuple(allowed):
                raise UsageError(f"--{name} takes {words}; got {value!r}.")
        if decimal is not None and decimal == thousands:
            raise UsageError(f"--decimal and --thousands are both {decimal!r}; one mark cannot be both.")


def _flag(name: str) -> str:
    """Return an option of :data:`READING` as it is typed, with its opposite if it has one."""
    metavar: str = READING[name].__metadata__[0]
    return metavar if "/" in metavar else f"--{name.replace('_', '-')}"


def _reading_parameters() -> list[inspect.Parameter]:
    """Return the options of :data:`READING` as parameters of a command; one that is not given is None."""
    found = []
    for name, hint in READING.items():
        kind, (metavar, text) = (list[str] if hint.__origin__ == Words else hint.__origin__) | None, hint.__metadata__
        more: dict[str, Any] = {"min": 0} if kind in (int | None, float | None) else {}
        more |= {"metavar": None if kind == bool | None else metavar, "help": text, "rich_help_panel": PANEL}
        annotation: Any = Annotated[kind, Option(_flag(name), **more)]
        found.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation))
    return found


def command(home: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a signature stand for the work that a function of ``tamis.cli`` does; its errors become one sentence.

    The function is named ``module:function`` and imported when the command runs. It takes one namespace with the values
    of all parameters, and the options of :data:`READING`, which are added to the signature, as ``reading``.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        own, shared = [*inspect.signature(function, eval_str=True).parameters.values()], _reading_parameters()

        @wraps(function)
        def run(**values: Any) -> None:
            given = {parameter.name: values.pop(parameter.name) for parameter in shared}
            values["reading"] = Reading(given.pop("missing"), {n: v for n, v in given.items() if v is not None})
            with errors_as_sentences():
                if not 0 <= values.get("seed", 0) < 2**32:
                    raise UsageError(f"--seed takes a whole number of at least 0, below 2**32; got {values['seed']}.")
                resolve_name(f"tamis.cli.{home}")(SimpleNamespace(**values))

        run.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *shared]}
        return run

    return decorate


class Command(TyperCommand):
    """A command whose help is plain text: importing what draws boxes takes longer than all the rest."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 (click's signature)
        """Write the docstring; its examples keep their lines."""
        text, _, examples = inspect.cleandoc(self.help or "").partition("Examples\n--------\n")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)
        with formatter.section("Examples"):
            formatter.write("".join(f"  {line.strip('- `')}\n" for line in examples.splitlines()))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, those on reading below the others."""
        sections: dict[str, list[Any]] = {"Arguments": [], "Options": [], PANEL: []}
        for parameter in self.get_params(ctx):
            usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
            panel = getattr(parameter, "rich_help_panel", None) or usual
            sections[panel].append(parameter.get_help_record(ctx))
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


@contextmanager
def errors_as_sentences() -> Iterator[None]:
    """Say what went wrong in one line on standard error, and exit as Unix users expect."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (KeyboardInterrupt, NoStructureFoundError) as error:
        complain(str(error) or "interrupted.")
        raise Exit(EXIT_NO_STRUCTURE if isinstance(error, NoStructureFoundError) else EXIT_INTERRUPTED) from None
    except (KeyError, OSError, ValueError, TypeError, ImportError, MemoryError) as error:
        text = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
        if isinstance(error, OSError):
            text = f"{error.filename or ''}{': ' if error.filename else ''}{error.strerror or error}."
        complain(text or type(error).__name__)
        raise Exit(EXIT_ERROR) from None


def complain(message: str) -> None:
    """Write one line on standard error."""
    print(f"tamis: {' '.join(message.split())}", file=sys.stderr)


def split(entries: Iterable[str] | None) -> tuple[str, ...]:
    """Split ``a,b`` at its commas; a name with a comma or a line break in it is written between double quotes."""
    try:
        return tuple(part for row in csv.reader(entries or ()) for part in row if part)
    except csv.Error:
        raise UsageError("a list of names holds a line break; put that name between double quotes.") from None


def parse_k(text: str) -> int | None:
    """Turn the -k of a user into a number; None for auto."""
    if text == "auto":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"-k takes a number of features, at least 1, or auto; got {text!r}.")
    return int(text)


def parse_settings(given: Any) -> dict[str, Any]:
    """Turn ``--set name=value``, --n-init and --checkpoint into parameters; values are Python, and else are text."""
    found: dict[str, Any] = {}
    for entry in given.settings or ():
        name, sign, text = entry.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"--set takes NAME=VALUE; got {entry!r}.")
        try:
            found[name.strip().replace("-", "_")] = literal_eval(text)
        except (ValueError, SyntaxError, TypeError):
            found[name.strip().replace("-", "_")] = text
    own = {"n_init": getattr(given, "n_init", None), "checkpoint_dir": getattr(given, "checkpoint", None)}
    return found | {name: value if name == "n_init" else str(value) for name, value in own.items() if value is not None}


def parse_shape(text: str | None, n_features: int) -> tuple[int, int] | None:
    """Turn ``28x28`` into (28, 28), and make sure that it fits the number of features."""
    if text is None:
        return None
    if not (sizes := re.fullmatch(r"\s*(\d+)\s*[x×]\s*(\d+)\s*", text.lower())):
        raise UsageError(f"--image-shape takes HEIGHTxWIDTH, such as 28x28; got {text!r}.")
    height, width = map(int, sizes.groups())
    if (made := height * width) != n_features:
        raise UsageError(f"--image-shape {text} makes {made} pixels, but the table has {n_features} features.")
    return height, width


def parse_sizes(text: str) -> list[int]:
    """Turn ``10,20,50`` or ``10:50:10`` into numbers in ascending order."""
    try:
        if ":" in text:
            start, stop, *step = (int(part) for part in text.split(":"))
            sizes = list(range(start, stop + 1, step[0] if step else 1)[:10_001])
        else:
            sizes = [int(part) for part in text.split(",") if part.strip()]
    except (ValueError, IndexError):
        sizes = []
    if not 0 < len(sizes) <= 10_000 or min(sizes) < 1:
        raise UsageError(f"-k takes numbers such as 10,20,50 or 10:50:10, at most 10,000; got {text!r}.")
    return sorted(set(sizes))
