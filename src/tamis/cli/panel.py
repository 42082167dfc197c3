"""tamis panel: a gene panel of cells, as a table to send."""

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tamis.cli import fitting, output, results
from tamis.cli.evaluation import listed_features
from tamis.cli.options import NoStructureFoundError, UsageError, complain, parse_k, split
from tamis.cli.progress import Bar
from tamis.cli.words import in_options
from tamis.extras import require
from tamis.io.errors import reading
from tamis.io.files import check_readable, recording, write_text
from tamis.io.readers.report import KINDS, shell_word
from tamis.io.readers.tenx import GENES
from tamis.io.sources import open_source
from tamis.reprs import counted

SHOWN = 20
"""Genes that are named on the terminal."""


def panel(given: SimpleNamespace) -> None:
    """Select genes, and write a row with the reasons for each, and a page."""
    require("tamis panel", "anndata", "h5py", "jinja2", "plotly")
    from tamis.report.page import write_panel
    from tamis.single_cell.reasons import programme_table

    path = given.output or Path(f"{results.name_parts(given.file)[0]}-panel.csv")
    page = path.with_suffix(".html")
    if path == page:
        raise UsageError(f"-o names the table of genes, and {page.name} will be its page; let it end with .csv.")
    results.check_outputs([path, page], [given.file], given.force)
    path.parent.mkdir(parents=True, exist_ok=True)
    table = _selected(given)
    chosen = table[table["tamis_selected"]].sort_values("tamis_rank")
    told = chosen.drop(columns="tamis_selected").astype(object)
    lines = told.where(told.notna(), None).itertuples()
    with recording():
        write_text(path, results.csv_text(["name" if given.gene_key == "gene" else "gene", *told.columns], lines))
        # The page calls genes by their symbols.
        shown = table if given.gene_key is None else table.set_index(given.gene_key)
        write_panel(page, shown, programme_table(shown), title=f"Gene panel of {given.file.name}")
    if not given.quiet:
        _tell(table.attrs)
    print(f"{counted(len(chosen), 'gene')}: {path}, {page}")


def _tell(found: dict[str, Any]) -> None:
    """Print what the matrix was taken for, and the genes."""
    normalised = "" if found["normalisation"] == "none" else f", normalised by {found['normalisation']}"
    held = "counts" if found["input"] == "counts" else f"{found['input']} values"
    output.say(f"The matrix holds {held}{normalised}; genes were tested on {found['tested_on']}.")
    if not found["batch_key"]:
        output.say("All cells were taken as one batch; --batch-key names the column that tells batches apart.")
    more = ", …" * (len(found["genes"]) > SHOWN)
    output.say(f"Genes for {counted(found['n_programmes'], 'programme')}: {', '.join(found['genes'][:SHOWN])}{more}")


def _selected(given: SimpleNamespace) -> Any:
    """Return the table of the genes; warnings of tamis become notes, others concern who writes programs."""
    from tamis import select_genes
    from tamis.sizes import NoStructureError

    kept = [name for entry in split(given.must_keep) for name in listed_features(entry)]
    with warnings.catch_warnings(record=True, action="always") as caught:
        cells, which = _cells(given)
        try:
            table: Any = select_genes(
                cells, parse_k(given.k) or "auto", batch_key=given.batch_key, gene_key=given.gene_key, must_keep=kept,
                never=split(given.never), random_state=given.seed, inplace=False, verbose=not given.quiet, **which,
            )  # fmt: skip
        except NoStructureError:
            fault = "no gene depends on others above chance, so that no number of genes is suggested"
            raise NoStructureFoundError(f"{fault}; collect more cells, or name a number by -k.") from None
        except ValueError as error:
            raise UsageError(in_options(str(error))) from error
    if given.gene_key is not None:
        var = cells.raw.var if "use_raw" in which else cells.var
        table.insert(0, given.gene_key, var[given.gene_key].astype(str))
    for warning in caught:
        if warning.category.__module__.startswith("tamis"):
            complain(f"note: {in_options(str(warning.message))}")
    return table


def _cells(given: SimpleNamespace) -> tuple[Any, dict[str, Any]]:
    """Return the cells, and which matrix of them to use; an .h5ad file stays on disk, all else is read as a table."""
    import anndata

    if given.file.suffix.lower() != ".h5ad":
        return _annotated(given), {}
    check_readable(given.file)
    options = dict(given.reading.options)
    key = options.pop("key", "X").removeprefix("layers/")
    if given.reading.missing or options:
        flag = "missing" if given.reading.missing else next(iter(options)).replace("_", "-")
        remedy = "leave it out; --key names a layer, and --never genes that may not be chosen"
        raise UsageError(f"--{flag} has no effect on how tamis panel reads .h5ad files; {remedy}.")
    open_source(given.file, key)  # Raises what is wrong with the file, or lists its layers.
    with reading(given.file):
        which = {} if key == "X" else {"use_raw": True} if key == "raw" else {"layer": key}
        return _genes_of(anndata.read_h5ad(given.file, backed="r")), which


def _genes_of(cells: Any) -> Any:
    """Return cells without columns that hold no genes, such as antibodies; those without any stay on disk."""
    types = cells.var.get("feature_types")
    if types is None or not 0 < (n_others := int((types != GENES).sum())) < len(types):
        return cells
    complain(f"note: left out {counted(n_others, 'column')} whose feature_types is not {GENES!r}.")
    return cells[:, (types == GENES).to_numpy()].to_memory()


def _annotated(given: SimpleNamespace) -> Any:
    """Return a table as AnnData; labels are a column of its cells, by which they may be parted into batches."""
    import anndata
    import pandas

    if (key := given.batch_key) not in (None, given.reading.options.get("labels")):
        raise UsageError(f"--batch-key names {key!r}, of which a table has no annotations; pass --labels {key}, too.")
    with Bar(given.quiet) as bar:
        table = fitting.read_with_bar(given.file, given.reading.request(), bar)
    table = fitting.fill_for(table, given.reading.missing or "error", None)
    output.print_read(table.report)
    if others := [name for name in table.original_names if table.kinds.get(name, "number") != "number"]:
        remedy = f"pass --drop {shell_word(others[0])}, or --labels and --batch-key if it tells the batches"
        raise UsageError(f"{others[0]!r} holds no expression but {KINDS[table.kinds[others[0]]]}; {remedy}.")
    obs = pandas.DataFrame({} if table.y is None else {table.label_name: table.y}, index=range(table.shape[0]))
    obs.index = obs.index.astype(str)
    var = pandas.DataFrame(index=pandas.Index(table.feature_names, dtype=object))
    return anndata.AnnData(table.X[:] if table.in_pieces else table.X, obs=obs, var=var)
