"""Options that commands share, errors as one sentence, and lists as users write them."""

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tamis.readers import Request

EXIT_ERROR, EXIT_INTERRUPTED = 2, 130
READING = "How to read the file"

File = Annotated[Path, typer.Argument(metavar="FILE", help="The table: CSV, Parquet, .npz, .mat, .h5ad, ...")]
Saved = Annotated[Path, typer.Argument(metavar="SELECTOR", help="A saved selector, such as selector.tamis.")]
Method = Annotated[str, typer.Option("--method", "-m", help="Method; `tamis methods` lists them.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed; the same seed gives the same features.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else, on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of the method; may be repeated."),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Fits at a time, each in a process; -1 for all cores.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files of these names that tamis did not write.")]
Restarts = Annotated[int | None, typer.Option("--n-init", min=1, help="Restarts, of which the best is kept.")]


class UsageError(ValueError):
    """The command line asks for something that cannot be done; the message is one sentence."""


@dataclass(frozen=True)
class Reading:
    """The options by which all commands read a file; see :class:`tamis.readers.Request`."""

    index: Annotated[
        str | None, typer.Option("--index", metavar="COLUMN", help="Column of sample names.", rich_help_panel=READING)
    ] = None
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            metavar="COLUMN",
            help="Column of labels: for scoring, never for choosing.",
            rich_help_panel=READING,
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            "--drop", metavar="COLUMNS", help="Columns to leave out: a,b or 'meta_*'.", rich_help_panel=READING
        ),
    ] = None
    drop_text: Annotated[
        bool, typer.Option("--drop-text", help="Leave out columns that are not numbers.", rich_help_panel=READING)
    ] = False
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="NAME", help="Array, data set or layer in the file.", rich_help_panel=READING),
    ] = None
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", metavar="SIGN", help="Of a text file.", rich_help_panel=READING)
    ] = None
    max_expansion: Annotated[
        float,
        typer.Option(
            "--max-expansion",
            min=1,
            help="How many times its stored size a file may unpack or declare.",
            rich_help_panel=READING,
        ),
    ] = 1000.0
    transpose: Annotated[
        bool, typer.Option("--transpose", help="The file has features in rows.", rich_help_panel=READING)
    ] = False
    log1p: Annotated[bool, typer.Option("--log1p", help="Take log(1 + x) of counts.", rich_help_panel=READING)] = False
    scale: Annotated[
        bool, typer.Option("--scale", help="Bring every sample to the median total.", rich_help_panel=READING)
    ] = False
    in_pieces: Annotated[
        bool | None,
        typer.Option(
            "--in-pieces/--whole",
            help="Leave the table on disk, or read it whole; by default what the free memory allows.",
            show_default=False,
            rich_help_panel=READING,
        ),
    ] = None

    def request(self, **changes: Any) -> "Request":
        """Turn the options into what the readers take."""
        from tamis.readers import Request

        delimiter = {"\\t": "\t", "tab": "\t", "space": " "}.get(self.delimiter or "", self.delimiter)
        if delimiter is not None and len(delimiter) != 1:
            raise UsageError(f"--delimiter takes one sign (or 'tab'); got {self.delimiter!r}.")
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        return Request(**(options | {"drop": split(self.drop), "delimiter": delimiter} | changes))


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of :class:`Reading` as its argument ``reading``, and its errors one sentence."""
    signature = inspect.signature(function, eval_str=True)
    own = [parameter for name, parameter in signature.parameters.items() if name != "reading"]
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None if field.default is MISSING else field.default,
            annotation=inspect.signature(Reading, eval_str=True).parameters[field.name].annotation,
        )
        for field in fields(Reading)
    ] * ("reading" in signature.parameters)

    @wraps(function)
    def run(**values: Any) -> None:
        taken = {parameter.name: values.pop(parameter.name) for parameter in shared}
        with_errors_as_sentences(lambda: function(**values, **({"reading": Reading(**taken)} if shared else {})))

    everything = [*own, *shared]
    run.__signature__ = signature.replace(parameters=everything)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in everything}
    return run


def with_errors_as_sentences(work: Callable[[], None]) -> None:
    """Run something; say what went wrong in one line on standard error, and exit as Unix users expect."""
    try:
        work()
    except KeyboardInterrupt:
        complain("interrupted.")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except BrokenPipeError:
        raise
    except KeyError as error:
        complain(str(error.args[0]) if error.args else str(error))
        raise typer.Exit(EXIT_ERROR) from None
    except OSError as error:
        complain(f"{error.filename or ''}{': ' if error.filename else ''}{error.strerror or error}.")
        raise typer.Exit(EXIT_ERROR) from None
    except (ValueError, TypeError, ImportError, MemoryError) as error:
        complain(str(error) or type(error).__name__)
        raise typer.Exit(EXIT_ERROR) from None


def complain(message: str) -> None:
    """Write one line on standard error."""
    print(f"tamis: {' '.join(message.split())}", file=sys.stderr)


def split(entries: Iterable[str] | None) -> tuple[str, ...]:
    """Split ``a,b`` at its commas; a name with a comma in it is written between double quotes."""
    import csv

    return tuple(part for row in csv.reader(entries or ()) for part in row if part)


def parse_settings(entries: Iterable[str] | None) -> dict[str, Any]:
    """Turn ``name=value`` into parameters; values are written as in Python, and else are text."""
    from ast import literal_eval

    found = {}
    for entry in entries or ():
        name, sign, text = entry.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"--set takes NAME=VALUE; got {entry!r}.")
        try:
            found[name.strip().replace("-", "_")] = literal_eval(text)
        except (ValueError, SyntaxError):
            found[name.strip().replace("-", "_")] = text
    return found


def parse_shape(text: str | None, n_features: int) -> tuple[int, int] | None:
    """Turn ``28x28`` into (28, 28), and make sure that it fits the number of features."""
    if text is None:
        return None
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.strip().isdigit() for part in parts):
        raise UsageError(f"--image-shape takes HEIGHTxWIDTH, such as 28x28; got {text!r}.")
    height, width = int(parts[0]), int(parts[1])
    if height * width != n_features:
        raise UsageError(
            f"--image-shape {text} makes {height * width} pixels, but the table has {n_features} features."
        )
    return height, width


def parse_sizes(text: str) -> list[int]:
    """Turn ``10,20,50`` or ``10:50:10`` into numbers in ascending order."""
    try:
        if ":" in text:
            start, stop, *step = (int(part) for part in text.split(":"))
            sizes = list(range(start, stop + 1, step[0] if step else 1))
        else:
            sizes = [int(part) for part in text.split(",") if part.strip()]
    except (ValueError, IndexError):
        sizes = []
    if not sizes or min(sizes) < 1:
        raise UsageError(f"-k takes numbers such as 10,20,50 or 10:50:10; got {text!r}.")
    return sorted(set(sizes))
