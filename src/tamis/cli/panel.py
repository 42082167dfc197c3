"""tamis panel: a gene panel of cells, as a table to send."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tamis.cli.options import UsageError, parse_k, split
from tamis.extras import require
from tamis.io.files import write_text
from tamis.io.readers import read


def panel(given: SimpleNamespace) -> None:
    """Select genes, and write a row with the reasons for each."""
    from tamis import select_genes

    output = given.output or Path(f"{given.file.stem}-panel.csv")
    if output.exists() and not given.force:
        raise UsageError(f"{output} exists; name another file by -o, or pass --force.")
    kept = [name for entry in split(given.must_keep) for name in _names(entry)]
    table: Any = select_genes(
        _cells(given), parse_k(given.k) or "auto", batch_key=given.batch_key, gene_key=given.gene_key, must_keep=kept,
        never=split(given.never), random_state=given.seed, inplace=False, verbose=not given.quiet,
    )  # fmt: skip
    chosen = table[table["tamis_selected"]].sort_values("tamis_rank")
    write_text(output, chosen.drop(columns="tamis_selected").to_csv(index_label="gene"))
    print(f"{len(chosen)} genes: {output}")


def _names(entry: str) -> list[str]:
    """Return the names of a text file, or the entry itself."""
    return Path(entry).read_text(encoding="utf-8").split() if Path(entry).is_file() else [entry]


def _cells(given: SimpleNamespace) -> Any:
    """Open an .h5ad file, which stays on disk, a 10x .h5 file, or anything else that tamis reads as a table."""
    require("tamis panel", "anndata", "h5py")
    import anndata
    import pandas

    if given.file.suffix == ".h5ad":
        return anndata.read_h5ad(given.file, backed="r")
    if given.file.suffix == ".h5":
        return _tenx(given.file)
    table = read(given.file, given.reading.request())
    return anndata.AnnData(table.X, var=pandas.DataFrame(index=pandas.Index(table.feature_names, dtype=object)))


def _tenx(path: Path) -> Any:
    """Read a matrix that Cell Ranger 3 or later wrote: features × cells, compressed by cells."""
    import anndata
    import h5py
    import pandas
    from scipy.sparse import csr_matrix

    with h5py.File(path) as file:
        if "matrix" not in file:
            raise UsageError(f"{path}: holds no group 'matrix', as files of Cell Ranger 3 or later do.")
        stored = file["matrix"]
        n_genes, n_cells = stored["shape"][:]
        X = csr_matrix((stored["data"][:], stored["indices"][:], stored["indptr"][:]), shape=(n_cells, n_genes))
        names = pandas.Index(stored["features/name"].asstr()[:].astype(object))
    # Symbols of 10x references repeat for a few genes.
    var = pandas.DataFrame(index=anndata.utils.make_index_unique(names))
    return anndata.AnnData(X.astype("float32"), var=var)
