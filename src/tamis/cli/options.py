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
    from tamis.io.readers import Request

EXIT_ERROR, EXIT_NO_STRUCTURE, EXIT_INTERRUPTED = 2, 3, 130
READING = "How to read the file"

File = Annotated[Path, typer.Argument(metavar="FILE", help="The table: CSV, Excel, Parquet, JSON, .npz, .h5ad, ...")]
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


def _reading(option: str, metavar: str | None, text: str, **more: Any) -> Any:
    """Return an option of the panel on reading."""
    return typer.Option(option, metavar=metavar, help=text, show_default=False, rich_help_panel=READING, **more)


@dataclass(frozen=True)
class Reading:
    """The options by which all commands read a file; see :class:`tamis.io.readers.Request`."""

    index: Annotated[str | None, _reading("--index", "NAME", "Feature that holds the sample names.")] = None
    labels: Annotated[
        str | None, _reading("--labels", "NAME", "Feature that holds labels: for scoring, never for choosing.")
    ] = None
    drop: Annotated[list[str] | None, _reading("--drop", "NAMES", "Features to leave out: a,b or 'meta_*'.")] = None
    keep: Annotated[
        list[str] | None,
        _reading("--keep", "NAMES", "Features to use though they look like identifiers, free text or mostly empty."),
    ] = None
    categorical: Annotated[
        list[str] | None, _reading("--categorical", "NAMES", "Features whose numbers are codes of categories.")
    ] = None
    drop_text: Annotated[bool, _reading("--drop-text", None, "Leave out features that are not numbers.")] = False
    missing: Annotated[
        str | None,
        _reading(
            "--missing",
            "WAY",
            "Missing cells: keep, median, drop-rows or error; by default keep if the method can, else median.",
        ),
    ] = None
    na_values: Annotated[
        list[str] | None, _reading("--na-values", "CELLS", "Further cells that stand for a missing value: -999,none.")
    ] = None
    decimal: Annotated[str | None, _reading("--decimal", "MARK", "Decimal mark of numbers in text: . or ,")] = None
    thousands: Annotated[str | None, _reading("--thousands", "MARK", "Mark between thousands: , or .")] = None
    day_first: Annotated[
        bool | None,
        _reading("--day-first/--month-first", None, "Whether 3/4/2020 is in April or in March, if no date tells."),
    ] = None
    delimiter: Annotated[str | None, _reading("--delimiter", "MARK", "Between the cells of a text file.")] = None
    header: Annotated[
        bool | None, _reading("--header/--no-header", None, "Whether the first line of the table names the features.")
    ] = None
    skip_rows: Annotated[int | None, _reading("--skip-rows", "N", "Lines before the header.", min=0)] = None
    comment: Annotated[str | None, _reading("--comment", "MARK", "Lines that begin with it are passed over.")] = None
    encoding: Annotated[str | None, _reading("--encoding", "NAME", "Of a text file, such as utf-8 or cp1252.")] = None
    sheet: Annotated[str | None, _reading("--sheet", "NAME", "Sheet of a workbook.")] = None
    key: Annotated[
        str | None, _reading("--key", "NAME", "Array, data set or layer in the file, or file in an archive.")
    ] = None
    max_expansion: Annotated[
        float,
        _reading("--max-expansion", "N", "How many times its stored size a file may unpack or declare.", min=1),
    ] = 1000.0
    transpose: Annotated[bool, _reading("--transpose", None, "The file has features in rows.")] = False
    log1p: Annotated[bool, _reading("--log1p", None, "Take log(1 + x) of counts.")] = False
    scale: Annotated[bool, _reading("--scale", None, "Bring every sample to the median total.")] = False
    in_pieces: Annotated[
        bool | None,
        _reading(
            "--in-pieces/--whole",
            None,
            "Leave the table on disk, or read it whole; by default what the free memory allows.",
        ),
    ] = None

    def request(self, **changes: Any) -> "Request":
        """Turn the options into what the readers take."""
        from tamis.io.readers import Request

        delimiter = {"\\t": "\t", "tab": "\t", "space": " "}.get(self.delimiter or "", self.delimiter)
        if delimiter is not None and len(delimiter) != 1:
            raise UsageError(f"--delimiter takes one sign (or 'tab'); got {self.delimiter!r}.")
        self._check_marks()
        options = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "missing"}
        lists = {name: split(options[name]) for name in ("drop", "keep", "categorical", "na_values")}
        return Request(**(options | lists | {"delimiter": delimiter} | changes))

    def _check_marks(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise UsageError(f"--decimal takes . or , ; got {self.decimal!r}.")
        if self.thousands not in (None, ".", ",", " ", "'"):
            raise UsageError(f"--thousands takes , or . or ' or a space; got {self.thousands!r}.")
        if self.decimal is not None and self.decimal == self.thousands:
            raise UsageError(f"--decimal and --thousands are both {self.decimal!r}; one mark cannot be both.")
        if self.missing not in (None, "keep", "median", "drop-rows", "error"):
            raise UsageError(f"--missing takes keep, median, drop-rows or error; got {self.missing!r}.")


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Add to a command the options of :class:`Reading` as its argument ``reading``, and its errors one sentence."""
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


class NoStructureFoundError(Exception):
    """The table has no structure, so that there is nothing to choose."""


def parse_k(text: str | None) -> int | None:
    """Turn the -k of a user into a number; None for auto."""
    if text is None or text == "auto":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"-k takes a number of features, at least 1, or auto; got {text!r}.")
    return int(text)


def with_errors_as_sentences(work: Callable[[], None]) -> None:
    """Run something; say what went wrong in one line on standard error, and exit as Unix users expect."""
    try:
        work()
    except KeyboardInterrupt:
        complain("interrupted.")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except BrokenPipeError:
        raise
    except NoStructureFoundError as error:
        complain(str(error))
        raise typer.Exit(EXIT_NO_STRUCTURE) from None
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
