"""tamis panel: a gene panel of cells, as a table to send."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tamis.cli import results
from tamis.cli.options import parse_k, split
from tamis.extras import require
from tamis.io.errors import TableError, reading
from tamis.io.files import recording, write_text
from tamis.io.readers import read
from tamis.io.readers.hdf import values
from tamis.io.sources.hdf5 import open_hdf
from tamis.io.sources.sparse import PARTS, checked_csr
from tamis.io.sources.stores import text


def panel(given: SimpleNamespace) -> None:
    """Select genes, and write a row with the reasons for each, and a page."""
    require("tamis panel", "anndata", "h5py", "jinja2", "plotly")
    from tamis import select_genes
    from tamis.report.page import write_panel
    from tamis.single_cell.reasons import programme_table

    output = given.output or Path(f"{given.file.stem}-panel.csv")
    page = output.with_suffix(".html")
    results.check_outputs([output, page], [given.file], given.force)
    files = {entry: Path(entry) for entry in split(given.must_keep)}
    kept = [n for e, file in files.items() for n in (file.read_text("utf-8").split() if file.is_file() else [e])]
    table: Any = select_genes(
        _cells(given), parse_k(given.k) or "auto", batch_key=given.batch_key, gene_key=given.gene_key, must_keep=kept,
        never=split(given.never), random_state=given.seed, inplace=False, verbose=not given.quiet,
    )  # fmt: skip
    chosen = table[table["tamis_selected"]].sort_values("tamis_rank")
    told = chosen.drop(columns="tamis_selected").astype(object)
    lines = told.where(told.notna(), None).itertuples()
    with recording():
        write_text(output, results.csv_text(["gene", *told.columns], lines))
        write_panel(page, table, programme_table(table), title=f"Gene panel of {given.file.name}")
    print(f"{len(chosen)} genes: {output}, {page}")


def _cells(given: SimpleNamespace) -> Any:
    """Open an .h5ad file, which stays on disk, a 10x .h5 file or folder, or what tamis reads as a table."""
    import anndata

    if given.file.suffix in (".h5ad", ".h5"):
        with reading(given.file), open_hdf(given.file) as file:
            return anndata.read_h5ad(given.file, backed="r") if given.file.suffix == ".h5ad" else _tenx(file)
    request, matrix = given.reading.request(), next(given.file.glob("matrix.mtx*"), None)
    # Cell Ranger writes a folder with genes × cells, and files with the names of both.
    table = read(given.file, request) if matrix is None else read(matrix, replace(request, transpose=True))
    symbols = _symbols(given.file)
    return _annotated(table.X, [symbols.get(name, name) for name in table.feature_names])


def _symbols(folder: Path) -> dict[str, str]:
    """Return the symbols of the genes that a 10x folder lists, by their identifiers; nothing for a file."""
    import pandas

    listed = next((path for name in ("features", "genes") for path in folder.glob(f"{name}.tsv*")), None)
    if listed is None:
        return {}
    columns = pandas.read_csv(listed, sep="\t", header=None, dtype=str, usecols=[0, 1], keep_default_na=False)
    return dict(zip(columns[0], columns[1], strict=True))


def _annotated(X: Any, genes: Any) -> Any:
    """Return AnnData; symbols of 10x references repeat for a few genes."""
    import anndata
    import pandas

    index = anndata.utils.make_index_unique(pandas.Index(genes, dtype=object))
    return anndata.AnnData(X, var=pandas.DataFrame(index=index))


def _tenx(file: Any) -> Any:
    """Read a matrix that Cell Ranger 3 or later wrote: features × cells, compressed by cells."""
    if "matrix" not in file:
        raise TableError("holds no group 'matrix', as files of Cell Ranger 3 or later do.")
    stored = file["matrix"]
    n_genes, n_cells = stored["shape"][:]
    data, indices, indptr = (values(stored[part], part) for part in PARTS)
    X = checked_csr(data, indices, indptr, (n_cells, n_genes))
    return _annotated(X.astype("float32"), text(stored["features/name"]))
