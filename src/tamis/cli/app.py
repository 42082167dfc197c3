"""The commands: their options and their help; the work is done elsewhere."""

import re
from typing import Annotated

from typer import Exit, Option, Typer

from tamis.cli import options as o

app = Typer(
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
        raise Exit


Version = Annotated[bool, Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")]


@app.callback()
def _start(version: Version = False) -> None: ...


@app.command(cls=o.Command)
@o.command("selection:select")
def select(
    file: o.File, k: o.Count = "auto", method: o.Method = "lscae", must_keep: o.Names = None, never: o.Banned = None,
    n_init: o.Restarts = None, seed: o.Seed = 0, settings: o.Settings = None, output: o.Folder = None,
    image_shape: o.Shape = None, checkpoint: o.State = None, force: o.Force = False, json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:  # fmt: skip
    """Choose features of a table, and show why on a page.

    The folder gets selected.csv, features.csv (all features, with a reason for each), the reduced table in the
    input's format (CSV of workbooks and JSON), the saved selector, result.json and report.html.

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


@app.command(cls=o.Command)
@o.command("evaluation:check")
def check(file: o.File, json: o.Json = False, quiet: o.Quiet = False) -> None:
    """Show what is read of a table, and how to change it.

    Rows, features by kind, what is left out and why, and what is assumed, each with the option that changes it.
    Nothing is fitted and nothing is written.

    Examples
    --------
    - `tamis check survey.csv`
    - `tamis check sales.xlsx --sheet 2024 --decimal ,`
    """


@app.command(cls=o.Command)
@o.command("evaluation:evaluate")
def evaluate(
    file: o.File, features: o.List, random_lists: o.Random = 20, seed: o.Seed = 0, output: o.Folder = None,
    force: o.Force = False, json: o.Json = False, quiet: o.Quiet = False,
) -> None:  # fmt: skip
    """Score any list of features against random lists.

    However the list was chosen, it is scored, and judged whether it may be trusted. With -o, the folder gets
    selections.csv, scores.csv and result.json.

    Examples
    --------
    - `tamis evaluate genes.parquet -f genes-tamis/selected.csv`
    - `tamis evaluate cells.h5ad -f CD3D,NKG7,LYZ --labels cell_type`
    """


@app.command(cls=o.Command)
@o.command("comparison:curve")
def curve(
    file: o.File, k: o.Sizes = "auto", method: o.Method = "lscae", n_init: o.Restarts = None, seed: o.Seed = 0,
    settings: o.Settings = None, output: o.Folder = None, force: o.Force = False,
    json: o.Json = False, quiet: o.Quiet = False,
) -> None:  # fmt: skip
    """Choose lists of several sizes, and suggest a size.

    The folder gets report.html, with a slider over the sizes, selections.csv, scores.csv and result.json. The
    suggestion is the smallest number of features after which no further one explains a quarter of another direction
    of the structure, on rows held out. Ctrl-C keeps the finished sizes.

    Examples
    --------
    - `tamis curve genes.parquet -k 5,10,20,50,100`
    - `tamis curve cells.h5ad -k 10:50:10 --labels cell_type -o curve`
    """


@app.command(cls=o.Command)
@o.command("comparison:compare")
def compare(
    file: o.File, k: o.Size, methods: o.Methods = None, seed: o.Seed = 0, settings: o.Settings = None,
    output: o.Folder = None, force: o.Force = False, json: o.Json = False, quiet: o.Quiet = False,
) -> None:  # fmt: skip
    """Lay several methods side by side: lists, scores and time.

    The folder gets report.html, selections.csv, scores.csv and result.json. Ctrl-C keeps the finished methods.

    Examples
    --------
    - `tamis compare genes.parquet -k 50`
    - `tamis compare cells.h5ad -k 50 --methods lscae,cae,variance --labels cell_type -o comparison`
    """


@app.command(cls=o.Command)
@o.command("evaluation:apply")
def apply(
    selector: o.Saved, file: o.File, output: o.Reduced = None, force: o.Force = False, quiet: o.Quiet = False
) -> None:
    """Take the features that a saved selector chose from a file.

    They are matched by name. Categories and dates are written as the file has them, and missing cells stay missing.

    Examples
    --------
    - `tamis apply genes-tamis/selector.tamis new.parquet`
    - `tamis apply panel/selector.tamis new.csv --index sample -o new_panel.csv`
    """


@app.command(cls=o.Command)
@o.command("panel:panel")
def panel(
    file: o.File, k: o.Count = "auto", batch_key: o.BatchKey = None, gene_key: o.GeneKey = None,
    must_keep: o.Names = None, never: o.Banned = None, seed: o.Seed = 0, output: o.PanelFile = None,
    force: o.Force = False, quiet: o.Quiet = False,
) -> None:  # fmt: skip
    """Choose a gene panel of single cells, with the reasons for each gene.

    Reads .h5ad files, .h5 files of 10x Genomics, and folders or tables that the other commands read. Counts are
    normalised. --must-keep also takes a text file of names, --never also mitochondrial,
    ribosomal, haemoglobin, sex and cell-cycle.

    Examples
    --------
    - `tamis panel cells.h5ad -k 200 --batch-key donor --must-keep markers.txt --never mitochondrial,ribosomal`
    """


@app.command()
def methods() -> None:
    """List the methods that --method takes."""
    from tamis.cli.output import print_table
    from tamis.cli.words import in_options
    from tamis.selectors import SELECTORS

    sentences = {name: (selector.__doc__ or "").strip().partition("\n")[0] for name, selector in SELECTORS.items()}
    rows = [[name, in_options(re.sub(r",? *:math:`[^`]*`", "", text))] for name, text in sentences.items()]
    print_table("Methods", ["method", "what it does"], rows)
