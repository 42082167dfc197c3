"""The commands."""

import re
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tamis.cli.checking import check
from tamis.cli.options import (
    File,
    Force,
    Json,
    Method,
    Quiet,
    Reading,
    Restarts,
    Saved,
    Seed,
    Settings,
    UsageError,
    command,
    parse_k,
    parse_settings,
    parse_shape,
    split,
)
from tamis.cli.several import compare, curve, evaluate

app = typer.Typer(
    help="Choose the features that carry the structure of a table, without labels.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the results.")]
Shape = Annotated[
    str | None, typer.Option("--image-shape", metavar="HxW", help="The features are pixels of images of this shape.")
]


def _version(wanted: bool) -> None:
    if wanted:
        from tamis import __version__

        print(f"tamis {__version__}")
        raise typer.Exit


@app.callback()
def _start(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None: ...


@app.command()
@command
def select(
    file: File,
    k: Annotated[
        str,
        typer.Option("-k", "--features", metavar="N|auto", help="How many; auto: as few as explain the structure."),
    ] = "auto",
    method: Method = "lscae",
    must_keep: Annotated[
        list[str] | None, typer.Option("--must-keep", metavar="NAMES", help="Features to choose in any case: a,b.")
    ] = None,
    never: Annotated[
        list[str] | None, typer.Option("--never", metavar="NAMES", help="Features never to choose: a,b or 'MT-*'.")
    ] = None,
    n_init: Restarts = None,
    seed: Seed = 0,
    settings: Settings = None,
    output: Output = None,
    image_shape: Shape = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", metavar="FOLDER", help="Keep the state of training here; a killed run goes on."),
    ] = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """Choose k features of a table, and write them with a page that shows why.

    The folder gets selected.csv, features.csv (all features, with a reason for each), the reduced table in the
    input's format, the saved selector, result.json and report.html.

    Examples
    --------
    - `tamis select genes.parquet -k 50`
    - `tamis select cells.h5ad -k 100 --labels cell_type --never 'MT-*' -o panel`
    - `tamis select counts.csv -k 50 --transpose --scale --log1p`
    - `tamis select digits.npz -k 40 --labels y_train --image-shape 28x28 --set max_epochs=20`
    - `tamis select table.csv -k 10 --method cae --json`
    - `torchrun --nproc-per-node 4 -m tamis select atlas.h5ad -k 100 --checkpoint atlas-state`
    """
    from tamis.cli import fitting, processes
    from tamis.cli.selecting import Selecting

    begun = time.monotonic()
    given = parse_settings(settings) | ({} if checkpoint is None else {"checkpoint_dir": str(checkpoint)})
    with fitting.Bar(quiet or json or not processes.is_first()) as bar, processes.together():
        bar.stage("Starting")
        fitting.begin_import(method)
        run = Selecting(file, parse_k(k), method, seed, output, image_shape, reading, bar, begun, json, force)
        run.go(split(must_keep), split(never), n_init, given)
    if processes.is_first():
        run.show(json)


for _other in (check, evaluate, curve, compare):
    app.command()(_other)


@app.command()
@command
def report(
    selector: Saved,
    file: File,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page.")] = Path("report.html"),
    image_shape: Shape = None,
    seed: Seed = 0,
    force: Force = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """Make the page of a saved selector anew, on its own or on new data.

    Examples
    --------
    - `tamis report genes-tamis/selector.tamis genes.parquet`
    - `tamis report panel/selector.tamis new_cells.h5ad --labels cell_type -o new.html`
    """
    import tamis
    from tamis.cli import fitting
    from tamis.cli import output as printing
    from tamis.io.files import recording
    from tamis.report import analyse, write_report
    from tamis.verdict import judge_table

    printing.check_outputs([output], [selector, file], force)
    with fitting.Bar(quiet) as bar, recording():
        bar.stage("Starting")
        loaded = tamis.load(selector)
        table = fitting.read_with_bar(file, reading.request(only=loaded_names(loaded)), bar)
        _check_same_features(table.feature_names.tolist(), loaded_names(loaded))
        table = fitting.fill_for(table, reading.missing, None)
        shape = parse_shape(image_shape, table.shape[1])
        bar.stage("Looking at the choice")
        analysis = analyse(loaded, table.X, table.y, seed)
        verdict = judge_table(table.X, loaded.selected_)
        path = write_report(output, loaded, table, analysis, verdict, title=file.name, image_shape=shape)
    printing.print_read(table)
    printing.say(str(verdict))
    printing.say(f"Page: {path}")


def _check_same_features(found: list[str], wanted: tuple[str, ...]) -> None:
    """Refuse a file in which a feature of the selector holds something else than it did."""
    from tamis.io.readers.report import listed

    other = [name for name in wanted if name not in set(found)]
    if other:
        raise UsageError(
            f"the file holds other values in {listed(other)} than the selector was fitted on; see tamis check."
        )


def loaded_names(selector: Any) -> tuple[str, ...]:
    """Return the names of a saved selector's features; those of nameless data are numbered as the readers do."""
    names = getattr(selector, "feature_names_in_", None)
    if names is None:
        names = [f"feature_{i}" for i in range(selector.n_features_in_)]
    return tuple(str(name) for name in names)


@app.command()
@command
def apply(
    selector: Saved,
    file: File,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The reduced table; its ending is its format.")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    *,
    reading: Reading,
) -> None:
    """Take the features that a saved selector chose from a new file; they are matched by name.

    Categories and dates are written as the file has them, and missing cells stay missing.

    Examples
    --------
    - `tamis apply genes-tamis/selector.tamis new.parquet`
    - `tamis apply panel/selector.tamis new.csv --index sample -o new_panel.csv`
    """
    import numpy as np

    import tamis
    from tamis.cli import fitting
    from tamis.cli import output as printing
    from tamis.io.files import recording
    from tamis.io.readers import format_of
    from tamis.io.writers import write_table

    with fitting.Bar(quiet) as bar, recording():
        bar.stage("Starting")
        loaded = tamis.load(selector)
        names = np.array(loaded_names(loaded), dtype=object)[loaded.get_support()]
        stem, ending = printing.name_parts(file)
        path = output or Path(f"{stem}-selected{ending}")
        printing.check_written(path)
        printing.check_outputs([path], [selector, file], force)
        table = fitting.read_with_bar(file, reading.request(only=tuple(names)), bar)
        reduced = printing.reduced_table(table, table.original_names, format_of(path))
        write_table(path, reduced, source=file, transpose=reading.transpose)
    printing.print_read(table)
    printing.say(f"{reduced.shape[0]} samples with {reduced.shape[1]} features: {path}")


@app.command()
def methods() -> None:
    """List the methods that --method takes."""
    from tamis.cli.output import print_table
    from tamis.selectors import SELECTORS

    rows = [[name, first_sentence(SELECTORS[name].__doc__ or "")] for name in SELECTORS]
    print_table("Methods", ["method", "what it does"], rows)


def first_sentence(docstring: str) -> str:
    """Return the first line of a docstring in the words of the command line, without formulae."""
    from tamis.cli.words import in_options

    line = docstring.strip().splitlines()[0] if docstring.strip() else ""
    return in_options(re.sub(r",? *:math:`[^`]*`", "", line))
