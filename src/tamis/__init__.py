"""tamis: unsupervised feature selection that keeps structure and drops nuisance and copied columns.

Every selector is available by its class name, ``from tamis import LSCAE``, and is imported only then, so that
``import tamis`` stays quick.
"""

from importlib import import_module
from os import PathLike
from typing import Any

from tamis._version import __version__
from tamis.selectors import SELECTORS, class_names

__all__ = [
    "SELECTORS",
    "TableError",
    "__version__",
    "choose_k",
    "compare_panels",
    "evaluate_panel",
    "find_structure",
    "fit_many",
    "load",
    "open_source",
    "select_genes",
    *class_names(),
]

ELSEWHERE = {
    "TableError": "tamis.io.errors",
    "choose_k": "tamis.sizes",
    "compare_panels": "tamis.single_cell",
    "evaluate_panel": "tamis.single_cell",
    "find_structure": "tamis.structure",
    "fit_many": "tamis.many",
    "open_source": "tamis.io.sources",
    "select_genes": "tamis.single_cell",
}
"""What is imported when it is asked for."""


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

    return persistence.load(path, _Classes())


class _Classes(dict[str, Any]):
    """The registered classes by class name, imported when they are asked for."""

    def __contains__(self, name: object) -> bool:
        return name in class_names()

    def __missing__(self, name: str) -> Any:
        return SELECTORS[class_names()[name]]


def __getattr__(name: str) -> Any:
    if name in ELSEWHERE:
        return getattr(import_module(ELSEWHERE[name]), name)
    selector_name = class_names().get(name)
    if selector_name is None:
        raise AttributeError(f"module 'tamis' has no attribute {name!r}")
    return SELECTORS[selector_name]


def __dir__() -> list[str]:
    return sorted(__all__)
