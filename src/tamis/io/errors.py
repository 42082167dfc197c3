"""The one error of tables that cannot be read, and how errors of other packages become it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

REMEDY = "it is damaged or of another format: restore it, or save it anew"


class TableError(ValueError):
    """A table cannot be read, or changed meanwhile; the message is one sentence: file, place, and what to do."""


@contextmanager
def reading(
    place: str | os.PathLike[str], action: str = "cannot be read", remedy: str = REMEDY, where: str = ""
) -> Iterator[None]:
    """Turn whatever a parser stumbles over into a :class:`TableError`: ``place: where action (what it said); remedy``.

    Errors that are :class:`TableError` already get the place, and where in it, before them.
    """
    place = os.fspath(place)
    try:
        yield
    except ImportError:
        raise  # A package that is missing is no fault of the file.
    except TableError as error:
        if str(error).startswith(place):
            raise
        raise TableError(f"{place}: {where and where.strip() + ': '}{error}") from error
    except MemoryError as error:
        raise TableError(f"{place}: too large for the memory of this machine, or damaged.") from error
    except Exception as error:
        raise TableError(f"{place}: {where}{action} ({first_line(error)}); {remedy}.") from error


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, shortened, or its type if it has none."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".")[:300] if lines else type(error).__name__
