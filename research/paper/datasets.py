"""The data sets of the paper: where they are public, how they are checked, kept and read."""

import os
from difflib import get_close_matches
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from research.data import FOLDER_VARIABLE, MissingDataError
from research.paper.described import DataSet
from research.paper.formats import FORMATS, Labelled
from research.paper.sources import DATASETS
from tamis.columns import summarise_columns

CACHE_VARIABLE = "TAMIS_CACHE"


def dataset(name: str) -> DataSet:
    """Return a data set by its name, in any case, or by the paper's name for it."""
    for one in DATASETS:
        if name.lower() in (one.name.lower(), (one.printed or "").lower()):
            return one
    names = [one.name for one in DATASETS]
    close = get_close_matches(name, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise KeyError(f"There is no data set {name!r}.{hint} Known: {', '.join(names)}.")


def cache_folder() -> Path:
    """Return the folder that downloads are kept in."""
    return Path(os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache" / "tamis")


def locate(one: DataSet) -> list[Path]:
    """Return the paths of the files of a data set, from the data folder or the cache."""
    folders = [Path(place) for place in (os.environ.get(FOLDER_VARIABLE), cache_folder()) if place]
    for folder in folders:
        paths = [folder / source.name for source in one.sources]
        if all(path.is_file() for path in paths):
            return paths
    files = " and ".join(source.name for source in one.sources)
    offer = (
        f"run `python -m research.paper fetch {one.name}`, or put"
        if all(source.url for source in one.sources)
        else f"make it from {one.home} and put"
    )
    raise MissingDataError(
        f"{one.name} is not on this machine: {offer} {files} into a folder that --data-dir or {FOLDER_VARIABLE} names."
    )


def is_here(name: str) -> bool:
    """Tell whether a data set can be loaded."""
    try:
        locate(dataset(name))
    except MissingDataError:
        return False
    return True


def load(name: str) -> Labelled:
    """Return a data set without its constant features, counts log1p-ed, not scaled; the last one stays in memory."""
    one = dataset(name)
    return _load(name, tuple(locate(one)))


@lru_cache(maxsize=1)
def _load(name: str, paths: tuple[Path, ...]) -> Labelled:
    one = dataset(name)
    X, y = FORMATS[one.format](paths)
    X = X.astype(np.float64 if X.shape[0] * X.shape[1] < 10**8 else np.float32)
    if one.counts:
        X = X.log1p() if issparse(X) else np.log1p(X)
    varied = np.flatnonzero(~summarise_columns(X).constant)
    return Labelled(X[:, varied], y)


def load_images(name: str) -> Labelled:
    """Return a data set as it is stored, constant pixels included."""
    one = dataset(name)
    return FORMATS[one.format](locate(one))


def z_scores(X: Any) -> NDArray[np.float32]:
    """Bring dense features to mean 0 and standard deviation 1; none of them may be constant."""
    X = X.toarray() if issparse(X) else X
    return ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
