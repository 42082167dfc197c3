"""tamis: unsupervised feature selection that keeps structure and drops nuisance and copied features.

Every selector is available by its class name, ``from tamis import LSCAE``. What a name stands for is imported when the
name is first used, so that ``import tamis`` stays quick; ``__init__.pyi`` tells editors and type checkers.
"""

from importlib import import_module
from os import PathLike
from typing import Any

from tamis._version import __version__
from tamis.selectors import SELECTORS, by_class_name

_HOMES = {
    "CurveDisplay": "tamis.displays",
    "ProgressBar": "tamis.progress",
    "Recipe": "tamis.lscae.recipe",
    "SelectionDisplay": "tamis.displays",
    "StructureDisplay": "tamis.displays",
    "TableError": "tamis.io.errors",
    "choose_k": "tamis.sizes",
    "compare_panels": "tamis.single_cell",
    "evaluate_panel": "tamis.single_cell",
    "find_structure": "tamis.structure",
    "fit_many": "tamis.many",
    "open_source": "tamis.io.sources",
    "pl": "tamis.single_cell",
    "select_genes": "tamis.single_cell",
}
"""Modules of the names that are no selectors."""

__all__ = ["SELECTORS", "__version__", "load", *_HOMES, *by_class_name()]


def load(path: str | PathLike[str]) -> Any:
    """Read a fitted selector that its ``save`` wrote; no code of the file is executed.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    FeatureSelector
        Fitted as it was saved.
    """
    from tamis.io import persistence

    return persistence.load(path, by_class_name())


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in by_class_name():
        return by_class_name()[name]
    raise AttributeError(f"module 'tamis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
