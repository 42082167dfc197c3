"""The folder that holds the data sets: ``--data-dir``, or the variable TAMIS_DATA."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER_VARIABLE = "TAMIS_DATA"


class MissingDataError(LookupError):
    """A data set is not on this machine; the message says how to get it."""


@contextmanager
def using_folder(folder: Path | None) -> Iterator[None]:
    """Look for data sets in a folder first; None changes nothing."""
    before = os.environ.get(FOLDER_VARIABLE)
    try:
        if folder is not None:
            os.environ[FOLDER_VARIABLE] = str(folder)
        yield
    finally:
        if folder is not None:
            os.environ.pop(FOLDER_VARIABLE)
            if before is not None:
                os.environ[FOLDER_VARIABLE] = before


def find_file(name: str) -> Path:
    """Return the path of a file in the data folder."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder and (path := Path(folder) / name).is_file():
        return path
    place = f"the folder {folder}" if folder else "no folder was named"
    raise MissingDataError(
        f"{name} is not there ({place}): name the folder that holds it by --data-dir or {FOLDER_VARIABLE}."
    )
