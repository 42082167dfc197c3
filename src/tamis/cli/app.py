"""The commands."""

import re
from pathlib import Path
from typing import Annotated

import typer

from tamis.cli import options as o

app = typer.Typer(
    help="Choose the features that carry the structure of a table, without labels.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


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


@app.command(cls=o.Command)
@o.command
def select(
    file: o.File, k: o.Count = "auto", method: o.Method = "lscae", must_keep: o.Names = None, never: o.Banned = None,
    n_init: o.Restarts = None, seed: o.Seed = 0, settings: o.Settings = None, output: o.Folder = None,
    image_shape: o.Shape = None, checkpoint: o.State = None, force: o.Force = False, json: o.Json = False,
    quiet: o.Quiet = False, *, reading: o.Reading,
) -> None:  # fmt: skip
    """Choose k features of a table, and write them with a page that shows why.

    The folder gets selected.csv, features.csv (all features, with a reason for each), the reduced table in the
    input's format, the saved selector, result.json and report.html.

    Examples
    --------
    - `tamis select survey.csv`
    - `tamis select genes.parquet -k 50`
    - `tamis select cells.h5ad -k 100 --labels cell_type --never 'MT-*' -o panel`
    - `tamis select counts.csv -k 50 --transpose --scale --log1p`
    - `tamis select digits.npz -k 40 --labels y_train --image-shape 28x28 --set max_epochs=20`
    - `tamis select table.csv -k 10 --method structure-pursuit --json`
    - `torchrun --nproc-per-node 4 -m tamis select atlas.h5ad -k 100 --checkpoint atlas-state`
    """
    from tamis.cli import fitting, processes, results
    from tamis.cli.progress import Bar
    from tamis.cli.selection import Selection

    given = o.parse_settings(settings) | ({"n_init": n_init} if n_init is not None else {})
    given |= {} if checkpoint is None else {"checkpoint_dir": str(checkpoint)}
    folder = output or results.default_folder(file, "tamis")
    run = Selection(file, o.parse_k(k), method, seed, folder, reading, json, force)
    with Bar(quiet or json or not processes.is_first()) as bar, processes.together():
        fitting.begin_import(method)
        run.run(bar, image_shape, keep=o.split(must_keep), never=o.split(never), settings=given)
    if processes.is_first():
        run.show()


@app.command(cls=o.Command)
@o.command
def check(file: o.File, json: o.Json = False, quiet: o.Quiet = False, *, reading: o.Reading) -> None:
    """Show what is read of a table: rows, features by kind, what is left out and why, and what is assumed.

    Every remark comes with the option that changes it. Nothing is fitted and nothing is written.

    Examples
    --------
    - `tamis check survey.csv`
    - `tamis check sales.xlsx --sheet 2024 --decimal ,`
    """
    from tamis.cli import fitting, output, results
    from tamis.cli.progress import Bar
    from tamis.io.readers.missing import fill
    from tamis.report.page import finding_rows

    with Bar(quiet or json) as bar:
        table = fitting.read_with_bar(file, reading.request(), bar)
        table = fill(table, reading.missing) if reading.missing not in (None, "keep") else table
    if json:
        output.print_json(results.document_of("check", file, table, features=table.original_names))
        return
    output.say(f"{file.name}: {table.report.headline()}.")
    rows = [list(row) for row in finding_rows(table.report)]
    if table.report.missing_cells and not table.report.filled:
        rows.append(["missing", "missing cells are filled with medians, unless the method takes them", "--missing"])
    if rows:
        output.print_table("What to know about it", ["what", "remark", "option"], rows)
    else:
        output.say("Nothing was assumed, left out or noticed.")


@app.command(cls=o.Command)
@o.command
def evaluate(
    file: o.File, features: o.List, random_lists: o.Random = 20, resamples: o.Resamples = 10, refits: o.Refits = 0,
    seed: o.Seed = 0, output: o.Folder = None, force: o.Force = False, json: o.Json = False, quiet: o.Quiet = False,
    *, reading: o.Reading,
) -> None:  # fmt: skip
    """Score any list of features, however it was chosen, against random lists of the same size.

    With -o, the folder gets selections.csv, scores.csv and result.json.

    Examples
    --------
    - `tamis evaluate genes.parquet -f genes-tamis/selected.csv`
    - `tamis evaluate cells.h5ad -f CD3D,NKG7,LYZ --labels cell_type`
    - `tamis evaluate genes.parquet -f genes-tamis/selector.tamis --refits 5 --json`
    """
    from tamis.cli.evaluation import Evaluation
    from tamis.cli.output import print_json
    from tamis.cli.progress import Bar

    run = Evaluation(file, features, seed, output, reading, force)
    with Bar(quiet or json) as bar:
        run.run(bar, random_lists, resamples, refits)
    if json:
        print_json(run.document)
    else:
        run.show()


@app.command(cls=o.Command)
@o.command
def curve(
    file: o.File, k: o.Sizes = "auto", method: o.Method = "lscae", n_init: o.Restarts = None, seed: o.Seed = 0,
    settings: o.Settings = None, output: o.Folder = None, jobs: o.Jobs = 1, force: o.Force = False,
    json: o.Json = False, quiet: o.Quiet = False, *, reading: o.Reading,
) -> None:  # fmt: skip
    """Choose lists of several sizes, plot their scores, and suggest a size.

    The folder gets report.html, with a slider over the sizes, selections.csv, scores.csv and result.json. The
    suggestion is the smallest number of features after which no further one explains a quarter of another direction
    of the structure, on rows held out. Ctrl-C keeps the finished sizes.

    Examples
    --------
    - `tamis curve genes.parquet -k 5,10,20,50,100`
    - `tamis curve cells.h5ad -k 10:50:10 --labels cell_type -o curve`
    """
    given = o.parse_settings(settings) | ({"n_init": n_init} if n_init is not None else {})
    sizes = [] if k == "auto" else o.parse_sizes(k)
    _compare("curve", file, [method], sizes, seed, given, output, reading, quiet, json, jobs, force)


@app.command(cls=o.Command)
@o.command
def compare(
    file: o.File, k: o.Size, methods: o.Methods = None, seed: o.Seed = 0, settings: o.Settings = None,
    output: o.Folder = None, jobs: o.Jobs = 1, force: o.Force = False, json: o.Json = False, quiet: o.Quiet = False,
    *, reading: o.Reading,
) -> None:  # fmt: skip
    """Lay several methods side by side: lists, scores and time.

    The folder gets report.html, selections.csv, scores.csv and result.json. Ctrl-C keeps the finished methods.

    Examples
    --------
    - `tamis compare genes.parquet -k 50`
    - `tamis compare cells.h5ad -k 50 --methods lscae,cae,variance --labels cell_type -o comparison`
    """
    from tamis.cli.comparison import wanted_methods

    given = o.parse_settings(settings)
    _compare("compare", file, wanted_methods(methods), [k], seed, given, output, reading, quiet, json, jobs, force)


def _compare(
    name: str, file: Path, methods: list[str], sizes: list[int], seed: int, settings: dict[str, object],
    output: Path | None, reading: o.Reading, quiet: bool, json: bool, jobs: int, force: bool,
) -> None:  # fmt: skip
    from tamis.cli.comparison import Comparison
    from tamis.cli.progress import Bar
    from tamis.cli.results import default_folder

    folder = output or default_folder(file, name)
    run = Comparison(name, file, methods, sizes, seed, settings, folder, reading, json, jobs, force)
    with Bar(quiet or json) as bar:
        run.run(bar)
    run.show()


@app.command(cls=o.Command)
@o.command
def report(
    selector: o.Saved, file: o.File, output: o.Page = Path("report.html"), image_shape: o.Shape = None,
    seed: o.Seed = 0, force: o.Force = False, quiet: o.Quiet = False, *, reading: o.Reading,
) -> None:  # fmt: skip
    """Make the page of a saved selector anew, on its own or on new data.

    Examples
    --------
    - `tamis report genes-tamis/selector.tamis genes.parquet`
    - `tamis report panel/selector.tamis new_cells.h5ad --labels cell_type -o new.html`
    """
    import tamis
    from tamis.cli import fitting, results
    from tamis.cli import output as printing
    from tamis.cli.evaluation import saved_names
    from tamis.cli.progress import Bar
    from tamis.cli.selection import next_steps
    from tamis.io.files import recording
    from tamis.io.readers.report import listed
    from tamis.report import analyse, write_report
    from tamis.verdict import judge_table

    results.check_outputs([output], [selector, file], force)
    with Bar(quiet) as bar, recording():
        loaded = tamis.load(selector)
        names = saved_names(loaded)
        table = fitting.read_with_bar(file, reading.request(only=names), bar)
        if other := set(names) - set(table.feature_names.tolist()):
            what = f"the file holds other values in {listed(sorted(other))} than the selector was fitted on"
            raise o.UsageError(f"{what}; see tamis check.")
        table = fitting.fill_for(table, reading.missing, None)
        shape = o.parse_shape(image_shape, table.shape[1])
        bar.stage("Analysing the choice")
        verdict = judge_table(table.X, loaded.selected_)
        analysis = analyse(loaded, table, random_state=seed)
        steps = next_steps(file, selector, verdict, analysis.k)
        write_report(output, loaded, table, analysis, verdict, title=file.name, steps=steps, image_shape=shape)
    printing.print_read(table)
    printing.say(str(verdict))
    printing.say(f"Page: {output}", fold=False)


@app.command(cls=o.Command)
@o.command
def apply(
    selector: o.Saved, file: o.File, output: o.Reduced = None, force: o.Force = False, quiet: o.Quiet = False,
    *, reading: o.Reading,
) -> None:  # fmt: skip
    """Take the features that a saved selector chose from a new file; they are matched by name.

    Categories and dates are written as the file has them, and missing cells stay missing.

    Examples
    --------
    - `tamis apply genes-tamis/selector.tamis new.parquet`
    - `tamis apply panel/selector.tamis new.csv --index sample -o new_panel.csv`
    """
    import tamis
    from tamis.cli import fitting, results
    from tamis.cli import output as printing
    from tamis.cli.evaluation import saved_names
    from tamis.cli.progress import Bar
    from tamis.cli.selection import read_transposed
    from tamis.io.files import recording
    from tamis.io.writers import write_table

    with Bar(quiet) as bar, recording():
        loaded = tamis.load(selector)
        names = [saved_names(loaded)[place] for place in loaded.get_support(indices=True)]
        stem, ending = results.name_parts(file)
        path = output or Path(f"{stem}-selected{ending}")
        results.check_format(path)
        results.check_outputs([path], [selector, file], force)
        table = fitting.read_with_bar(file, reading.request(only=tuple(names)), bar)
        reduced = results.reduced_table(table, table.original_names, path)
        write_table(path, reduced, source=file, transpose=read_transposed(reading))
    printing.print_read(table)
    printing.say(f"{reduced.shape[0]} samples with {reduced.shape[1]} features: {path}", fold=False)


@app.command()
def methods() -> None:
    """List the methods that --method takes."""
    from tamis.cli.output import print_table
    from tamis.cli.words import in_options
    from tamis.selectors import SELECTORS

    def sentence(docstring: str) -> str:
        return in_options(re.sub(r",? *:math:`[^`]*`", "", docstring.strip().partition("\n")[0]))

    rows = [[name, sentence(SELECTORS[name].__doc__ or "")] for name in SELECTORS]
    print_table("Methods", ["method", "what it does"], rows)
