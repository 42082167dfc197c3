"""One small table, stored in every way that tamis reads in pieces."""

import anndata
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas
import pyarrow as pa
from pyarrow import parquet
from scipy.sparse import csr_matrix

from tamis.io.sources import RowBlocks, as_source, open_source

NAMES = [f"g{i}" for i in range(6)]
ROWS = 50


def annotated(X):
    cells = pandas.Index([f"c{i}" for i in range(len(X.toarray()) if hasattr(X, "toarray") else len(X))], dtype=object)
    genes = pandas.DataFrame(index=pandas.Index(NAMES, dtype=object))
    kinds = pandas.Categorical.from_codes(np.arange(len(cells)) % 2, pandas.Index(["B", "T"], dtype=object))
    return anndata.AnnData(X, pandas.DataFrame({"kind": kinds}, index=cells), genes, layers={"twice": 2 * X})


class Blocks:
    """Rows in uneven blocks, as a user may write them."""

    def __init__(self, X):
        self.X = X

    def __len__(self):
        return 3

    def __iter__(self):
        return iter([self.X[:20], self.X[20:23], self.X[23:]])


def arrow(X):
    return pa.table({name: X[:, i] for i, name in enumerate(NAMES)})


def stored(kind, X, folder):
    """Store the table in one way and open it as a source."""
    if kind == "npy":
        np.save(folder / "x.npy", X)
        return open_source(folder / "x.npy")
    if kind == "fortran memmap":
        np.save(folder / "x.npy", np.asfortranarray(X))
        return open_source(folder / "x.npy")
    if kind.endswith(("h5ad", "zarr")):
        adata = annotated(csr_matrix(X) if kind.startswith("sparse") else X)
        path = folder / f"x.{kind.split()[1]}"
        adata.write_h5ad(path) if path.suffix == ".h5ad" else adata.write_zarr(path)
        return open_source(path)
    if kind == "parquet file":
        parquet.write_table(arrow(X), folder / "x.parquet", row_group_size=20)
        return open_source(folder / "x.parquet")
    if kind == "parquet folder":
        (folder / "parts").mkdir()
        parquet.write_table(arrow(X).slice(0, 30), folder / "parts" / "0.parquet")
        parquet.write_table(arrow(X).slice(30), folder / "parts" / "1.parquet")
        return open_source(folder / "parts")
    if kind == "dask array":
        return as_source(da.from_array(X, chunks=(20, 4)))
    if kind == "dask frame":
        return as_source(dd.from_pandas(pandas.DataFrame(X, columns=NAMES), npartitions=3))
    return RowBlocks(Blocks(csr_matrix(X) if kind == "sparse blocks" else X), NAMES)


KINDS = [
    "npy", "fortran memmap", "dense h5ad", "sparse h5ad", "dense zarr", "sparse zarr", "parquet file",
    "parquet folder", "blocks", "sparse blocks", "dask array", "dask frame",
]  # fmt: skip
