"""The files that the paper's data sets come in: from paths to a matrix and a label per row."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tamis.io.errors import TableError
from tamis.io.readers import Request, read


class Labelled(NamedTuple):
    """A matrix, dense or CSR, and a label per row, which serves scoring only."""

    X: Any
    y: NDArray[Any]


def matlab(paths: Sequence[Path]) -> Labelled:
    """Read a file of the scikit-feature collection: X, and labels in Y."""
    table = read(paths[0], Request(key="X", labels="Y"))
    return _labelled(table)


def sparse_archive(paths: Sequence[Path]) -> Labelled:
    """Read what ``scipy.sparse.save_npz`` wrote, with labels in a further array y."""
    return _labelled(read(paths[0], Request(labels="y")))


def svmlight(paths: Sequence[Path]) -> Labelled:
    """Read ``label position:value ...`` lines, compressed or not (RCV1 at LIBSVM)."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(str(paths[0]))
    except ValueError as error:
        raise TableError(f"{paths[0]}: cannot be read as svmlight ({error}).") from error
    return Labelled(csr_array(X), y)


def numbers_and_labels(paths: Sequence[Path]) -> Labelled:
    """Read rows of whole numbers from one file and a label per row from another (GISETTE at UCI)."""
    try:
        X = np.loadtxt(paths[0], dtype=np.float32, ndmin=2)
        y = np.loadtxt(paths[1], dtype=np.int64, ndmin=1)
    except ValueError as error:
        raise TableError(f"{paths[0]}: cannot be read as rows of numbers ({error}).") from error
    if len(X) != len(y):
        raise TableError(f"{paths[0]}: has {len(X)} rows, but {paths[1].name} has {len(y)} labels.")
    return Labelled(X, y)


def genes_in_rows(paths: Sequence[Path]) -> Labelled:
    """Read a tab-separated table with genes in rows; a cell's label is its name up to the last underscore (FAN)."""
    table = read(paths[0], Request(transpose=True, delimiter="\t"))
    if table.sample_names is None:
        raise TableError(f"{paths[0]}: has no line with the names of the cells, which tell their labels.")
    return Labelled(table.X, np.array([str(name).rpartition("_")[0] for name in table.sample_names]))


def digits(paths: Sequence[Path]) -> Labelled:
    """Read the 60,000 training images of MNIST; :func:`test_digits` reads the others."""
    return _digits(paths[0], "train")


def test_digits(path: Path) -> Labelled:
    """Read the 10,000 test images of MNIST."""
    return _digits(path, "test")


test_digits.__test__ = False  # type: ignore[attr-defined]


def _digits(path: Path, part: str) -> Labelled:
    with np.load(path, allow_pickle=False) as archive:
        prefix = "X" if "X_train" in archive.files else "x"
    return _labelled(read(path, Request(key=f"{prefix}_{part}", labels=f"y_{part}")))


def _labelled(table: Any) -> Labelled:
    return Labelled(table.X, np.asarray(table.y).ravel())


FORMATS: dict[str, Callable[[Sequence[Path]], Labelled]] = {
    "matlab": matlab,
    "sparse archive": sparse_archive,
    "svmlight": svmlight,
    "numbers and labels": numbers_and_labels,
    "genes in rows": genes_in_rows,
    "digits": digits,
}
