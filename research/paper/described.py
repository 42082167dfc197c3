"""The form in which data sets are described."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """One file of a data set.

    Attributes
    ----------
    name : str
        Its name in the data folder.
    url : str or None
        Where it can be downloaded as it is; None if it must be made from what ``DataSet.home`` offers.
    checksums : tuple of str
        SHA-256 of known good copies; empty where none was at hand.
    """

    name: str
    url: str | None = None
    checksums: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataSet:
    """A data set and all that is known about it.

    Attributes
    ----------
    name : str
        As the commands call it.
    printed : str or None
        As the paper calls it; None if it does not occur there.
    format : str
        A key of :data:`research.paper.formats.FORMATS`.
    sources : tuple of Source
        Its files.
    home, licence, note : str
        A page about it, what is known of its terms, and how it differs from what the paper describes.
    counts : bool
        Whether log(1 + x) is taken.
    """

    name: str
    printed: str | None
    format: str
    sources: tuple[Source, ...]
    home: str
    licence: str
    note: str = ""
    counts: bool = False
