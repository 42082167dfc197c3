"""Valid files of every format that tamis reads, small ones, from which the damaged ones are made."""

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mmwrite, savemat

Files = dict[str, bytes]
"""Contents by path within a folder; a single file has the path ``""``."""

N, D = 12, 5
NAMES = [f"gene{i}" for i in range(D)]
SAMPLES = [f"cell{i}" for i in range(N)]
KINDS = ["B", "T", "NK"] * 4


def table() -> np.ndarray:
    """Return the table that all files hold: counts and fractions, half of them zero."""
    rng = np.random.default_rng(0)
    return np.round(rng.random((N, D)) * 8, 2) * (rng.random((N, D)) < 0.6)


def _text(delimiter: str, decimal: str = ".") -> bytes:
    rows = [
        [name, *(str(cell).replace(".", decimal) for cell in row)] for name, row in zip(SAMPLES, table(), strict=True)
    ]
    return "\n".join(delimiter.join(row) for row in [["", *NAMES], *rows]).encode() + b"\n"


def texts() -> Iterator[tuple[str, bytes]]:
    """Yield text tables."""
    yield "plain.csv", _text(",")
    yield "tabs.tsv", _text("\t")
    yield "commas.txt", _text(";", ",")
    yield "wide.csv", _text(",").decode().encode("utf-16")
    yield "packed.csv.gz", gzip.compress(_text(","))
    yield "packed.csv.bz2", bz2.compress(_text(","))
    yield "packed.tsv.xz", lzma.compress(_text("\t"))
    yield "packed.csv.zip", _zipped("t.csv", _text(","))
    rows = [dict(zip(NAMES, map(float, row), strict=True)) | {"kind": "B"} for row in table()]
    yield "records.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode()
    yield "records.json", json.dumps(rows).encode()
    quoted = "\n".join(["a,b,c", *(f'"{x}","{-x}",{x}e-3' for x in range(1, 9))])
    yield "quoted.csv", quoted.encode()


def _zipped(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def _saved(write: Callable[..., object], *arguments: object, **named: object) -> bytes:
    stream = io.BytesIO()
    write(stream, *arguments, **named)
    return stream.getvalue()


def arrays() -> Iterator[tuple[str, bytes]]:
    """Yield NumPy files."""
    X = table()
    yield "double.npy", _saved(np.save, X)
    yield "turned.npy", _saved(np.save, np.asfortranarray(X.astype(np.float32)))
    yield "whole.npy", _saved(np.save, (X * 10).astype(np.int16))
    yield "named.npz", _saved(np.savez, X=X, feature_names=NAMES, sample_names=SAMPLES, y=KINDS)
    yield "packed.npz", _saved(np.savez_compressed, data=X, labels=np.arange(N))
    for kind in ("csr", "csc", "coo"):
        yield f"{kind}.npz", _saved(sparse.save_npz, sparse.csr_array(X).asformat(kind))


def matrix_market() -> Iterator[tuple[str, bytes]]:
    """Yield MatrixMarket files."""
    X = table()
    yield "cells.mtx", _saved(mmwrite, sparse.csr_array(X), comment="of cells")
    yield "counts.mtx", _saved(mmwrite, sparse.csr_array((X * 10).astype(int)))
    yield "pattern.mtx", _saved(mmwrite, sparse.csr_array(X), field="pattern")
    yield "dense.mtx", _saved(mmwrite, X)
    yield "packed.mtx.gz", gzip.compress(_saved(mmwrite, sparse.csr_array(X)))


def matlab() -> Iterator[tuple[str, bytes]]:
    """Yield MATLAB files."""
    cells = np.array(NAMES, dtype=object)
    parts = {"X": table(), "names": cells, "Y": np.arange(N)}
    yield "plain.mat", _saved(savemat, parts)
    yield "packed.mat", _saved(savemat, parts, do_compression=True)
    yield "sparse.mat", _saved(savemat, {"X": sparse.csc_array(table()), "title": "of cells"})


def arrow() -> Iterator[tuple[str, bytes]]:
    """Yield Parquet and Feather files."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    content = pa.table({"cell": SAMPLES} | {name: table()[:, i] for i, name in enumerate(NAMES)})
    numbers = content.drop_columns("cell")
    yield "named.parquet", _saved(lambda to: parquet.write_table(content, to, row_group_size=5))
    yield "numbers.parquet", _saved(lambda to: parquet.write_table(numbers, to, compression="zstd"))
    yield "plain.parquet", _saved(lambda to: parquet.write_table(numbers, to, compression="none", use_dictionary=False))
    yield "numbers.feather", _saved(lambda to: feather.write_feather(numbers, to))
    yield "plain.arrow", _saved(lambda to: feather.write_feather(numbers, to, compression="uncompressed"))


def _frames() -> tuple[object, object]:
    import pandas

    obs = pandas.DataFrame(
        {"kind": pandas.Categorical.from_codes(np.arange(N) % 3, pandas.Index(["B", "T", "NK"], dtype=object))},
        index=pandas.Index(SAMPLES, dtype=object),
    )
    return obs, pandas.DataFrame(index=pandas.Index(NAMES, dtype=object))


def stores() -> Iterator[tuple[str, Files]]:
    """Yield HDF5 files, and Zarr stores and Parquet folders, which are many files each."""
    import anndata
    import h5py
    import zarr

    with TemporaryDirectory() as name:
        folder = Path(name)
        with h5py.File(folder / "plain.h5", "w") as file:
            file["X"], file["feature_names"], file["unused"] = table(), NAMES, np.arange(3)
        with h5py.File(folder / "packed.h5", "w") as file:
            file.create_dataset("one/matrix", data=table(), chunks=(4, 5), compression="gzip")
        for kind, X in (("dense", table()), ("csr", sparse.csr_matrix(table())), ("csc", sparse.csc_matrix(table()))):
            adata = anndata.AnnData(X, *_frames(), layers={"twice": 2 * X})
            adata.write_h5ad(folder / f"{kind}.h5ad")
            if kind != "csc":
                adata.write_zarr(folder / f"{kind}.zarr")
        dense: Any = table()
        zarr.save_array(str(folder / "plain.zarr"), dense)
        zarr.save_array(str(folder / "old.zarr"), dense, zarr_format=2)
        _parquet_folder(folder / "parts")
        for path in sorted(folder.iterdir()):
            yield path.name, files_of(path)


def _parquet_folder(folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir()
    for number, rows in enumerate((table()[:7], table()[7:])):
        part = pa.table({name: rows[:, i] for i, name in enumerate(NAMES)})
        parquet.write_table(part, folder / f"{number}.parquet")


def files_of(path: Path) -> Files:
    """Return the contents of a file or a folder."""
    if path.is_file():
        return {"": path.read_bytes()}
    return {str(part.relative_to(path)): part.read_bytes() for part in sorted(path.rglob("*")) if part.is_file()}


def selectors() -> Iterator[tuple[str, bytes]]:
    """Yield saved selectors."""
    import tamis

    with TemporaryDirectory() as folder:
        for name in ("VarianceScore", "LaplacianScore"):
            path = Path(folder, f"{name}.tamis")
            getattr(tamis, name)(2).fit(table()).save(path)
            yield path.name, path.read_bytes()


def all_seeds() -> dict[str, Files]:
    """Return every valid file by name."""
    single = [*texts(), *arrays(), *matrix_market(), *matlab(), *arrow(), *selectors()]
    return {name: {"": content} for name, content in single} | dict(stores())
