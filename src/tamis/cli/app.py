"""The commands."""

import time
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tamis.cli.options import (
    EXIT_INTERRUPTED,
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
    command,
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
        int | None, typer.Option("-k", "--features", min=1, help="How many features; by default half.")
    ] = None,
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
    input's format, the saved selector, and report.html.

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

    begun = time.monotonic()
    given = parse_settings(settings) | ({} if checkpoint is None else {"checkpoint_dir": str(checkpoint)})
    with fitting.Bar(quiet or json or not processes.is_first()) as bar, processes.together():
        bar.stage("Starting")
        fitting.begin_import(method)
        run = _Selection(file, k, method, seed, output, image_shape, reading, bar, begun, force)
        run.go(split(must_keep), split(never), n_init, given)
    if processes.is_first():
        run.show(json)


class _Selection:
    """One run of ``select``, in its four steps: read, fit, look, write."""

    def __init__(
        self, file: Path, k: int | None, method: str, seed: int, output: Path | None, shape: str | None,
        reading: Reading, bar: Any, begun: float, force: bool,
    ):  # fmt: skip
        from tamis.cli.output import default_folder

        self.file, self.k, self.method, self.seed, self.shape = file, k, method, seed, shape
        self.folder = output or default_folder(file, "tamis")
        self.reading, self.bar, self.begun, self.force = reading, bar, begun, force

    def go(self, keep: tuple[str, ...], never: tuple[str, ...], n_init: int | None, settings: dict[str, Any]) -> None:
        """Do everything but print."""
        from tamis.cli import fitting, output, processes
        from tamis.writers import check_names

        with output.output_folder(self.folder) if processes.is_first() else nullcontext():
            paths = output.selection_paths(self.folder, self.file)
            output.check_outputs(paths.values(), [self.file], self.force)
            self.table = fitting.read_with_bar(self.file, self.reading.request(), self.bar)
            check_names(paths["reduced"], self.table)
            shape = parse_shape(self.shape, self.table.shape[1])
            self.bar.stage("Starting")
            unfitted = fitting.make_selector(
                self.method, self.k, self.table, self.seed, keep=keep, never=never, n_init=n_init, settings=settings
            )
            with fitting.interruptible() as state:
                self.selector = fitting.fit(unfitted, self.table, self.bar, state)
            self.stopped = fitting.stopped_early(self.selector, state)
            if processes.is_first():
                self._look_and_write(shape)

    def _look_and_write(self, shape: tuple[int, int] | None) -> None:
        from tamis.cli import output
        from tamis.report import analyse, judge

        self.bar.stage("Looking at the choice")
        analysis = analyse(self.selector, self.table.X, self.table.y, self.seed)
        self.verdict, self.scores = judge(self.selector, analysis, self.stopped), analysis.scores
        self.bar.stage("Writing")
        self.files = output.write_selection(
            self.folder, self.file, self.selector, self.table, analysis, self.verdict,
            transpose=self.reading.transpose, image_shape=shape,
        )  # fmt: skip

    def show(self, as_json: bool) -> None:
        """Print the result."""
        from tamis.cli import output

        names = self.table.feature_names.tolist()
        if as_json:
            output.print_json(self._document(names))
        else:
            output.print_selection(self.selector, names, self.verdict, self.files)
        if self.stopped:
            raise typer.Exit(EXIT_INTERRUPTED)

    def _document(self, names: Any) -> dict[str, Any]:
        chosen = self.selector.selected_
        return {
            "command": "select",
            "input": str(self.file),
            "shape": list(self.table.shape),
            "method": self.method,
            "seed": self.seed,
            "stopped_early": self.stopped,
            "selected": [
                {"rank": rank, "feature": str(names[c]), "column": int(c), "score": self.selector.scores_[c]}
                for rank, c in enumerate(chosen, start=1)
            ],
            "verdict": asdict(self.verdict),
            "scores": self.scores,
            "files": self.files,
            "seconds": round(time.monotonic() - self.begun, 2),
        }


for _other in (evaluate, curve, compare):
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
    from tamis.files import recording
    from tamis.report import analyse, judge, write_report

    printing.check_outputs([output], [selector, file], force)
    with fitting.Bar(quiet) as bar, recording():
        bar.stage("Starting")
        loaded = tamis.load(selector)
        table = fitting.read_with_bar(file, reading.request(only=loaded_names(loaded)), bar)
        shape = parse_shape(image_shape, table.shape[1])
        bar.stage("Looking at the choice")
        analysis = analyse(loaded, table.X, table.y, seed)
        verdict = judge(loaded, analysis)
        path = write_report(output, loaded, table, analysis, verdict, title=file.name, image_shape=shape)
    printing.say(verdict.sentence())
    printing.say(f"Page: {path}")


def loaded_names(selector: Any) -> tuple[str, ...]:
    """Give the names of a saved selector's columns; those of nameless data are numbered as the readers do."""
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
    """Take the features that a saved selector chose from a new file; columns are matched by name.

    Examples
    --------
    - `tamis apply genes-tamis/selector.tamis new.parquet`
    - `tamis apply panel/selector.tamis new.csv --index sample -o new_panel.csv`
    """
    import numpy as np

    import tamis
    from tamis.cli import fitting
    from tamis.cli import output as printing
    from tamis.files import recording
    from tamis.readers import format_of
    from tamis.writers import write_table

    with fitting.Bar(quiet) as bar, recording():
        bar.stage("Starting")
        loaded = tamis.load(selector)
        names = np.array(loaded_names(loaded), dtype=object)[loaded.get_support()]
        stem, ending = printing.name_parts(file)
        path = output or Path(f"{stem}-selected{ending}")
        format_of(path)
        printing.check_outputs([path], [selector, file], force)
        table = fitting.read_with_bar(file, reading.request(only=tuple(names)), bar)
        write_table(path, table, source=file, transpose=reading.transpose)
    printing.say(f"{table.shape[0]} samples with {table.shape[1]} features: {path}")


@app.command()
def methods() -> None:
    """List the methods that --method takes."""
    from tamis.cli.output import print_table
    from tamis.selectors import SELECTORS

    rows = [[name, (SELECTORS[name].__doc__ or "").strip().splitlines()[0]] for name in SELECTORS]
    print_table("Methods", ["method", "what it does"], rows)
