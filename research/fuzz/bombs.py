"""Small files that unpack, or declare themselves, to more than a machine holds."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from research.fuzz.mutations import PACKINGS

HUGE = [10**8, 10**9, 10**12]


def _packed(path: Path, draw: Random) -> None:
    line = draw.choice([b"1", b"1,", b"1,2\n", b"\n", b"a,b\n" + b'"', b"%\n"])
    head = b"%%MatrixMarket matrix coordinate real general\n" if ".mtx" in path.name else draw.choice([b"", b"a,b\n"])
    # A packed file may be several, one after the other, so that one megabyte is packed once only.
    packing = PACKINGS[path.suffix]
    part = packing.compress(line * (10**6 // len(line)))
    path.write_bytes(packing.compress(head) + part * draw.choice([60, 1200]))


def _npz(path: Path, draw: Random) -> None:
    import numpy as np

    header = io.BytesIO()
    count = draw.choice([2 * 10**8, 10**9])
    np.lib.format.write_array_header_1_0(header, {"descr": "|i1", "fortran_order": False, "shape": (count // 10, 10)})
    content = header.getvalue() + bytes(10**8)
    with zipfile.ZipFile(path, "w", draw.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])) as archive:
        archive.writestr("X.npy", content)


def _npy(path: Path, draw: Random) -> None:
    import numpy as np

    with path.open("wb") as stream:
        shape = (draw.choice(HUGE), draw.choice([1, 5, 10**9]))
        np.lib.format.write_array_header_1_0(
            stream, {"descr": "<f8", "fortran_order": draw.random() < 0.5, "shape": shape}
        )
        stream.write(bytes(800))


def _mtx(path: Path, draw: Random) -> None:
    kind = draw.choice(["coordinate", "array"])
    size = f"{draw.choice(HUGE)} {draw.choice(HUGE)}" + (f" {draw.choice([1, 10**9])}" if kind == "coordinate" else "")
    path.write_text(f"%%MatrixMarket matrix {kind} real general\n{size}\n1 1 1\n")


def _hdf(path: Path, draw: Random) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        shape = draw.choice([(10**9, 5), (5, 10**9), (10**5, 10**5)])
        file.create_dataset(draw.choice(["X", "one/matrix"]), shape, "f8", chunks=draw.choice([True, (5, 5)]))
        file.create_dataset("feature_names", (10**9,), "i8", chunks=True)


def _hdf_unused(path: Path, draw: Random) -> None:  # noqa: ARG001 (the same every time)
    import h5py
    import numpy as np

    with h5py.File(path, "w") as file:
        file["X"] = np.arange(60.0).reshape(12, 5)
        file.create_dataset("unused", (10**9,), "i8", chunks=True)


def _h5ad(path: Path, draw: Random) -> None:
    import h5py

    with h5py.File(path, "r+") as file:
        del file["X"]
        if draw.random() < 0.5:
            file.create_dataset("X", (10**9, 5), "f4", chunks=True, compression="gzip")
            return
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", draw.choice([(10**9, 5), (12, 10**9)])
        for part in ("data", "indices", "indptr"):
            group.create_dataset(part, (10**9 + 1,), "i8", chunks=True)


def _mat(path: Path, draw: Random) -> None:
    import zlib

    import numpy as np
    from scipy.io import savemat

    savemat(path, {"X": np.zeros((3, 3))})
    head = path.read_bytes()[:128]
    dims = (draw.choice([2**31 - 1, 10**8])).to_bytes(4, "little") + (3).to_bytes(4, "little")
    kind = draw.choice([1, 4, 5, 6])
    inner = bytes([6, 0, 0, 0, 8, 0, 0, 0, kind, 0, 0, 0, 0, 0, 0, 0]) + bytes([5, 0, 0, 0, 8, 0, 0, 0]) + dims
    inner += bytes([1, 0, 1, 0]) + b"X\0\0\0" + bytes([9, 0, 0, 0]) + (10**8).to_bytes(4, "little") + bytes(10**8)
    packed = zlib.compress(bytes([14, 0, 0, 0]) + len(inner).to_bytes(4, "little") + inner)
    path.write_bytes(head + bytes([15, 0, 0, 0]) + len(packed).to_bytes(4, "little") + packed)


def _parquet(path: Path, draw: Random) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    column = pa.DictionaryArray.from_arrays(pa.array([0] * 10**6, pa.int8()), pa.array([1.5]))
    count = draw.choice([1, 20, 60])
    chunked = pa.chunked_array([column] * count)
    parquet.write_table(pa.table({"a": chunked, "b": chunked}), path, compression="zstd")


def _zarr(path: Path, draw: Random) -> None:
    import zarr

    shape, chunks = draw.choice([((10**9, 5), (1000, 5)), ((10**5, 10**5), (10**5, 10**4)), ((10**8, 1), (1, 1))])
    zarr.create_array(str(path), shape=shape, chunks=chunks, dtype="f8", overwrite=True)


BOMBS: dict[str, list[Callable[[Path, Random], None]]] = {
    ".gz": [_packed],
    ".bz2": [_packed],
    ".xz": [_packed],
    ".npz": [_npz],
    ".npy": [_npy],
    ".mtx": [_mtx],
    ".h5": [_hdf, _hdf_unused],
    ".h5ad": [_h5ad],
    ".mat": [_mat],
    ".parquet": [_parquet],
    ".zarr": [_zarr],
}
"""By the ending of a valid file that lies at the path already."""
